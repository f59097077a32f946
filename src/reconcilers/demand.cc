// Who asks for a place: pending pods that are expected nowhere, and pods that will have to leave
// the nodes that go.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "disruption/pods.h"
#include "reconcilers/drain.h"
#include "reconcilers/neighbours.h"
#include "reconcilers/once_per_pod.h"
#include "reconcilers/problem_of.h"

namespace karst::reconcilers {
namespace {

using projections::PodRow;

// So many refused evictions in a row, which takes five minutes. A budget that lets pods go one by
// one refuses the others meanwhile, and they need their places.
constexpr std::uint32_t kRefusalsMin = 32;

// A node may come up with less than it will have.
model::Resources allocatable_of(const NodeRow& node, const ClaimRow* claim) {
  return claim == nullptr || claim->initialized_at.value() != 0
             ? node.node.allocatable
             : model::max_of(node.node.allocatable, claim->instance.allocatable);
}

// What has become of a pod's expectation.
struct Standing {
  bool covered = false;
  const NodeRow* taken = nullptr;  // others have taken its seat there,
  LogTime up_since;                // and there have been seats since then
};

class Expectations {
 public:
  Expectations(const ClusterState& state, const Context& context, Plan& plan)
      : state_(state), context_(context), plan_(plan) {}

  // An expectation holds while its claim lives, has a seat for the pod, and has not been up for too
  // long without it.
  Standing of(const PodRow& pod) {
    if (!pod.expected_node.empty()) {
      const NodeRow* node = state_.nodes().find(pod.expected_node);
      if (node == nullptr || node->node.deletion_millis != 0 || node->tainted_at != Position())
        return {};
      if (!has_seat(*node, nullptr, pod)) return {false, node, {}};
      return until(pod.expected_until);
    }
    if (pod.expected_claim.empty()) return {};
    const ClaimRow* claim = state_.claims().find(pod.expected_claim);
    if (claim == nullptr)
      return state_.config().shadow ? until(pod.expected_until) : Standing{};  // not sent
    if (leaves(*claim)) return {};
    if (const NodeRow* node = state_.node_of(*claim);
        node != nullptr && !has_seat(*node, claim, pod))
      return {false, node, claim->registered_at};
    return until(claim->initialized_at.value() == 0
                     ? comes_up_until(state_, *claim)
                     : claim->initialized_at + state_.config().nomination_millis);
  }

 private:
  Standing until(LogTime until) {
    if (until <= context_.now) return {};
    plan_.wake_at(until);
    return {true, nullptr, {}};
  }

  // Whether the node still has a seat for the pod that is expected there: what is bound leaves room
  // for those expected before it (by uid), and for it. Others may have taken the seats, since
  // kube-scheduler knows no nominations.
  bool has_seat(const NodeRow& node, const ClaimRow* claim, const PodRow& pod) {
    const auto [place, is_new] = standing_.try_emplace({&node, claim});
    if (is_new) {
      const std::string& name = node.node.name.str();
      model::Resources room = allocatable_of(node, claim);
      if (const auto* pods = state_.pods().on(name)) room -= pods->requests;
      for (const PodRow* one : claim == nullptr
                                   ? state_.pods().expected_on_node(name)
                                   : state_.pods().expected_on_claim(claim->claim.name.str())) {
        if (one->node != nullptr && *one->node == name) continue;
        if (!model::fits(one->shape->requests, room)) place->second.insert(one);
        room -= one->shape->requests;
      }
    }
    return !place->second.contains(&pod);
  }

  const ClusterState& state_;
  const Context& context_;
  Plan& plan_;
  // Who of those that are expected on the node itself or on its claim has no seat.
  std::map<std::pair<const NodeRow*, const ClaimRow*>, std::set<const PodRow*>> standing_;
};

// Since when the pods of a demand ask. Those that a pass has left without a place ask again when it
// is time for the next one, and until then not: or each pod that comes later would be bought for by
// itself, since their window closed long ago.
class Asked {
 public:
  explicit Asked(const ClusterState& state) : state_(state) {}

