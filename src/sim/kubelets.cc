#include "sim/kubelets.h"

#include <algorithm>
#include <vector>

namespace karst::sim {

namespace {

const model::Taint kNotReady{"node.kubernetes.io/not-ready", "", model::TaintEffect::kNoSchedule};
const model::Taint kUnreachable{"node.kubernetes.io/unreachable", "",
                                model::TaintEffect::kNoSchedule};
const model::Taint kUnreachableExecute{"node.kubernetes.io/unreachable", "",
                                       model::TaintEffect::kNoExecute};
constexpr std::int64_t kUnreachableTolerationMillis = 60'000;

void add_new_taint(model::Node& node, const model::Taint& taint) {
  if (std::find(node.taints.begin(), node.taints.end(), taint) == node.taints.end()) {
    node.taints.push_back(taint);
    std::sort(node.taints.begin(), node.taints.end());
  }
}

// The single values that every machine of a type has as labels.
void label_by_type(model::Node& node, const model::InstanceType& type) {
  for (const model::RequirementSpec& spec : type.requirements)
    if (spec.op == model::Operator::kIn && spec.values.size() == 1)
      model::set_label(node.labels, spec.key, spec.values[0]);
}

bool is_startup_taint(const model::Taint& taint,
                      const std::map<std::string, model::NodePool>& pools) {
  return std::any_of(pools.begin(), pools.end(), [&](const auto& pool) {
    const auto& taints = pool.second.startup_taints;
    return std::find(taints.begin(), taints.end(), taint) != taints.end();
  });
}

}  // namespace

Kubelets::Kubelets(Core& core, ApiServer& api, Cloud& cloud, const Scenario& scenario)
    : core_(core), api_(api), cloud_(cloud), scenario_(scenario) {
  api_.observe(*this);
  cloud_.on_launched = [this](const Machine& machine) { boot(machine); };
  cloud_.on_gone = [this](const model::ProviderId& id) { machine_gone(id); };
}

void Kubelets::boot(const Machine& machine) {
  if (core_.faults.strikes(Fault::kNeverRegisters)) return;
  const bool becomes_ready = !core_.faults.strikes(Fault::kNeverReady);
  core_.after(core_.delay(scenario_.timing.boot.first, scenario_.timing.boot.second),
              [this, key = machine.instance.provider_id.str(), becomes_ready] {
                register_node(key, becomes_ready);
              });
}

void Kubelets::register_node(const std::string& provider_id, bool becomes_ready) {
  const Machine& machine = cloud_.machines().at(provider_id);
  if (!machine.alive()) return;
  model::Node node;
  node.name = model::NodeName("node-" + provider_id.substr(provider_id.rfind("-") + 1));
  node.provider_id = machine.instance.provider_id;
  node.capacity = machine.instance.capacity;
  node.allocatable = machine.instance.allocatable;
  for (const model::InstanceType& type : scenario_.catalogue.types)
    if (type.name == machine.instance.offer.instance_type) label_by_type(node, type);
  model::set_label(node.labels, model::kInstanceTypeLabel, machine.instance.offer.instance_type);
  model::set_label(node.labels, model::kZoneLabel, machine.instance.offer.zone);
  model::set_label(node.labels, model::kCapacityTypeLabel, machine.instance.offer.capacity_type);
  model::set_label(node.labels, model::kHostnameLabel, node.name.str());
  model::set_label(node.labels, model::kNodePoolLabel, machine.pool.str());
  add_new_taint(node, kNotReady);
  add_new_taint(node,
                {std::string(model::kUnregisteredTaintKey), "", model::TaintEffect::kNoExecute});
  const std::string name = node.name.str();
  core_.tell("node " + name + " registers");
  api_.create_node(std::move(node));
  if (!becomes_ready) return;
  core_.after(core_.delay(scenario_.timing.ready.first, scenario_.timing.ready.second),
              [this, name] {
                if (!runs(name)) return;
                api_.update_node(name, [](model::Node& ready, model::ClaimUid&) {
                  ready.ready = true;
                  std::erase(ready.taints, kNotReady);
                });
              });
}

bool Kubelets::runs(const std::string& node) const {
  const NodeEntry* entry = api_.node(node);
  if (entry == nullptr) return false;
  const auto machine = cloud_.machines().find(entry->node.provider_id.str());
  return machine != cloud_.machines().end() && machine->second.alive();
}

void Kubelets::pod_changed(const PodEntry& entry) {
  if (entry.pod.node.empty() || entry.pod.terminal()) return;
  const std::string uid = entry.pod.uid.str();
  if (entry.pod.deletion_millis != 0) {
    const std::int64_t grace = std::max<std::int64_t>(0, entry.pod.deletion_millis - core_.now());
    const std::int64_t exit =
        core_.delay(scenario_.timing.pod_exit.first, scenario_.timing.pod_exit.second);
    core_.after(std::min(grace, exit), [this, uid] { end_pod(uid); });
  } else if (entry.pod.phase == model::PodPhase::kPending) {
    core_.after(core_.delay(scenario_.timing.pod_start.first, scenario_.timing.pod_start.second),
                [this, uid] { start_pod(uid); });
  }
}

void Kubelets::start_pod(const std::string& uid) {
  const PodEntry* entry = api_.pod(uid);
  if (entry == nullptr || !entry->pod.active() || entry->pod.phase != model::PodPhase::kPending)
    return;
  const NodeEntry* node = api_.node(entry->pod.node.str());
  if (node == nullptr || !node->node.ready || !runs(entry->pod.node.str()))
    return;  // again when the node changes
  const std::int64_t run_millis = entry->run_millis;
  api_.update_pod(uid, [&](model::Pod& pod) {
    pod.phase = model::PodPhase::kRunning;
    pod.ready = true;
    pod.start_millis = core_.now();
  });
  if (run_millis == 0) return;
  core_.after(run_millis, [this, uid] {
    const PodEntry* running = api_.pod(uid);
    if (running == nullptr || !running->pod.active() || !runs(running->pod.node.str())) return;
    api_.update_pod(uid, [](model::Pod& pod) {
      pod.phase = model::PodPhase::kSucceeded;
      pod.ready = false;
    });
  });
}

void Kubelets::end_pod(const std::string& uid) {
  const PodEntry* entry = api_.pod(uid);
  if (entry == nullptr || entry->pod.deletion_millis == 0) return;
  if (runs(entry->pod.node.str())) api_.remove_pod(uid);
}

void Kubelets::node_changed(const NodeEntry& entry) {
  const std::string name = entry.node.name.str();
  if (entry.node.ready) {
    for (const std::string& uid : entry.pods) {
      const PodEntry* pod = api_.pod(uid);
      if (pod != nullptr && pod->pod.active() && pod->pod.phase == model::PodPhase::kPending)
        core_.after(
            core_.delay(scenario_.timing.pod_start.first, scenario_.timing.pod_start.second),
            [this, uid] { start_pod(uid); });
    }
    for (const model::Taint& taint : entry.node.taints) {
      if (!is_startup_taint(taint, api_.pools())) continue;
      core_.after(core_.delay(2'000, 6'000), [this, name, taint] {
        api_.update_node(
            name, [&](model::Node& node, model::ClaimUid&) { std::erase(node.taints, taint); });
      });
    }
  }
  const bool executes = std::any_of(
      entry.node.taints.begin(), entry.node.taints.end(), [](const model::Taint& taint) {
        return taint.effect == model::TaintEffect::kNoExecute && taint.key != kUnreachable.key;
      });
  if (executes && !entry.pods.empty()) core_.after(1'000, [this, name] { evict_intolerant(name); });
}

void Kubelets::evict_intolerant(const std::string& name) {
  const NodeEntry* entry = api_.node(name);
  if (entry == nullptr) return;
  const std::vector<std::string> uids(entry->pods.begin(), entry->pods.end());
  for (const std::string& uid : uids) {
    const PodEntry* pod = api_.pod(uid);
    if (pod == nullptr || !pod->pod.active() || pod->shape->owner_kind == model::OwnerKind::kNode)
      continue;
    const auto& taints = entry->node.taints;
    const bool intolerant =
        std::any_of(taints.begin(), taints.end(), [&](const model::Taint& taint) {
          return taint.effect == model::TaintEffect::kNoExecute &&
                 !model::tolerates(pod->shape->tolerations, taint);
        });
    if (intolerant) api_.delete_pod(uid, pod->shape->grace_seconds);
  }
}

void Kubelets::machine_gone(const model::ProviderId& id) {
  core_.after(core_.delay(20'000, 40'000), [this, id] {
    if (const NodeEntry* entry = api_.node_of(id)) stop_reporting(entry->node.name.str());
  });
}

void Kubelets::stop_reporting(const std::string& name) {
  api_.update_node(name, [](model::Node& node, model::ClaimUid&) {
    node.ready = false;
    add_new_taint(node, kUnreachable);
    add_new_taint(node, kUnreachableExecute);
  });
  core_.after(kUnreachableTolerationMillis, [this, name] { evict_intolerant(name); });
  if (scenario_.cloud_deletes_nodes)
    core_.after(core_.delay(10'000, 30'000), [this, name] { api_.delete_node(name); });
}

void Kubelets::node_removed(const NodeEntry& entry) {
  for (const std::string& uid : entry.pods)
    core_.after(core_.delay(5'000, 15'000), [this, uid] { api_.remove_pod(uid); });
}

}  // namespace karst::sim
