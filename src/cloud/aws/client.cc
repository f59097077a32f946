#include "cloud/aws/client.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.h"

namespace karst::cloud::aws {
namespace {

// Per account and region, as the vendor publishes them for EC2 ("Request throttling for the Amazon
// EC2 API": 100 calls, 20 more a second, for most that describe). SQS allows some thousand a
// second. The others are asked seldom.
Limits limits_of(Service service) {
  switch (service) {
    case Service::kEc2:
      return {100, 20};
    case Service::kSqs:
      return {500, 500};
    default:
      return {20, 5};
  }
}

CallError unsent(Trouble trouble, std::string message) {
  CallError error;
  error.trouble = trouble;
  error.message = std::move(message);
  return error;
}

void answer(const Client::Done& done, CallError error) {
  Answer made;
  made.error = std::move(error);
  done(made);
}

std::optional<std::int64_t> retry_after_millis(const http::Response& response) {
  const std::string_view text = response.header("retry-after");
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || seconds < 0)
    return std::nullopt;
  return std::min<std::int64_t>(seconds, kPauseMillisMax / 1000) * 1000;
}

CallError failed_on_the_way(const http::Response& response) {
  const Trouble trouble = response.failure == http::Failure::kNotSent    ? Trouble::kNotSent
                          : response.failure == http::Failure::kTooLarge ? Trouble::kMalformed
                                                                         : Trouble::kUnclear;
  CallError error = unsent(trouble, response.error);
  error.status = response.status;
  return error;
}

// No service should quote a credential. Should one do so, what it says is withheld.
void withhold_secrets(const CredentialKeeper::Current& credentials, CallError& error) {
  for (const Secret* secret : {&credentials->secret_access_key, &credentials->session_token})
    if (!secret->empty() && error.message.find(secret->reveal()) != std::string::npos)
      error.message = "(withheld: it quotes a credential)";
}

}  // namespace

base::Result<std::unique_ptr<Client>> Client::make(Parts parts, const Settings& settings,
                                                   const std::string& region,
                                                   const std::string& user_agent) {
  std::unique_ptr<Client> made(new Client(parts, region, user_agent));
  const std::int64_t now = parts.clock->monotonic_millis();
  for (int i = 0; i < kServices; ++i) {
    const auto service = static_cast<Service>(i);
    auto endpoint = endpoint_of(service, region, settings);
    if (!endpoint) return base::fail(endpoint.error());
    made->lanes_.push_back({std::move(*endpoint), Budget(limits_of(service), now)});
  }
  return made;
}

Client::Client(Parts parts, std::string region, std::string user_agent)
    : parts_(parts), region_(std::move(region)), user_agent_(std::move(user_agent)) {}

void Client::after(std::int64_t millis, std::function<void()> action) {
  parts_.transport->after(millis, std::move(action));
}

void Client::send(Call call, Done done) {
  parts_.transport->after(0, [this, call = std::move(call), done = std::move(done)]() mutable {
    enqueue(std::move(call), std::move(done));
  });
}

void Client::enqueue(Call call, Done done) {
  Lane& lane = lanes_[static_cast<std::size_t>(call.service)];
  auto& queue = lane.waiting[static_cast<std::size_t>(call.purpose)];
  if (queue.size() >= kCallsWaitingMax)
    return answer(done, unsent(Trouble::kThrottled, "too many calls wait for the own budget"));
  const std::int64_t until = parts_.clock->monotonic_millis() + kBudgetWaitMillisMax;
  queue.push_back({std::move(call), std::move(done), until});
  pump(lane);
}

// Sends what the budget lets through, the favoured purposes first; what waits is looked at again
// when the budget says so, or when its time is over.
void Client::pump(Lane& lane) {
  const std::int64_t now = parts_.clock->monotonic_millis();
  std::int64_t wake = 0;
  for (int i = 0; i < kPurposes; ++i) {
    auto& queue = lane.waiting[static_cast<std::size_t>(i)];
    while (!queue.empty()) {
      const std::int64_t wait = lane.budget.take(static_cast<Purpose>(i), now);
      const bool over = queue.front().until_monotonic_millis <= now;
      if (wait > 0 && !over) {
        wake = std::min(wait, queue.front().until_monotonic_millis - now);
        break;
      }
      Waiting first = std::move(queue.front());
      queue.pop_front();
      if (wait == 0)
        dispatch(lane, std::move(first.call), std::move(first.done));
      else
        answer(first.done, unsent(Trouble::kThrottled,
                                  "the own budget for this service is used up; it did not leave"));
    }
    // Nothing less favoured goes past what waits.
    if (!queue.empty()) break;
  }
  if (wake == 0) return;
  after(wake, [this, &lane, timer = ++lane.timer] {
    if (timer == lane.timer) pump(lane);
  });
}

void Client::dispatch(Lane& lane, Call call, Done done) {
  parts_.keeper->get([this, &lane, call = std::move(call),
                      done = std::move(done)](base::Result<CredentialKeeper::Current> credentials) {
    if (!credentials)
      return answer(done,
                    unsent(credentials.error().kind == base::Kind::kRetry ? Trouble::kNotSent
                                                                          : Trouble::kCredentials,
                           credentials.error().message));
    send_signed(lane, call, done, *credentials);
  });
}

void Client::send_signed(Lane& lane, const Call& call, Done done,
                         const CredentialKeeper::Current& credentials) {
  auto request =
      make_request(call, lane.endpoint, credentials.get(), parts_.time->now_millis(), user_agent_);
  if (!request) return answer(done, unsent(Trouble::kRefused, request.error().message));
  ++sent_[std::string(facts_of(call.service).signing_name) + " " + call.action];
  parts_.transport->send(std::move(*request), [this, &lane, credentials,
                                               done = std::move(done)](http::Response response) {
    done(read(lane, credentials, std::move(response)));
  });
}

Answer Client::read(Lane& lane, const CredentialKeeper::Current& credentials,
                    http::Response response) {
  Answer made;
  if (response.failure != http::Failure::kNone) {
    made.error = failed_on_the_way(response);
    return made;
  }
  const std::int64_t skew = parts_.time->observe(response);
  for (const char* name : {"x-amzn-requestid", "x-amz-request-id"})
    if (made.request_id.empty()) made.request_id = response.header(name);
  if (response.ok()) {
    lane.budget.answered();
    made.body = std::move(response.body);
    return made;
  }
  made.error = read_error(response, skew);
  withhold_secrets(credentials, made.error);
  const std::int64_t now = parts_.clock->monotonic_millis();
  if (made.error.trouble == Trouble::kThrottled)
    lane.budget.throttled(now, retry_after_millis(response));
  else
    lane.budget.answered();
  if (made.error.trouble == Trouble::kCredentials) parts_.keeper->refused(credentials);
  return made;
}

}  // namespace karst::cloud::aws