  // Since then it is known that there is no place for the pod.
  void note(LogTime since, Demand& demand) const { add(since, since, since, demand); }
  // One whose seat was taken: it asks with the others that are left over there.
  void note_taken(const PodRow& pod, const Standing& standing, Demand& demand) {
    const LogTime first = std::max({pod.pending_since, last_bought(), standing.up_since});
    LogTime last = pod.pending_since;
    if (const auto* activity = state_.activity().find(standing.taken->node.name))
      last = std::max(last, activity->last_pod_event);
    add(first, last, pod.pending_since, demand);
  }
  // A pod that leaves with its node: its place is made at once.
  void note_leaving(const ClaimRow& claim, Demand& demand) {
    add(LogTime(1), LogTime(1), left_at(claim), demand);
  }

 private:
  void add(LogTime first, LogTime last, LogTime news, Demand& demand) const {
    if (news <= state_.held_at()) return;
    if (demand.first_asked.value() == 0 || first < demand.first_asked) demand.first_asked = first;
    demand.last_asked = std::max(demand.last_asked, last);
  }

  static LogTime left_at(const ClaimRow& claim) {
    return std::max(
        {claim.delete_requested_at, claim.deletion_seen_at, claim.interrupted_at, claim.gone_at});
  }

  // A purchase is for all who ask then.
  LogTime last_bought() {
    if (last_bought_) return *last_bought_;
    last_bought_ = LogTime(1);
    for (const auto& [name, slot] : state_.claims().slots())
      last_bought_ = std::max(*last_bought_, slot.row.created_at);
    return *last_bought_;
  }

  const ClusterState& state_;
  std::optional<LogTime> last_bought_;
};

// Pods of a leaving node that nothing may evict as things are: a place made for them now would
// stand empty. Karpenter's rule (v1.14): do-not-disrupt, and budgets that never allow an eviction;
// here, one that has not allowed it for long, too.
class Holds {
 public:
  explicit Holds(const ClusterState& state) : state_(state) {
    state.for_each<model::DisruptionBudget>(
        [&](const model::DisruptionBudget& budget, const auto&) { budgets_.push_back(budget); });
  }
  bool hold(const PodRow& pod, LogTime now, Plan& plan) const {
    if (held_by_annotation(pod, now)) {
      wake_when_free(pod, plan);
      return true;
    }
    const auto* last = state_.back_offs().find(
        projections::SubjectKind("pod/" + pod.uid.str(), model::CommandKind::kEvictPod));
    if (last != nullptr && last->code == model::RefusalCode::kBlocked &&
        last->failures >= kRefusalsMin)
      return true;
    if (budgets_.empty() || disruption::tolerates_disruption(*pod.shape)) return false;
    const std::string_view space =
        pod.namespace_name == nullptr ? std::string_view() : *pod.namespace_name;
    return disruption::hold_by(budgets_, space, pod.labels(), !pod.ready,
                               disruption::BudgetTest::kForever)
               .kind != disruption::Hold::kNone;
  }

 private:
  const ClusterState& state_;
  std::vector<model::DisruptionBudget> budgets_;
};

// Those who ask, by group.
class Gathering {
 public:
  Gathering(const ClusterState& state, const Context& context, Plan& plan)
      : state_(state),
        context_(context),
        plan_(plan),
        keys_(selected_keys(state)),
        once_(state),
        expectations_(state, context, plan),
        asked_(state) {}

  void add_pending() {
    std::vector<std::pair<const PodRow*, const Group*>> known;
    for (const std::string_view uid : state_.pods().pending()) {
      const PodRow& pod = state_.pods().row_of(uid);
      const Standing standing = expectations_.of(pod);
      if (standing.covered) continue;
      Group& group = groups_[key_of(pod)];
      group.pods.push_back(&pod);
      if (standing.taken != nullptr) {
        asked_.note_taken(pod, standing, demand_);
        continue;
      }
      known.emplace_back(&pod, &group);
      if (group.first_word.value() == 0 || pod.pending_since < group.first_word)
        group.first_word = pod.pending_since;
      said_.insert(pod.shape_hash);
    }
    for (const auto& [pod, group] : known)
      asked_.note(pod->shape->other_scheduler ? pod->pending_since : known_since(*pod, *group),
                  demand_);
  }

