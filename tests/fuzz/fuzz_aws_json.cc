// Any bytes as an answer of a service that speaks JSON; the first one ('0' to '5' in the seeds)
// says who reads it: messages of the queue, keys of a pod or an instance, pages and errors, the
// cluster's description, the price list, or what was found of a node class. Refused, or read within
// its bounds; a message is told whole or not at all, and keys hold nothing that could end a header.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "cloud/aws/credential_fetch.h"
#include "cloud/aws/eks.h"
#include "cloud/aws/pages.h"
#include "cloud/aws/queue.h"
#include "providers/aws/cluster_answers.h"
#include "providers/aws/instance_types.h"
#include "providers/aws/resolved.h"
#include "tests/cloud/aws_account.h"

namespace {

using namespace karst;
using namespace karst::cloud::aws;

void require(bool condition) {
  if (!condition) std::abort();
}

// A queue whose receiver waits for an answer.
struct Account : AwsAccount {
  SqsQueue queue{*client, sink, clock, "q", 1, {}};

  void pass(std::int64_t millis) {
    clock.now_millis += millis;
    for (int i = 0; i < 4; ++i) transport.advance(i == 0 ? millis : 0);
  }
};

void receive(const std::string& text) {
  static Account* account = [] {
    auto* made = new Account;  // lives as long as the process
    made->queue.start();
    made->pass(0);
    made->transport.answer(200, R"({"QueueUrl": "http://127.0.0.1:1/q"})");
    made->pass(0);
    return made;
  }();
  account->sink.facts.clear();
  require(account->transport.open.size() == 1);
  account->transport.answer(200, text);
  account->pass(kQueueGapMillisMax);
  require(account->transport.open.size() == 1);  // it goes on receiving, whatever came
  for (const ports::Fact& fact : account->sink.facts) {
    const auto* told = std::get_if<events::InterruptionReceived>(&fact.body);
    require(told != nullptr);
  }
  require(account->sink.facts.empty() || !account->sink.facts.back().receipt.empty());
}

void read_keys(const std::string& text) {
  testing_kube::FakeTransport transport;
  testing_kube::FakeClock clock;
  ServerTime time(clock);
  CredentialSource source;
  Container container;
  container.url = "http://127.0.0.1:1/keys";
  source.base = container;
  source.described = "the agent";
  int answers = 0;
  FetchNeeds needs;
  needs.transport = &transport;
  needs.time = &time;
  fetch_credentials(needs, source, [&](base::Result<Credentials> keys) {
    ++answers;
    if (!keys) return require(!keys.error().message.empty());
    require(!keys->access_key_id.empty() && !keys->secret_access_key.empty());
    for (const std::string& part : {keys->access_key_id, keys->session_token.reveal()})
      require(part.find_first_of("\r\n") == std::string::npos);
  });
  require(transport.open.size() == 1);
  transport.answer(200, text);
  require(answers == 1);
}

void read_protocol(const std::string& text) {
  for (const Protocol protocol : {Protocol::kJson10, Protocol::kJson11, Protocol::kRestJson})
    (void)next_token(text, protocol);
  http::Response response;
  response.status = 400;
  response.body = text;
  const CallError error = read_error(response, 0);
  require(error.trouble != Trouble::kNone && error.message.size() <= kErrorTextMax);
  for (const unsigned char c : error.message) require(c >= ' ' && c != 0x7f);
}

// What EKS and ARC say of the cluster.
void read_cluster(const std::string& text) {
  (void)with_eks({}, text);
  providers::aws::Cluster cluster;
  cluster.version_of_eks = true;
  providers::aws::Answer answer;
  answer.pages = {text};
  (void)providers::aws::as_answered(cluster, {{std::string(providers::aws::kClusterKey), answer}});
  (void)providers::aws::shifted_zones({{std::string(providers::aws::kShiftsKey), answer}},
                                      {{"subnet-1", "us-east-1a", "use1-az1", 1}}, 1);
}

// What was found of a node class is stored, and stays what it is.
void read_stored(const std::string& text) {
  const auto read = providers::aws::read_resolved(text);
  if (!read) return;
  const std::string json = providers::aws::to_json(*read);
  const auto again = providers::aws::read_resolved(json);
  require(again.has_value() && providers::aws::to_json(*again) == json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      receive(text);
      break;
    case 1:
      read_keys(text);
      break;
    case 2:
      read_protocol(text);
      break;
    case 3:
      read_cluster(text);
      break;
    case 4:
      (void)providers::aws::DiscoveredTypes().add_on_demand_prices(text);
      break;
    default:
      read_stored(text);
  }
  return 0;
}
