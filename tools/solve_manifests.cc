#include "tools/solve_manifests.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "model/labels.h"
#include "providers/aws/class_types.h"
#include "tools/solve_buffers.h"
#include "tools/solve_claims.h"
#include "tools/solve_nodes.h"
#include "tools/solve_pools.h"
#include "tools/solve_spread.h"

namespace karst::tools {
namespace {

using objects::ManifestPods;
using objects::Manifests;

struct SystemPriority {
  std::string_view name;
  std::int32_t value;
};
constexpr SystemPriority kSystemPriorities[] = {{"system-cluster-critical", 2'000'000'000},
                                                {"system-node-critical", 2'000'001'000}};

constexpr int kOwnersMax = 4;  // a Pod of a ReplicaSet of a Deployment of …

using OwnerKey = std::tuple<std::string, std::string, std::string>;  // kind, namespace, name

OwnerKey key_of(const ManifestPods& pods) {
  return {pods.kind, pods.pod.pod.namespace_name, pods.pod.pod.name};
}

OwnerKey owner_key(const ManifestPods& pods) {
  return {pods.owner_kind, pods.pod.pod.namespace_name, pods.owner_name};
}

bool of_daemon_set(const ManifestPods& pods) {
  return pods.owner_kind == "DaemonSet";
}
bool is_bound(const ManifestPods& pods) {
  return pods.kind == "Pod" && !pods.pod.pod.node.empty();
}

class Builder {
 public:
  Builder(Manifests& manifests, ManifestProblem& out)
      : manifests_(manifests), out_(out), resolver_(manifests) {}

  base::Status build(const std::vector<std::string>& zones,
                     const std::vector<model::SpreadConstraint>& default_spread) {
    set_priorities();
    std::vector<ManifestPods> buffers = buffer_pods(manifests_, out_.notes);
    count_what_is_there();
    for (ManifestPods& pods : buffers) manifests_.pods.push_back(std::move(pods));
    if (!default_spread.empty()) spread_by_default(default_spread);
    collect_label_keys();
    bool with_volumes = false;
    for (const ManifestPods& pods : manifests_.pods) {
      resolver_.note_users(pods);
      with_volumes =
          with_volumes || !pods.pod.shape.volume_claims.empty() || !pods.templates.empty();
    }
    auto pools = read_pools(manifests_, zones, with_volumes, out_.notes);
    if (!pools) return base::fail(std::move(pools.error()));
    out_.problem.pools = std::move(*pools);
    out_.problem.nodes = read_nodes(manifests_, out_.problem.pools, out_.notes);
    if (out_.problem.pools.empty() && out_.problem.nodes.empty())
      return base::fail(
          base::Kind::kInvalid,
          "there is neither a NodePool nor a Node in the files: add one that pods can "
          "go to");
    out_.problem.options.label_aliases = scheduling::known_label_aliases();
    if (!manifests_.reservations.empty()) {
      // Pods that find a reservation used up go elsewhere with the pass after: as it ends, not as
      // it begins.
      out_.problem.options.reservation_id_label = providers::aws::kReservationIdLabel;
      out_.problem.options.reserved = scheduling::ReservedMode::kFallback;
    }
    out_.problem.namespaces = manifests_.namespaces;
    for (std::size_t i = 0; i < out_.problem.nodes.size(); ++i)
      node_index_.emplace(out_.problem.nodes[i].name, i);
    add_daemons();
    resolver_.note_hosts(out_.problem.nodes);
    for (const ManifestPods& pods : manifests_.pods)
      if (is_bound(pods) && !moves(pods)) add_bound(pods);
    for (const ManifestPods& pods : manifests_.pods)
      if (!is_bound(pods) || moves(pods)) add_waiting(pods);
    flush_bound();
    add_notes(with_volumes);
    return {};
  }

 private:
  // What the priority admission of the API server does.
  void set_priorities() {
    std::optional<std::int32_t> fallback;
    for (const auto& one : manifests_.priority_classes)
      if (one.global_default) fallback = one.value;
    std::set<std::string> unknown;
    for (ManifestPods& pods : manifests_.pods) {
      model::PodShape& shape = pods.pod.shape;
      if (shape.priority != 0) continue;  // as a server prints it
      if (shape.priority_class.empty())
        shape.priority = fallback.value_or(0);
      else if (const auto value = priority_of(shape.priority_class))
        shape.priority = *value;
      else
        unknown.insert(shape.priority_class);
    }
    for (const std::string& name : unknown)
      out_.notes.push_back("PriorityClass " + name + " is not in the files: reckoned as 0");
  }
  std::optional<std::int32_t> priority_of(std::string_view name) const {
    for (const auto& one : manifests_.priority_classes)
      if (one.name == name) return one.value;
    for (const SystemPriority& one : kSystemPriorities)
      if (one.name == name) return one.value;
    return std::nullopt;
  }

  // Pods that are in the files are not counted again for the workload that controls them, nor
  // ReplicaSets for their Deployment.
  void count_what_is_there() {
    std::map<OwnerKey, std::size_t>& workloads = workloads_;
    for (std::size_t i = 0; i < manifests_.pods.size(); ++i)
      if (manifests_.pods[i].kind != "Pod") workloads[key_of(manifests_.pods[i])] = i;
    for (ManifestPods& pods : manifests_.pods) {
      if (pods.kind != "Pod" || pods.owner_name.empty()) continue;
      auto at = workloads.find(owner_key(pods));
      for (int i = 0; i < kOwnersMax && at != workloads.end(); ++i) {
        ManifestPods& owner = manifests_.pods[at->second];
        present_[at->second].insert(pods.pod.pod.name);
        if (!pods.pod.pod.terminal() && owner.count > 0) --owner.count;
        at = owner.owner_name.empty() ? workloads.end() : workloads.find(owner_key(owner));
      }
    }
    for (ManifestPods& pods : manifests_.pods)
      if (pods.kind != "Pod" && !pods.owner_name.empty() && workloads.contains(owner_key(pods)))
        pods.count = 0;
  }

  // As people know the pods: by the uppermost of their controllers that can be seen.
  PodsName name_of(const ManifestPods& pods) const {
    PodsName name{pods.kind, pods.pod.pod.namespace_name, pods.pod.pod.name};
    const ManifestPods* one = &pods;
    for (int i = 0; i < kOwnersMax && one != nullptr && !one->owner_name.empty(); ++i) {
      name.kind = one->owner_kind;
      name.name = one->owner_name;
      const auto at = workloads_.find(owner_key(*one));
      one = at == workloads_.end() ? nullptr : &manifests_.pods[at->second];
    }
    return name;
  }

  void spread_by_default(const std::vector<model::SpreadConstraint>& spreads) {
    manifests_.ignored.erase("Service");
    std::int64_t without = 0;
    for (ManifestPods& pods : manifests_.pods) {
      if (is_bound(pods) || of_daemon_set(pods)) continue;
      const auto at = workloads_.find(owner_key(pods));
      const ManifestPods* owner = at == workloads_.end() ? nullptr : &manifests_.pods[at->second];
      if (pods.selector) owner = &pods;
      if (!add_default_spread(spreads, manifests_.services, owner, pods)) without += pods.count;
    }
    if (without > 0)
      out_.notes.push_back(std::to_string(without) + (without == 1 ? " pod is" : " pods are") +
                           " not spread by default: no Service of the files selects them, "
                           "and no ReplicaSet, StatefulSet or ReplicationController owns them");
  }

  void collect_label_keys() {
    const auto add_selector = [&](const model::LabelSelector& selector) {
      for (const model::RequirementSpec& spec : selector.expressions) label_keys_.insert(spec.key);
    };
    for (const ManifestPods& pods : manifests_.pods) {
      for (const model::SpreadConstraint& spread : pods.pod.shape.spread) {
        add_selector(spread.selector);
        label_keys_.insert(spread.match_label_keys.begin(), spread.match_label_keys.end());
      }
      for (const model::PodAffinityTerm& term : pods.pod.shape.affinity) {
        add_selector(term.selector);
        label_keys_.insert(term.match_label_keys.begin(), term.match_label_keys.end());
        label_keys_.insert(term.mismatch_label_keys.begin(), term.mismatch_label_keys.end());
      }
    }
  }
  model::Labels projected(const model::Labels& labels) const {
    model::Labels kept;
    for (const auto& [key, value] : labels)
      if (label_keys_.contains(key)) kept.emplace_back(key, value);
    return kept;
  }

  void add_daemons() {
    for (const objects::ReducedDaemonSet& one : manifests_.daemon_sets) {
      if (one.daemon_set.deletion_millis != 0) continue;
      out_.problem.daemons.push_back({one.shape});
      out_.daemons.push_back(one.daemon_set.namespace_name + "/" + one.daemon_set.name);
    }
  }

  void note_namespace(const std::string& name) {
    auto& labels = out_.problem.namespaces[name];
    if (labels.empty()) labels = {{"kubernetes.io/metadata.name", name}};
  }

  // Whether it runs on a node that is being deleted, and will be made anew when that has evicted
  // it.
  bool moves(const ManifestPods& pods) const {
    const auto known = node_index_.find(pods.pod.pod.node.str());
    if (known == node_index_.end() || !is_bound(pods)) return false;
    const scheduling::Node& node = out_.problem.nodes[known->second];
    return !node.takes_pods && !node.stays && !of_daemon_set(pods) && !pods.pod.mirror &&
           pods.pod.shape.do_not_disrupt == model::DoNotDisrupt::kNo &&
           !is_held_by_budgets(manifests_, pods.pod);
  }

  void add_bound(const ManifestPods& pods) {
    const model::Pod& pod = pods.pod.pod;
    if (pod.terminal()) return;
    note_namespace(pod.namespace_name);
    const auto known = node_index_.find(pod.node.str());
    if (known == node_index_.end()) {
      ++elsewhere_;
      return;
    }
    scheduling::Node* at = &out_.problem.nodes[known->second];
    resolver_.note_bound(pods);
    const model::PodShape& shape = pods.pod.shape;
    at->available -= shape.requests;
    if (of_daemon_set(pods)) at->daemon_running += shape.requests;
    at->host_ports.insert(at->host_ports.end(), shape.host_ports.begin(), shape.host_ports.end());
    for (auto& mounted : scheduling::mounted(resolver_, pod.namespace_name, shape.volume_claims))
      at->volumes.push_back(std::move(mounted));
    if (pod.deletion_millis != 0) return;  // on its way out: spreads and affinity pass over it
    scheduling::BoundPods bound;
    bound.node = known->second;
    bound.namespace_name = pod.namespace_name;
    bound.labels = projected(pod.labels);
    for (const model::PodAffinityTerm& term : shape.affinity)
      if (term.anti && term.preferred_weight == 0) bound.anti_affinity.push_back(term);
    bound_.push_back(std::move(bound));
  }
  // Equal ones become one row.
  void flush_bound() {
    auto& rows = out_.problem.bound;
    std::map<std::tuple<std::size_t, std::string, model::Labels>, std::size_t> plain;
    for (scheduling::BoundPods& bound : bound_) {
      if (bound.anti_affinity.empty()) {
        const auto [at, fresh] =
            plain.emplace(std::tuple(bound.node, bound.namespace_name, bound.labels), rows.size());
        if (!fresh) {
          ++rows[at->second].count;
          continue;
        }
      }
      rows.push_back(std::move(bound));
    }
    for (scheduling::Node& node : out_.problem.nodes) {
      std::sort(node.host_ports.begin(), node.host_ports.end());
      std::sort(node.volumes.begin(), node.volumes.end());
      node.volumes.erase(std::unique(node.volumes.begin(), node.volumes.end()), node.volumes.end());
    }
  }

  void add_waiting(const ManifestPods& pods) {
    const model::Pod& pod = pods.pod.pod;
    if (pods.count == 0 || pod.terminal() || pod.deletion_millis != 0 || pods.pod.mirror) return;
    if (pods.kind == "Pod" && of_daemon_set(pods)) return;  // reckoned with on every node
    note_namespace(pod.namespace_name);
    if (pods.pod.shape.gated) return refuse(pods, pods.count, "has scheduling gates");
    if (const std::string once = resolver_.once_per_pod(pods); !once.empty()) {
      const std::int64_t one = resolver_.take(once) ? 1 : 0;
      if (one == 1) add_rows(pods, resolver_.volumes_of(pods, 0), one);
      if (pods.count > one)
        refuse(
            pods, pods.count - one,
            "persistentvolumeclaim \"" + once + "\" is ReadWriteOncePod, and another pod uses it");
      return;
    }
    const auto& claims = pods.templates;
    if (claims.empty() || !resolver_.any_claims()) {
      add_rows(pods, resolver_.volumes_of(pods, 0), pods.count);
      return;
    }
    const std::set<std::string>& present =
        present_[static_cast<std::size_t>(&pods - manifests_.pods.data())];
    std::int64_t left = pods.count;
    for (std::int64_t ordinal = 0; left > 0; ++ordinal) {
      if (present.contains(pod.name + "-" + std::to_string(ordinal))) continue;
      add_rows(pods, resolver_.volumes_of(pods, ordinal), 1);
      --left;
    }
  }

  void refuse(const ManifestPods& pods, std::int64_t count, const std::string& why) {
    const PodsName name = name_of(pods);
    for (RefusedPods& one : out_.refused)
      if (one.why == why && one.name.kind == name.kind && one.name.name == name.name &&
          one.name.namespace_name == name.namespace_name) {
        one.count += count;
        return;
      }
    out_.refused.push_back({name, count, why});
  }

  // Pods of one owner that are equal are one row.
  void add_rows(const ManifestPods& pods, base::Result<std::vector<scheduling::Volume>> volumes,
                std::int64_t count) {
    if (!volumes) return refuse(pods, count, volumes.error().message);
    const PodsName name = name_of(pods);
    const model::Labels labels = projected(pods.pod.pod.labels);
    model::PodShape shape = pods.pod.shape;
    shape.volume_claims.clear();  // the solver knows them as volumes
    const auto key = std::tuple(name.kind, name.namespace_name, name.name, model::hash_of(shape),
                                labels, *volumes);
    const auto [at, fresh] = rows_.emplace(key, out_.problem.pods.size());
    if (!fresh) {
      out_.problem.pods[at->second].count += count;
      return;
    }
    scheduling::PodGroup group;
    group.shape = std::move(shape);
    group.namespace_name = name.namespace_name;
    group.labels = labels;
    group.count = count;
    group.volumes = std::move(*volumes);
    group.creation_millis = pods.pod.pod.creation_millis;
    out_.problem.pods.push_back(std::move(group));
    out_.groups.push_back(name);
  }

  void add_notes(bool with_volumes) {
    if (elsewhere_ > 0)
      out_.notes.push_back(std::to_string(elsewhere_) +
                           (elsewhere_ == 1 ? " pod is bound to a node that is"
                                            : " pods are bound to nodes that are") +
                           " not in the files: left out");
    if (with_volumes && !resolver_.any_claims())
      out_.notes.push_back(
          "no PersistentVolumeClaim is in the files: volumes named by pods count as reachable "
          "anywhere");
    if (with_volumes && !resolver_.any_classes())
      out_.notes.push_back(
          "no StorageClass is in the files: volumes yet to be made count as reachable anywhere");
    std::string kinds;
    for (const auto& [kind, count] : manifests_.ignored)
      kinds += (kinds.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    if (!kinds.empty()) out_.notes.push_back("left out, as they make no pods now: " + kinds);
  }

  Manifests& manifests_;
  ManifestProblem& out_;
  ClaimResolver resolver_;
  std::map<OwnerKey, std::size_t> workloads_;             // index into Manifests::pods
  std::map<std::size_t, std::set<std::string>> present_;  // names of pods by workload
  std::set<std::string> label_keys_;                      // that selectors ask for
  std::map<std::string, std::size_t> node_index_;         // index into Problem::nodes
  std::int64_t elsewhere_ = 0;
  std::vector<scheduling::BoundPods> bound_;
  std::map<std::tuple<std::string, std::string, std::string, model::ShapeHash, model::Labels,
                      std::vector<scheduling::Volume>>,
           std::size_t>
      rows_;
};

}  // namespace

base::Result<ManifestProblem> problem_of_manifests(
    const std::vector<objects::ManifestText>& texts, const std::vector<std::string>& zones,
    const std::vector<model::SpreadConstraint>& default_spread) {
  auto manifests = objects::read_manifests(texts);
  if (!manifests) return base::fail(std::move(manifests.error()));
  ManifestProblem out;
  KARST_TRY(Builder(*manifests, out).build(zones, default_spread));
  return out;
}

}  // namespace karst::tools
