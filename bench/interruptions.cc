// How long from the receipt of an interruption's message until the taint of its node is durable,
// when 10,000 messages wait of which 200 are ours, and each call to the queue takes 20 ms? The
// production path: receivers and reader of SQS, inbox, engine thread, synced log on this disk;
// 2,000 nodes with 20,000 pods in the state. Floor beside it: a plain append of one event to such a
// log, synced. Budget: 1 s at p99, exit 1 above, or when a node is not tainted within two minutes.
#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>

#include "bench/cluster.h"
#include "bench/running_daemon.h"
#include "bench/slow_network.h"
#include "cloud/aws/queue.h"
#include "events/codec.h"
#include "tests/cloud/aws_account.h"

namespace {

using namespace karst;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr int kMessages = 10'000;
constexpr int kOurs = 200;
constexpr int kNodes = 2'000;
constexpr int kReceivers = 4;  // as the daemon has
constexpr std::int64_t kCallMillis = 20;
constexpr double kBudgetMillis = 1'000;
constexpr std::int64_t kStart = 1'800'000'100'000;

double millis_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

std::string instance_of(std::int64_t number) {
  char text[32];
  std::snprintf(text, sizeof text, "i-%017lx", static_cast<unsigned long>(number));
  return text;
}

// When something happened to each of our nodes, by number. Written on one thread each.
using Times = std::vector<Clock::time_point>;

// The queue: every fiftieth message is about one of our nodes.
class Messages {
 public:
  http::Response serve(const http::Request& request) {
    std::string action;
    for (const std::string& header : request.headers)
      if (header.starts_with("X-Amz-Target")) action = header.substr(header.rfind('.') + 1);
    http::Response response;
    response.status = 200;
    if (action == "GetQueueUrl") response.body = R"({"QueueUrl": "http://127.0.0.1:1/q"})";
    if (action == "ReceiveMessage") response.body = receive().dump();
    if (action == "DeleteMessageBatch") {
      deleted += static_cast<int>(json::parse(request.body)["Entries"].size());
      ++deletions;
      response.body = "{}";
    }
    return response;
  }
  Times received = Times(kOurs);
  std::atomic<int> deleted{0};
  int receipts = 0, deletions = 0;
  Clock::time_point first, last;

 private:
  json receive() {
    json messages = json::array();
    if (next_ == kMessages) return {{"Messages", messages}};
    ++receipts;
    last = Clock::now();
    if (next_ == 0) first = last;
    for (int i = 0; i < cloud::aws::kReceiveMessagesMax && next_ < kMessages; ++i, ++next_) {
      const bool ours = next_ % (kMessages / kOurs) == 0;
      const int number = next_ / (kMessages / kOurs);
      if (ours) received[static_cast<std::size_t>(number)] = last;
      const std::string id = "event-" + std::to_string(next_);
      const json event = {
          {"version", "0"},
          {"id", id},
          {"source", "aws.ec2"},
          {"detail-type", "EC2 Spot Instance Interruption Warning"},
          {"detail",
           {{"instance-id", instance_of(ours ? number * (kNodes / kOurs) : 1'000'000 + next_)},
            {"instance-action", "terminate"}}}};
      messages.push_back({{"MessageId", id},
                          {"ReceiptHandle", id},
                          {"Attributes", {{"SentTimestamp", std::to_string(kStart)}}},
                          {"Body", event.dump()}});
    }
    return {{"Messages", messages}};
  }
  int next_ = 0;
};

// What is dispatched is durable.
class Taints final : public ports::CommandPort {
 public:
  void submit(const ports::IssuedCommand& command) override {
    const auto* taint = std::get_if<model::TaintNode>(&command.spec);
    if (taint == nullptr || !taint->add) return;
    const int number = std::atoi(taint->node.str().c_str() + std::string("node-").size());
    Clock::time_point& at = durable[static_cast<std::size_t>(number / (kNodes / kOurs))];
    if (number % (kNodes / kOurs) != 0 || at != Clock::time_point()) return;
    at = Clock::now();
    ++count;
  }
  Times durable = Times(kOurs);
  std::atomic<int> count{0};
};

// Kept for later, or nowhere.
class Nowhere final : public ports::CommandPort {
  void submit(const ports::IssuedCommand&) override {}
};

void fill(bench::RunningDaemon& daemon) {
  bench::ClusterSize size;
  size.nodes = kNodes;
  size.pods = 10 * kNodes;
  size.shapes = 200;
  const auto on_ec2 = [](model::ProviderId& id) {
    const int number = std::atoi(id.str().c_str() + std::string("kwok://node-").size());
    id = model::ProviderId("aws:///us-east-1a/" + instance_of(number));
  };
  bench::all_facts(size, [&](events::Body body) {
    if (auto* claim = std::get_if<events::NodeClaimObserved>(&body))
      on_ec2(claim->claim.provider_id);
    if (auto* node = std::get_if<events::NodeObserved>(&body)) on_ec2(node->node.provider_id);
    if (auto* one = std::get_if<events::InstanceObserved>(&body)) on_ec2(one->instance.provider_id);
    daemon.offer(std::move(body));
  });
  while (daemon.inbox().size() > 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::this_thread::sleep_for(std::chrono::seconds(2));  // the first decisions
}

double percentile(std::vector<double> values, std::size_t percent) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() * percent / 100, values.size() - 1)];
}

