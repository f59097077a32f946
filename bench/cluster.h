// A large made-up cluster as facts: nodes with their claims and instances, pods with unique names
// and labels bound to them. Same numbers, same facts. For benchmarks only.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "events/body.h"
#include "ports/fact.h"

namespace karst::bench {

struct ClusterSize {
  std::int64_t nodes = 10'000;
  std::int64_t pods = 200'000;
  std::int64_t shapes = 2'000;
};

inline std::string numbered(std::string_view prefix, std::int64_t number, int width) {
  std::string digits = std::to_string(number);
  if (digits.size() < static_cast<std::size_t>(width))
    digits.insert(0, static_cast<std::size_t>(width) - digits.size(), '0');
  return std::string(prefix) + digits;
}

inline std::string uid_of(const char* kind, std::int64_t number) {
  return numbered(kind, number, 36 - static_cast<int>(std::string(kind).size()));
}

inline model::PodShape shape_number(std::int64_t number) {
  model::PodShape shape;
  shape.requests.cpu_millis = 50 + number % 40;
  shape.requests.memory_bytes = (64 + number / 40) << 20;
  shape.requests.pods = 1;
  shape.owner_kind = model::OwnerKind::kReplicaSet;
  shape.node_selector = {{"team", numbered("team-", number % 10, 2)}};
  return shape;
}

inline model::Pod pod_number(std::int64_t number, const ClusterSize& size,
                             const std::vector<model::ShapeHash>& shapes) {
  model::Pod pod;
  pod.uid = model::PodUid(uid_of("pod-", number));
  pod.namespace_name = numbered("namespace-", number % 50, 3);
  pod.name = numbered("a-deployment-with-a-long-name-5d8f7c9b6d-", number, 9);  // 50 characters
  pod.shape = shapes[static_cast<std::size_t>(number % size.shapes)];
  pod.labels = {{"app.kubernetes.io/name", numbered("application-", number % size.shapes, 5)},
                {"pod-name", pod.name},
                {"pod-template-hash", "5d8f7c9b6d"}};
  pod.node = model::NodeName(numbered("node-", number % size.nodes, 6));
  pod.phase = model::PodPhase::kRunning;
  pod.ready = true;
  pod.creation_millis = 1'800'000'000'000 + number;
  pod.start_millis = pod.creation_millis + 5'000;
  return pod;
}

inline model::Labels node_labels(std::int64_t number) {
  return {{"karpenter.sh/capacity-type", "spot"},
          {"karpenter.sh/initialized", "true"},
          {"karpenter.sh/nodepool", "default"},
          {"karpenter.sh/registered", "true"},
          {"kubernetes.io/arch", "amd64"},
          {"kubernetes.io/hostname", numbered("node-", number, 6)},
          {"kubernetes.io/os", "linux"},
          {"node.kubernetes.io/instance-type", "c-4x-amd64-linux"},
          {"team", numbered("team-", number % 10, 2)},
          {"topology.kubernetes.io/zone", number % 2 == 0 ? "test-zone-a" : "test-zone-b"}};
}

inline model::Resources node_capacity() {
  model::Resources capacity;
  capacity.cpu_millis = 4'000;
  capacity.memory_bytes = std::int64_t{16} << 30;
  capacity.ephemeral_bytes = std::int64_t{20} << 30;
  capacity.pods = 110;
  return capacity;
}

// The facts of one node: claim, instance, node.
inline std::vector<events::Body> node_number(std::int64_t number) {
  model::NodeClaim claim;
  claim.name = model::ClaimName(numbered("default-", number, 6));
  claim.uid = model::ClaimUid(uid_of("claim-", number));
  claim.pool = model::PoolName("default");
  claim.labels = {{"karpenter.sh/nodepool", "default"}};
  claim.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  claim.has_finalizer = true;
  claim.creation_millis = 1'800'000'000'000;
  claim.provider_id = model::ProviderId("kwok://" + numbered("node-", number, 6));
  claim.node_name = model::NodeName(numbered("node-", number, 6));
  claim.capacity = node_capacity();
  claim.allocatable = node_capacity();
  for (const char* type : {"Initialized", "Launched", "Ready", "Registered"})
    claim.conditions.push_back(
        {type, model::ConditionStatus::kTrue, type, "", claim.creation_millis});
  model::Node node;
  node.uid = model::NodeUid(uid_of("node-", number));
  node.name = claim.node_name;
  node.provider_id = claim.provider_id;
  node.labels = node_labels(number);
  node.capacity = node_capacity();
  node.allocatable = node_capacity();
  node.ready = true;
  node.has_finalizer = true;
  node.creation_millis = claim.creation_millis;
  model::Instance instance;
  instance.provider_id = claim.provider_id;
  instance.claim = claim.uid;
  instance.attempt = 1;
  instance.offer = {"c-4x-amd64-linux", number % 2 == 0 ? "test-zone-a" : "test-zone-b", "spot",
                    70'000'000};
  instance.state = model::InstanceState::kRunning;
  instance.capacity = node_capacity();
  instance.allocatable = node_capacity();
  return {events::NodeClaimObserved{claim}, events::InstanceObserved{instance},
          events::NodeObserved{node}};
}

inline model::NodePool pool() {
  model::NodePool pool;
  pool.name = model::PoolName("default");
  pool.uid = "pool";
  pool.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  pool.budgets = {{"10%", {}, "", 0}};
  pool.requirements = {{"team", model::Operator::kExists, {}, 0}};
  return pool;
}

// Every fact of the cluster as the lists of a start would bring them, one by one.
template <class Offer>
void all_facts(const ClusterSize& size, Offer&& offer) {
  constexpr const char* kKinds[] = {"NodeClass", "NodePool", "DaemonSet", "NodeClaim",
                                    "Instance",  "Node",     "Pod"};
  for (const char* kind : kKinds) offer(events::ListStarted{kind});
  for (const std::string_view kind : model::kNamedKinds) {
    offer(events::ListStarted{std::string(kind)});
    offer(events::ListEnded{std::string(kind), "1"});
  }
  offer(events::NodeClassObserved{{pool().node_class, "class", 1, true, 0, "{}"}});
  offer(events::NodePoolObserved{pool()});
  for (std::int64_t node = 0; node < size.nodes; ++node)
    for (events::Body& body : node_number(node)) offer(std::move(body));
  std::vector<model::ShapeHash> shapes;
  for (std::int64_t number = 0; number < size.shapes; ++number) {
    const model::PodShape shape = shape_number(number);
    shapes.push_back(model::hash_of(shape));
    offer(events::ShapeRecorded{shapes.back(), shape});
  }
  for (std::int64_t number = 0; number < size.pods; ++number)
    offer(events::PodObserved{pod_number(number, size, shapes)});
  for (const char* kind : kKinds) offer(events::ListEnded{kind, "1"});
}

// Peak resident memory of this process in MiB.
inline double peak_rss_mib() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  char line[256];
  long kib = 0;
  while (file != nullptr && std::fgets(line, sizeof line, file) != nullptr)
    if (std::sscanf(line, "VmHWM: %ld kB", &kib) == 1) break;
  if (file != nullptr) std::fclose(file);
  return static_cast<double>(kib) / 1024;
}

}  // namespace karst::bench
