// 1,000 pods that each need a machine of their own: which calls to EC2 do their 1,000 claims take,
// and how long until the last one's machine is durable in the log, when each call takes 20 ms? The
// production path from pending pods over solver, orders and the hands of EC2 to the mirrored claim;
// EC2 and the API server are made up in memory. Floor beside it: 100 claims fit one CreateFleet, so
// 10 of them. Exit 1 beyond twice the floor, or when a claim has no machine within two minutes.
#include <atomic>
#include <set>

#include "bench/running_daemon.h"
#include "bench/slow_network.h"
#include "cloud/aws/aws_cloud.h"
#include "ports/outcome.h"
#include "providers/aws/resolution.h"
#include "tests/cloud/aws_account.h"
#include "tests/cloud/ec2_server.h"

namespace {

using namespace karst;
using Clock = std::chrono::steady_clock;

constexpr int kPods = 1'000;
constexpr std::int64_t kCallMillis = 20;
constexpr std::uint64_t kFleetsFloor = kPods / model::kLaunchItemsMax;
constexpr std::int64_t kStart = 1'800'000'100'000;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

model::NodeClass node_class() {
  model::NodeClass made;
  made.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
  made.uid = "class";
  made.generation = 1;
  made.ready = true;
  made.ready_condition.type = "Ready";
  made.ready_condition.status = model::ConditionStatus::kTrue;
  made.spec_json = R"({"amiFamily": "AL2023", "amiSelectorTerms": [{"id": "ami-1"}], "role": "r",
    "securityGroupSelectorTerms": [{"id": "sg-1"}], "subnetSelectorTerms": [{"id": "subnet-a"}]})";
  return made;
}