// One synced append of one event.
std::vector<double> plain_appends() {
  const std::string folder =
      (std::filesystem::temp_directory_path() / "karst-bench-plain-append").string();
  std::filesystem::remove_all(folder);
  events::RocksLogOptions options;
  options.path = folder;
  options.ballast_bytes = 0;
  auto log = events::RocksLog::open(options);
  if (!log) std::abort();
  const std::vector<events::Record> one = {events::make_record(events::SourceBeat{"Pod", "1"})};
  std::vector<double> millis;
  for (int i = 0; i < kOurs; ++i) {
    const auto start = Clock::now();
    if (!(*log)->append(one, events::Durability::kSynced)) std::abort();
    millis.push_back(millis_between(start, Clock::now()));
  }
  log->reset();
  std::filesystem::remove_all(folder);
  return millis;
}

}  // namespace

int main() {
  const std::vector<double> plain = plain_appends();
  bench::RunningDaemon daemon("karst-bench-interruptions", "kwok", kStart);
  Messages messages;
  Taints taints;
  Nowhere instances;
  cloud::aws::ServerTime time(daemon.clock());
  std::unique_ptr<bench::SlowNetwork> network = std::make_unique<bench::SlowNetwork>(
      kCallMillis, [&](const http::Request& request) { return messages.serve(request); });
  cloud::aws::CredentialKeeper keeper(*network, daemon.clock(), time,
                                      cloud::aws::keys_that_never_change, 0, {});
  const auto client = cloud::aws::client_on_loopback(*network, keeper, time, daemon.clock());
  cloud::aws::SqsQueue queue(*client, daemon.sink(), daemon.clock(), "q", kReceivers, {});
  daemon.start(taints, instances, &queue);
  fill(daemon);

  const auto start = Clock::now();
  queue.start();
  while ((taints.count < kOurs || messages.deleted < kMessages) &&
         millis_between(start, Clock::now()) < 120'000)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const double all_millis = millis_between(start, Clock::now());
  network.reset();
  daemon.end();
  std::vector<double> millis;
  for (std::size_t i = 0; i < kOurs; ++i)
    if (taints.durable[i] != Clock::time_point())
      millis.push_back(millis_between(messages.received[i], taints.durable[i]));
  if (millis.size() < kOurs || messages.deleted < kMessages) {
    std::printf("%zu of %d nodes tainted, %d of %d messages deleted\n", millis.size(), kOurs,
                messages.deleted.load(), kMessages);
    return 1;
  }
  const double p99 = percentile(millis, 99);
  std::printf(
      "%d messages, %d ours, %lld ms a call: receipt to durable taint median %.0f ms, p99 %.0f ms, "
      "most %.0f ms (budget 1000 at p99)\n",
      kMessages, kOurs, static_cast<long long>(kCallMillis), percentile(millis, 50), p99,
      percentile(millis, 100));
  std::printf("  floor: one event appended and synced, median %.1f ms, p99 %.1f ms\n",
              percentile(plain, 50), percentile(plain, 99));
  std::printf(
      "  received in %.1f s by %d calls (floor of %d receivers: %.1f s), deleted by %d calls; all "
      "done after %.1f s\n",
      millis_between(messages.first, messages.last) / 1e3, messages.receipts, kReceivers,
      static_cast<double>(kMessages) / cloud::aws::kReceiveMessagesMax * kCallMillis / kReceivers /
          1e3,
      messages.deletions, all_millis / 1e3);
  return p99 <= kBudgetMillis ? 0 : 1;
}
