#include "cloud/aws/account.h"

#include <future>
#include <utility>

namespace karst::cloud::aws {
namespace {

using base::Result;

Result<std::string> region_of(const Settings& settings, const FetchNeeds& needs,
                              const http::GiveUp& give_up) {
  if (auto region = settings.region()) return std::move(*region);
  const auto url = metadata_url(settings);
  if (!url)
    return base::fail(base::Kind::kInvalid,
                      "no AWS region: set AWS_REGION, or `region` in the "
                      "profile (" +
                          url.error().message + ")");
  const auto promise = std::make_shared<std::promise<Result<std::string>>>();
  auto answer = promise->get_future();
  fetch_region(needs, *url,
               [promise](Result<std::string> region) { promise->set_value(std::move(region)); });
  if (!http::comes(answer, give_up))
    return base::fail(base::Kind::kRetry, *url + ", asked for the region: given up");
  return answer.get();
}

}  // namespace

Result<std::unique_ptr<Account>> Account::open(http::Transport& transport, const base::Clock& clock,
                                               Settings settings, Options options) {
  auto source = choose_source(settings);
  if (!source) return base::fail(source.error());
  FetchNeeds needs;
  needs.transport = &transport;
  needs.user_agent = options.user_agent;
  const auto region = region_of(settings, needs, options.give_up);
  if (!region) return base::fail(region.error());
  auto sts = endpoint_of(Service::kSts, *region, settings);
  if (!sts) return base::fail(sts.error());
  needs.sts = std::move(*sts);
  const std::string agent = options.user_agent;
  std::unique_ptr<Account> made(
      new Account(transport, clock, std::move(*source), std::move(needs), std::move(options)));
  auto client =
      Client::make({&transport, &made->keeper_, &made->time_, &clock}, settings, *region, agent);
  if (!client) return base::fail(client.error());
  made->client_ = std::move(*client);
  return made;
}

Account::Account(http::Transport& transport, const base::Clock& clock, CredentialSource source,
                 FetchNeeds needs, Options options)
    : time_(clock),
      source_(std::move(source)),
      needs_(std::move(needs)),
      keeper_(
          transport, clock, time_,
          [this](Fetched done) { fetch_credentials(needs_, source_, std::move(done)); },
          options.jitter_millis, std::move(options.notice)) {
  needs_.time = &time_;
}

}  // namespace karst::cloud::aws
