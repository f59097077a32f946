// Drift: condition Drifted of claims whose machine is no longer what their pool and class say, in
// the words and the order of Karpenter (v1.14). What nobody can tell changes nothing: a stamp that
// is on its way, a class whose selectors have not been answered, a machine that was not listed yet.
#include <algorithm>
#include <functional>
#include <optional>

#include "base/time.h"
#include "model/find_type.h"
#include "model/pool_hash.h"
#include "reconcilers/claim_status.h"
#include "reconcilers/list.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

// That a type is not sold counts of claims that are older.
constexpr std::int64_t kYoungMillis = 60 * base::kMillisPerMinute;

// What condition Drifted should say; empty: it should not be there. nullopt: as it is.
using Drift = std::optional<std::string>;

// ---- what has changed since the last look ----

DriftKept::PoolStamp stamp_of(const model::NodePool& pool) {
  return {pool.hash, pool.hash_version, model::pool_hash(pool), pool.requirements};
}

// Pools that say something else, or have gone.
std::set<model::PoolName> changed_pools(const ClusterState& state, DriftKept& kept) {
  std::set<model::PoolName> changed;
  std::erase_if(kept.pools, [&](const auto& one) {
    if (state.pools().contains(one.first)) return false;
    changed.insert(one.first);
    return true;
  });
  for (const auto& [name, slot] : state.pools().slots()) {
    const auto [at, is_new] = kept.pools.try_emplace(name);
    if (!is_new && at->second.position == slot.row.position) continue;
    at->second.position = slot.row.position;
    DriftKept::PoolStamp stamp = stamp_of(slot.row.pool);
    if (!is_new && at->second.stamp == stamp) continue;  // its status, most of the time
    at->second.stamp = std::move(stamp);
    changed.insert(name);
  }
  return changed;
}

std::set<model::NodeClassRef> changed_classes(const ClusterState& state, DriftKept& kept) {
  std::set<model::NodeClassRef> changed;
  std::erase_if(kept.classes, [&](const auto& one) {
    if (state.node_classes().contains(one.first)) return false;
    changed.insert(one.first);
    return true;
  });
  for (const auto& [ref, slot] : state.node_classes().slots()) {
    const DriftKept::Class now{slot.row.position, slot.row.resolved_position};
    const auto [at, is_new] = kept.classes.try_emplace(ref);
    if (!is_new && at->second == now) continue;
    at->second = now;
    changed.insert(ref);
  }
  return changed;
}

// The catalogue that is embedded stands in until the cloud has told of its own: of what is not in
// there nothing is known. A cloud without an account has no other.
bool changed_catalogue(const ClusterState& state, const Context& context, DriftKept& kept) {
  const auto* row = state.catalogues().find(context.provider.name());
  const Position now = row == nullptr ? Position() : row->position;
  if (kept.catalogue == now) return false;
  kept.catalogue = now;
  kept.catalogue_told = row != nullptr && (!context.provider.depends_on_class() ||
                                           row->catalogue != context.provider.embedded_catalogue());
  kept.zones.clear();
  for (const model::InstanceType& type : catalogue(state, context).types)
    for (const model::Offering& one : type.offerings) kept.zones.insert(one.zone);
  return true;
}

// Claims that are to be looked at, and by whose change.
std::set<model::ClaimName> to_look_at(const ClusterState& state, const Context& context,
                                      DriftKept& kept) {
  if (kept.log != state.log_id() || state.last_position() < kept.seen) {
    kept = {};
    kept.log = state.log_id();
  }
  std::set<model::ClaimName> due;
  const Position next(kept.seen.value() + 1);
  for (auto at = state.changes().lower_bound({next, {}}); at != state.changes().end(); ++at)
    due.insert(at->second);
  const bool all = changed_catalogue(state, context, kept);
  const std::set<model::PoolName> pools = changed_pools(state, kept);
  const std::set<model::NodeClassRef> classes = changed_classes(state, kept);
  if (all || !pools.empty() || !classes.empty())
    for (const auto& [name, slot] : state.claims().slots())
      if (all || pools.contains(slot.row.claim.pool) || classes.contains(slot.row.claim.node_class))
        due.insert(name);
  while (!kept.young.empty() && kept.young.begin()->first <= context.now) {
    due.insert(kept.young.begin()->second);
    kept.young.erase(kept.young.begin());
  }
  kept.seen = state.last_position();
  return due;
}