// What the class's selectors find.
std::string resolution() {
  providers::aws::Resolution found;
  found.resolved.cluster = {"demo", "uid-1",       "https://demo.example",
                            "Q0E=", "10.100.0.10", "10.100.0.0/16",
                            "1.34", "us-east-1",   false};
  found.resolved.subnets = {{"subnet-a", "us-east-1a", "use1-az1", 5'000},
                            {"subnet-b", "us-east-1b", "use1-az2", 5'000}};
  found.resolved.security_groups = {{"sg-1", "nodes"}};
  providers::aws::Image image{"ami-1", "al2023", "2026-01-01T00:00:00.000Z", false, {}};
  image.requirements = {{"kubernetes.io/arch", model::Operator::kIn, {"amd64"}, 0}};
  found.resolved.images = {image};
  found.resolved.instance_profile = "profile";
  found.conditions = {{"Ready", model::ConditionStatus::kTrue, "Ready", "", 0, 1}};
  found.ready = true;
  return providers::aws::to_json(found, 1);
}

// The API server and EC2 as ports: claims get a uid, the class its resolution.
class Objects final : public ports::CommandPort {
 public:
  explicit Objects(bench::RunningDaemon& daemon) : daemon_(daemon) {}
  void submit(const ports::IssuedCommand& command) override {
    if (const auto* create = std::get_if<model::CreateNodeClaim>(&command.spec)) {
      model::NodeClaim claim = create->claim;
      claim.uid = model::ClaimUid("uid-of-" + claim.name.str());
      claim.creation_millis = daemon_.clock().wall().value();
      say(events::NodeClaimObserved{claim});
    }
    if (const auto* mirror = std::get_if<model::MirrorClaim>(&command.spec);
        mirror != nullptr && !mirror->provider_id.empty() &&
        machines_.insert(mirror->provider_id.str()).second)
      ++launched;
    say(ports::done(command));
  }
  std::atomic<int> launched{0};

 private:
  void say(events::Body body) {
    daemon_.inbox().try_offer({std::move(body), daemon_.clock().wall(), ""});
  }
  bench::RunningDaemon& daemon_;
  std::set<std::string> machines_;
};

class Instances final : public ports::CommandPort {
 public:
  Instances(bench::RunningDaemon& daemon, ports::CommandPort& ec2) : daemon_(daemon), ec2_(ec2) {}
  void submit(const ports::IssuedCommand& command) override {
    if (!std::holds_alternative<model::ResolveNodeClass>(command.spec)) return ec2_.submit(command);
    model::Outcome outcome = ports::done(command);
    outcome.resolution = resolution();
    daemon_.inbox().try_offer({std::move(outcome), daemon_.clock().wall(), ""});
  }

 private:
  bench::RunningDaemon& daemon_;
  ports::CommandPort& ec2_;
};

void fill(bench::RunningDaemon& daemon) {
  constexpr const char* kKinds[] = {"NodeClass", "NodePool", "DaemonSet", "NodeClaim",
                                    "Instance",  "Node",     "Pod"};
  for (const char* kind : kKinds) daemon.offer(events::ListStarted{kind});
  for (const std::string_view kind : model::kNamedKinds) {
    daemon.offer(events::ListStarted{std::string(kind)});
    daemon.offer(events::ListEnded{std::string(kind), "1"});
  }
  daemon.offer(events::NodeClassObserved{node_class()});
  model::NodePool pool;
  pool.name = model::PoolName("default");
  pool.uid = "pool";
  pool.node_class = node_class().ref;
  pool.requirements = {
      {"node.kubernetes.io/instance-type", model::Operator::kIn, {"m5.large", "m6i.large"}, 0},
      {"karpenter.sh/capacity-type", model::Operator::kIn, {"spot"}, 0}};
  daemon.offer(events::NodePoolObserved{pool});
  for (const char* kind : kKinds) daemon.offer(events::ListEnded{kind, "1"});
  std::this_thread::sleep_for(std::chrono::seconds(2));  // the class is asked for
}

void add_pods(bench::RunningDaemon& daemon) {
  model::PodShape shape;
  shape.requests.cpu_millis = 1'500;  // two do not fit one machine
  shape.requests.pods = 1;
  shape.owner_kind = model::OwnerKind::kReplicaSet;
  daemon.offer(events::ShapeRecorded{model::hash_of(shape), shape});
  for (int i = 0; i < kPods; ++i) {
    model::Pod pod;
    pod.uid = model::PodUid("pod-" + std::to_string(i));
    pod.namespace_name = "shop";
    pod.name = pod.uid.str();
    pod.shape = model::hash_of(shape);
    pod.unschedulable = true;
    daemon.offer(events::PodObserved{pod});
  }
}

}  // namespace

int main() {
  bench::RunningDaemon daemon("karst-bench-launch", "aws", kStart);
  cloud::aws::Ec2Server server;
  cloud::aws::ServerTime time(daemon.clock());
  auto network = std::make_unique<bench::SlowNetwork>(
      kCallMillis, [&](const http::Request& request) { return server.answer(request.body); });
  cloud::aws::CredentialKeeper keeper(*network, daemon.clock(), time,
                                      cloud::aws::keys_that_never_change, 0, {});
  const auto client = cloud::aws::client_on_loopback(*network, keeper, time, daemon.clock());
  providers::aws::Cluster cluster;
  cluster.name = "demo";
  const ports::WithheldTexts withheld;
  cloud::aws::AwsCloud ec2(*client, daemon.sink(), withheld, daemon.clock(), cluster);
  Objects objects(daemon);
  Instances instances(daemon, ec2);
  daemon.start(objects, instances, nullptr);
  fill(daemon);

  const auto start = Clock::now();
  add_pods(daemon);
  while (objects.launched < kPods && seconds_since(start) < 120)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const double seconds = seconds_since(start);
  network.reset();
  daemon.end();
  std::printf("%d pods, %d claims launched, %zu machines: %.2f s, the batch window of 1 s in it\n",
              kPods, objects.launched.load(), server.machines.size(), seconds);
  for (const auto& [call, count] : client->sent())
    std::printf("  %-28s %6llu calls\n", call.c_str(), static_cast<unsigned long long>(count));
  const auto fleets = client->sent().find("ec2 CreateFleet");
  const std::uint64_t count = fleets == client->sent().end() ? 0 : fleets->second;
  std::printf("  floor: %llu CreateFleet of %zu claims each\n",
              static_cast<unsigned long long>(kFleetsFloor), model::kLaunchItemsMax);
  const bool all = objects.launched == kPods && server.machines.size() == kPods;
  return all && count <= 2 * kFleetsFloor ? 0 : 1;
}