  // Pods that kube-scheduler has not come to, of a group for which it has no place: it goes through
  // them one by one, some hundred a second, and equal pods fare equally. The newest first, which is
  // the one that may keep the window open.
  void add_twins() {
    if (said_.empty()) return;
    const bool news = demand_.first_asked.value() != 0;
    const auto& untried = state_.pods().untried();
    for (auto at = untried.rbegin(); at != untried.rend(); ++at) {
      const PodRow& pod = state_.pods().row_of(at->second);
      if (!said_.contains(pod.shape_hash)) continue;  // a key costs more
      const auto group = groups_.find(key_of(pod));
      if (group == groups_.end() || group->second.first_word.value() == 0 ||
          expectations_.of(pod).covered)
        continue;
      asked_.note(known_since(pod, group->second), demand_);
      group->second.pods.push_back(&pod);
      if (news && window_closes(state_, demand_) > context_.now) return;
    }
  }

  void add_leaving() {
    std::optional<Holds> holds;
    for (const model::ClaimName& name : state_.restless()) {
      const ClaimRow& row = *state_.claims().find(name);
      if (!leaves(row) || row.node.empty() || !ours(row, context_)) continue;
      if (!holds) holds.emplace(state_);
      // A machine that is taken away asks nobody.
      const bool asks = row.interrupted_at.value() == 0 && row.gone_at.value() == 0;
      for (const PodRow* pod : state_.pods().on_node(row.node.str())) {
        if (!pod->reschedulable() || pod->deletion_millis != 0 ||
            (asks && holds->hold(*pod, context_.now, plan_)) || expectations_.of(*pod).covered)
          continue;
        asked_.note_leaving(row, demand_);
        groups_[key_of(*pod)].pods.push_back(pod);
      }
    }
  }

  Demand finish() {
    for (auto& [key, group] : groups_) {
      demand_.shapes.push_back(std::get<0>(key));
      demand_.labels.push_back(std::get<2>(key));
      std::sort(group.pods.begin(), group.pods.end(),
                [](const PodRow* a, const PodRow* b) { return a->uid < b->uid; });
      demand_.pods.push_back(std::move(group.pods));
    }
    return std::move(demand_);
  }

 private:
  using Key = std::tuple<model::ShapeHash, std::string, model::Labels, std::string>;
  struct Group {
    std::vector<const PodRow*> pods;
    LogTime first_word;  // when kube-scheduler first had no place for one of them; 0: it had none
  };

  Key key_of(const PodRow& pod) const {
    std::string space = pod.namespace_name == nullptr ? "" : *pod.namespace_name;
    std::string alone = once_.concerns(space, *pod.shape) ? pod.uid.str() : std::string();
    return {pod.shape_hash, std::move(space), projected(pod.labels(), keys_), std::move(alone)};
  }
  // What was said of the first of them holds for all that there were then.
  static LogTime known_since(const PodRow& pod, const Group& group) {
    return std::max(pod.waits_since, group.first_word);
  }

  const ClusterState& state_;
  const Context& context_;
  Plan& plan_;
  const SelectedKeys keys_;
  const OncePerPod once_;
  Expectations expectations_;
  Asked asked_;
  std::map<Key, Group> groups_;
  std::set<model::ShapeHash> said_;  // shapes of groups with a first word
  Demand demand_;
};

}  // namespace

// How long a node that is not initialized yet may still be counted on: registration and
// initialization each have that long.
LogTime comes_up_until(const ClusterState& state, const ClaimRow& row) {
  return (row.registered_at.value() != 0 ? row.registered_at : row.created_at) +
         state.config().registration_timeout_millis;
}

LogTime window_closes(const ClusterState& state, const Demand& demand) {
  if (demand.first_asked.value() == 0) return state.held_until();
  return std::min(demand.last_asked + state.config().batch_idle_millis,
                  demand.first_asked + state.config().batch_max_millis);
}

Demand demand_of(const ClusterState& state, const Context& context, Plan& plan) {
  Gathering gathering(state, context, plan);
  gathering.add_pending();
  gathering.add_leaving();  // before the twins: who leaves closes the window for all
  gathering.add_twins();
  return gathering.finish();
}

}  // namespace karst::reconcilers