// ---- what a claim is compared with ----

// nullopt: the pool's own annotation is about to change, and the claim may be ahead of it.
Drift pool_drift(const DriftKept::PoolStamp& pool, const model::NodeClaim& claim) {
  const auto hash = model::label_value(claim.annotations, model::kPoolHashAnnotation);
  const auto version = model::label_value(claim.annotations, model::kPoolHashVersionAnnotation);
  if (pool.hash.empty() || hash.empty() || version.empty() || pool.hash_version != version)
    return "";
  if (version == model::kPoolHashVersion && pool.hash != pool.template_hash) return std::nullopt;
  return pool.hash == hash ? "" : "NodePoolDrifted";
}

// Labels that the claim was not given when it was launched are those of its machine all the same.
bool meets(const ClusterState& state, const Context& context, const ClaimRow& row,
           const model::Requirements& pool) {
  model::Labels asked;  // of dozens
  for (const auto& label : row.claim.labels)
    if (pool.find(label.first) != nullptr) asked.push_back(label);
  if (model::Requirements::from_labels(asked).incompatible(pool, {}).empty()) return true;
  for (const auto& [key, value] : machine_labels(state, context, row))
    if (!model::has_label(asked, key)) model::set_label(asked, key, value);
  return model::Requirements::from_labels(asked).incompatible(pool, {}).empty();
}

// Whether such a machine is still sold in its zone, as whatever: what has no price at the moment is
// not in the catalogue, and has not gone for that. What is not told of is taken to be.
bool is_sold(const ClusterState& state, const Context& context, const DriftKept& kept,
             const model::NodeClaim& claim) {
  const auto name = model::label_value(claim.labels, model::kInstanceTypeLabel);
  const auto zone = model::label_value(claim.labels, model::kZoneLabel);
  if (!kept.catalogue_told || !kept.zones.contains(zone)) return true;
  const model::InstanceType* type = model::find_type(catalogue(state, context).types, name);
  return type != nullptr &&
         std::any_of(type->offerings.begin(), type->offerings.end(),
                     [&](const model::Offering& one) { return one.zone == zone; });
}

// One look: what the pool says at once, and what the provider has to say in the end.
class Look {
 public:
  Look(const ClusterState& state, const Context& context, DriftKept& kept)
      : state_(state), context_(context), kept_(kept) {}

  void at(const model::ClaimName& name) {
    kept_.news.erase(name);
    const ClaimRow* row = state_.claims().find(name);
    if (row == nullptr || !row->observed || row->leaving() || row->gone_at.value() != 0 ||
        !ours(*row, context_))
      return;
    if (!row->launched()) return tell(*row, "");
    // Its labels come with the launch; before that it has none to compare.
    const auto pool = kept_.pools.find(row->claim.pool);
    if (pool == kept_.pools.end() ||
        !model::has_label(row->claim.labels, model::kInstanceTypeLabel))
      return;
    const Drift drift = by_pool(*row, pool->second.stamp);
    if (!drift || !drift->empty()) return tell(*row, drift);
    by_class_[row->claim.node_class].push_back(row);
  }

  // Claims of a class that is not there, or goes, are compared with nothing, as in Karpenter.
  void finish() {
    for (const auto& [ref, rows] : by_class_) {
      const auto* known = state_.node_classes().find(ref);
      const bool stays = known != nullptr && known->node_class.deletion_millis == 0;
      const bool asked = !context_.provider.depends_on_class() ||
                         (stays && known->resolved_at.value() != 0 &&
                          known->resolved_generation == known->node_class.generation);
      if (stays && !asked) continue;
      std::vector<Drift> drifts(rows.size(), "");
      if (stays) drifts = by_provider(*known, rows);
      for (std::size_t i = 0; i < rows.size(); ++i) tell(*rows[i], drifts[i]);
    }
  }

