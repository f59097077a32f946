// One AWS call from the shell, by the product's own client and with the settings of the
// environment:
//   karst_aws_calls [-p] [-n TIMES] SERVICE ACTION [PARAMETERS [PATH]]
// prints one JSON line for each attempt {"trouble","code","message","status","pages"} and then the
// bodies as they came. -p asks for all pages; -n makes that many calls at once. PARAMETERS is the
// call's tree as JSON. Exit 0: the last one succeeded, 1: it did not, 2: usage or settings.
//   karst_aws_calls endpoints < LINES
// answers each line "SERVICE REGION FIPS DUALSTACK" with "URL SIGNING-REGION" or "none".
//   karst_aws_calls queue NAME
// receives from the queue until its input ends: a line "KIND INSTANCE MESSAGE" for each fact, which
// is acknowledged as if it were durable.
#include <cstdio>
#include <future>
#include <iostream>
#include <string>
#include <vector>

#include "cloud/aws/account.h"
#include "cloud/aws/pages.h"
#include "cloud/aws/queue.h"
#include "daemon/system_clock.h"
#include "http/curl_transport.h"

namespace {

using namespace karst;
using namespace karst::cloud::aws;

constexpr const char* kQueueAction = "queue";

struct Asked {
  Call call;
  bool pages = false;
  int times = 1;
};

struct Told {
  CallError error;
  std::vector<std::string> bodies;
};

std::optional<Service> service_named(std::string_view name) {
  for (int i = 0; i < kServices; ++i)
    if (facts_of(static_cast<Service>(i)).signing_name == name) return static_cast<Service>(i);
  return std::nullopt;
}

std::optional<Asked> read_arguments(std::vector<std::string> words) {
  Asked asked;
  while (!words.empty() && words[0].starts_with('-')) {
    asked.pages = asked.pages || words[0] == "-p";
    if (words[0] == "-n" && words.size() > 1) {
      asked.times = std::stoi(words[1]);
      words.erase(words.begin());
    }
    words.erase(words.begin());
  }
  if (words.size() < 2 || words.size() > 4) return std::nullopt;
  if (words[0] == kQueueAction) {
    asked.call.action = kQueueAction;
    asked.call.path = words[1];
    return asked;
  }
  const auto service = service_named(words[0]);
  if (!service) return std::nullopt;
  asked.call.service = *service;
  asked.call.action = words[1];
  if (words.size() > 2) asked.call.parameters = Tree::parse(words[2], nullptr, false);
  if (words.size() > 3) asked.call.path = words[3];
  if (asked.call.parameters.is_discarded()) return std::nullopt;
  return asked;
}

int print_endpoints() {
  std::string name, region, fips, dual;
  while (std::cin >> name >> region >> fips >> dual) {
    Settings settings;
    settings.environment = {{"AWS_USE_FIPS_ENDPOINT", fips}, {"AWS_USE_DUALSTACK_ENDPOINT", dual}};
    const auto service = service_named(name);
    if (!service) return 2;
    const auto endpoint = endpoint_of(*service, region, settings);
    std::cout << (endpoint ? endpoint->url + " " + endpoint->signing_region : "none") << "\n";
  }
  return 0;
}

class PrintingSink final : public ports::FactSink {
 public:
  bool offer(ports::Fact fact) override {
    if (const auto* seen = std::get_if<events::InterruptionReceived>(&fact.body))
      std::cout << model::interruption_kind_name(seen->interruption.kind) << " "
                << seen->interruption.provider_id.str() << " " << seen->interruption.message.str()
                << std::endl;
    if (!fact.receipt.empty()) queue->acknowledge(fact.receipt);
    return true;
  }
  ports::QueuePort* queue = nullptr;
};

std::future<Told> send(Client& client, const Asked& asked) {
  auto promise = std::make_shared<std::promise<Told>>();
  auto told_later = promise->get_future();
  auto told = std::make_shared<Told>();
  if (asked.pages) {
    send_pages(
        client, asked.call,
        [told](const std::string& body) {
          told->bodies.push_back(body);
          return true;
        },
        [told, promise](const CallError& error) {
          told->error = error;
          promise->set_value(*told);
        });
  } else {
    client.send(asked.call, [told, promise](const Answer& answer) {
      told->error = answer.error;
      if (answer.ok()) told->bodies.push_back(answer.body);
      promise->set_value(*told);
    });
  }
  return told_later;
}

}  // namespace

int main(int count, char** words) {
  if (count == 2 && std::string_view(words[1]) == "endpoints") return print_endpoints();
  const auto asked = read_arguments({words + 1, words + count});
  if (!asked) {
    std::cerr << "usage: karst_aws_calls [-p] [-n TIMES] SERVICE ACTION [PARAMETERS [PATH]]\n";
    return 2;
  }
  auto settings = read_settings(read_environment());
  if (!settings) {
    std::cerr << settings.error().message << "\n";
    return 2;
  }
  const daemon::SystemClock clock;
  PrintingSink sink;  // these three go after the transport
  std::unique_ptr<Account> account;
  std::optional<SqsQueue> queue;
  http::CurlTransport transport({});
  Account::Options options;
  options.user_agent = "karst/test";
  options.notice = [](bool, const std::string& line) { std::cerr << line << "\n"; };
  auto opened = Account::open(transport, clock, std::move(*settings), std::move(options));
  if (!opened) {
    std::cerr << opened.error().message << "\n";
    return 2;
  }
  account = std::move(*opened);
  std::cerr << "credentials: " << account->credentials_from() << "\n";
  if (asked->call.action == kQueueAction) {
    queue.emplace(account->client(), sink, clock, asked->call.path, 4,
                  [](bool, const std::string& line) { std::cerr << line << "\n"; });
    sink.queue = &*queue;
    queue->start();
    while (std::cin.get() != EOF) continue;
    return 0;
  }
  std::vector<std::future<Told>> coming;
  for (int i = 0; i < asked->times; ++i) coming.push_back(send(account->client(), *asked));
  bool done = false;
  for (auto& one : coming) {
    const Told told = one.get();
    done = told.error.trouble == Trouble::kNone;
    std::cout << nlohmann::ordered_json{{"trouble", trouble_name(told.error.trouble)},
                                        {"code", told.error.code},
                                        {"message", told.error.message},
                                        {"status", told.error.status},
                                        {"pages", told.bodies.size()}}
                     .dump()
              << "\n";
    for (const std::string& body : told.bodies) std::cout << body << "\n";
  }
  return done ? 0 : 1;
}