 private:
  Drift by_pool(const ClaimRow& row, const DriftKept::PoolStamp& pool) {
    const model::NodeClaim& claim = row.claim;
    if (Drift drift = pool_drift(pool, claim); !drift || !drift->empty()) return drift;
    if (!meets(state_, context_, row, requirements_of(claim.pool, pool)))
      return "RequirementsDrifted";
    if (is_sold(state_, context_, kept_, claim)) return "";
    const LogTime old(claim.creation_millis + kYoungMillis);
    if (old <= context_.now) return "InstanceTypeNotFound";
    kept_.young.insert({old, claim.name});
    return "";
  }

  std::vector<Drift> by_provider(const projections::NodeClassRow& node_class,
                                 const std::vector<const ClaimRow*>& rows) const {
    std::vector<providers::DriftSubject> subjects;
    for (const ClaimRow* row : rows) {
      const auto* machine = state_.instances().find(row->instance.provider_id);
      subjects.push_back({&row->claim, machine == nullptr ? nullptr : &machine->instance});
    }
    return context_.provider.drift_of(catalogue(state_, context_), node_class.node_class,
                                      node_class.resolved, subjects);
  }

  const model::Requirements& requirements_of(const model::PoolName& name,
                                             const DriftKept::PoolStamp& pool) {
    const auto at = requirements_.find(name);
    if (at != requirements_.end()) return at->second;
    return requirements_.emplace(name, model::Requirements(pool.requirements)).first->second;
  }

  void tell(const ClaimRow& row, const Drift& drift) {
    if (!drift) return;
    const auto& conditions = row.claim.conditions;
    const auto shown =
        std::find_if(conditions.begin(), conditions.end(),
                     [](const model::Condition& one) { return one.type == kDrifted; });
    const bool right = drift->empty() ? shown == conditions.end()
                                      : shown != conditions.end() && shown->reason == *drift &&
                                            shown->status == model::ConditionStatus::kTrue;
    if (!right) kept_.news[row.claim.name] = *drift;
  }

  const ClusterState& state_;
  const Context& context_;
  DriftKept& kept_;
  std::map<model::PoolName, model::Requirements> requirements_;
  std::map<model::NodeClassRef, std::vector<const ClaimRow*>> by_class_;
};

// ---- what is shown ----

// What it follows from, the most telling first.
std::vector<Position> grounds_of(const ClusterState& state, const ClaimRow& row,
                                 const DriftKept& kept, const std::string& reason) {
  const auto* pool = state.pools().find(row.claim.pool);
  const auto* node_class = state.node_classes().find(row.claim.node_class);
  if (reason == "InstanceTypeNotFound") return {kept.catalogue, row.position};
  if ((reason == "NodePoolDrifted" || reason == "RequirementsDrifted") && pool != nullptr)
    return {pool->position, row.position};
  if (!reason.empty() && node_class != nullptr)
    return {node_class->resolved_position, node_class->position, row.position};
  return {row.position};
}

void show_drift(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row,
                const DriftKept& kept, const std::string& reason) {
  Conditions conditions(row.claim.conditions, kClaimGeneration);
  if (reason.empty())
    conditions.clear(kDrifted);
  else
    conditions.set(kDrifted, model::ConditionStatus::kTrue, reason, reason, context.now);
  model::MirrorClaim mirror;  // of this condition alone
  mirror.name = row.claim.name;
  mirror.uid = row.claim.uid;
  mirror.conditions = conditions.said();
  mirror.cleared = conditions.cleared();
  plan.command(std::move(mirror), reason.empty() ? "not_drifted" : "drifted",
               grounds_of(state, row, kept, reason), row.root);
}

}  // namespace

void reconcile_drift(const ClusterState& state, const Context& context, Plan& plan) {
  for (const std::string_view kind : {"NodePool", "NodeClass", "NodeClaim", "Instance"})
    if (!state.listed(kind)) return;
  DriftKept& kept = context.class_types.drift();
  Look look(state, context, kept);
  for (const model::ClaimName& name : to_look_at(state, context, kept)) look.at(name);
  look.finish();
  if (!kept.young.empty()) plan.wake_at(kept.young.begin()->first);
  std::erase_if(kept.news, [&](const auto& one) { return !state.claims().contains(one.first); });
  for (const auto& [name, reason] : kept.news) {
    if (plan.full()) return;
    if (may_issue(state, context, plan, claim_subject(name), model::CommandKind::kMirrorClaim))
      show_drift(state, context, plan, *state.claims().find(name), kept, reason);
  }
}

}  // namespace karst::reconcilers
