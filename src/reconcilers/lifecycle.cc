// Lifecycle: a claim's way up (launch, registration, initialization), and the timeouts that end it.
// The timers count from the claim's creation, as Karpenter's do: launch 5 min, registration 15 min.
#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "reconcilers/claim_status.h"
#include "reconcilers/list.h"
#include "reconcilers/offered.h"
#include "reconcilers/queries.h"

namespace karst::reconcilers {
namespace {

// Of an order: types by their cheapest offer, as many as Karpenter names, each with its cheapest
// offers. A few types in every zone would miss the others' capacity; the log keeps every offer.
constexpr std::size_t kOrderTypesMax = 60;
constexpr std::size_t kOrderOffersPerTypeMax = 12;

// `offers` are sorted by price.
void keep_cheapest_types(std::vector<model::Offer>& offers) {
  std::map<std::string, std::size_t> types;
  std::erase_if(offers, [&](const model::Offer& offer) {
    if (!types.contains(offer.instance_type) && types.size() == kOrderTypesMax) return true;
    return ++types[offer.instance_type] > kOrderOffersPerTypeMax;
  });
}

// The offers an order may name: types and capacity types that the claim allows, cheapest first,
// without those that lately had no capacity.
std::vector<model::Offer> offers_for(const ClusterState& state, const Context& context,
                                     const model::NodeClaim& claim) {
  const model::Requirements wanted(claim.requirements);
  std::vector<model::Offer> offers;
  const projections::PoolRow* row = state.pools().find(claim.pool);
  model::NodePool gone;  // of a claim whose pool is deleted meanwhile
  gone.name = claim.pool;
  gone.node_class = claim.node_class;
  const model::NodePool* pool = row == nullptr ? &gone : &row->pool;
  const Offered offered(state, context);
  for (const model::InstanceType& type : offered.types(*pool)) {
    const model::Requirements of_type(type.requirements);
    if (!of_type.intersects(wanted) || !model::fits(claim.requests, type.allocatable)) continue;
    for (const model::Offering& offering : type.offerings) {
      const model::Offer key{type.name, offering.zone, offering.capacity_type, 0,
                             offering.reservation};
      if (!offering.available || state.is_exhausted(key, context.now)) continue;
      const auto allows = [&](std::string_view label, const std::string& value) {
        const model::ValueSet* set = wanted.find(label);
        return set == nullptr || (value.empty() ? set->allows_absence() : set->contains(value));
      };
      if (!allows(model::kZoneLabel, offering.zone) ||
          !allows(model::kCapacityTypeLabel, offering.capacity_type) ||
          !allows(model::kInstanceTypeLabel, type.name) ||
          !std::all_of(offering.labels.begin(), offering.labels.end(),
                       [&](const auto& label) { return allows(label.first, label.second); }))
        continue;
      offers.push_back({type.name, offering.zone, offering.capacity_type,
                        offering.price_nanos_per_hour, offering.reservation});
    }
  }
  std::sort(offers.begin(), offers.end(), [](const model::Offer& a, const model::Offer& b) {
    return std::tie(a.price_nanos_per_hour, a.instance_type, a.zone, a.capacity_type,
                    a.reservation) < std::tie(b.price_nanos_per_hour, b.instance_type, b.zone,
                                              b.capacity_type, b.reservation);
  });
  keep_cheapest_types(offers);
  return offers;
}

// Claims that one order can carry: equal in everything but their names.
std::string order_key(const ClaimRow& row) {
  base::ByteWriter writer;
  writer(row.claim.pool, row.claim.requirements, row.claim.requests, row.claim.taints,
         row.claim.startup_taints, row.claim.labels, row.claim.node_class);
  return writer.take();
}

std::size_t claims_per_order(const ClusterState& state, const Context& context,
                             const model::NodeClaim& claim) {
  const auto* row = state.node_classes().find(claim.node_class);
  return row == nullptr ? model::kLaunchItemsMax
                        : context.provider.claims_per_order(row->node_class);
}

// What the class stands for will be known soon: nobody has asked since the log began or the class
// was changed, or its status does not say yet what was found. Until then the launch would mix this
// spec with what an older one found. As Karpenter's provider for AWS: only Ready=False ends a
// claim, and where nothing is found out, the launch timeout does.
bool is_not_known_yet(const Context& context, const projections::NodeClassRow& row) {
  const model::NodeClass& node_class = row.node_class;
  const bool is_asked = context.provider.depends_on_class() &&
                        context.provider.understands(node_class.ref) &&
                        node_class.deletion_millis == 0;
  const model::Condition& ready = node_class.ready_condition;
  const bool is_said = !ready.type.empty() && ready.status != model::ConditionStatus::kUnknown;
  const bool is_of_older = ready.observed_generation != 0 &&  // 0: it does not say
                           ready.observed_generation != node_class.generation;
  const bool is_refused = is_said && ready.observed_generation == node_class.generation &&
                          ready.status == model::ConditionStatus::kFalse;
  if (!is_asked) return false;
  return row.resolved_at.value() == 0 || (!ready.type.empty() && (!is_said || is_of_older)) ||
         (row.resolved_generation != node_class.generation && !is_refused);
}

// By class the addresses that orders since its subnets were counted may take, those of this pass
// among them: each order is made with all before it in mind.
using Promised = std::map<model::NodeClassRef, std::vector<model::AddressUse>>;

void promise(std::vector<model::AddressUse>& all, const model::AddressUse& use,
             std::int64_t machines) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const model::AddressUse& known) {
    return known.subnet == use.subnet;
  });
  (at != all.end() ? *at : all.emplace_back(model::AddressUse{use.subnet, use.zone, 0})).each +=
      use.each * machines;
}

std::vector<model::AddressUse>& promised_of(Promised& promised,
                                            const projections::NodeClassRow& row) {
  const auto [at, first] = promised.try_emplace(row.node_class.ref);
  if (first)
    for (const projections::PromiseRow& one : row.promised)
      promise(at->second, one.use, one.machines);
  return at->second;
}

void launch(const ClusterState& state, const Context& context, Plan& plan,
            const std::vector<const ClaimRow*>& rows, Promised& promised) {
  std::vector<model::Offer> offers = offers_for(state, context, rows.front()->claim);
  const auto* node_class = state.node_classes().find(rows.front()->claim.node_class);
  const bool unready = node_class != nullptr && !node_class->node_class.ready;
  if (node_class != nullptr && is_not_known_yet(context, *node_class)) return;
  if (offers.empty() || node_class == nullptr || unready) {
    for (const ClaimRow* row : rows)
      if (!plan.full())
        request_delete(state, context, plan, *row,
                       unready ? "nodeclass_not_ready" : "insufficient_capacity", {row->position},
                       row->root);
    return;
  }
  model::Launch order;
  std::vector<providers::LaunchSubject> subjects;
  const std::vector<providers::SeenMemory> memory = seen_memory(state);
  std::vector<model::LaunchKey> keys;
  std::vector<Position> evidence;
  std::vector<model::AddressUse>& taken = promised_of(promised, *node_class);
  for (const ClaimRow* row : rows) {
    const std::uint32_t attempt = row->attempts + 1;
    order.items.push_back({row->claim.uid, row->claim.name, attempt});
    subjects.push_back({&row->claim, attempt, node_class->node_class.spec_json,
                        node_class->resolved, memory, taken});
    keys.push_back({row->claim.uid, attempt});
    evidence.push_back(row->position);
  }
  order.token = model::launch_token(state.config().cluster_uid, keys);
  order.pool = rows.front()->claim.pool;
  order.requests = rows.front()->claim.requests;
  order.offers = std::move(offers);
  order.request = context.provider.encode_launch(catalogue(state, context), subjects, order.token,
                                                 order.offers, to_string(plan.next_id()));
  order.addresses = context.provider.addresses_of(order.request);
  for (const model::AddressUse& use : order.addresses)
    promise(taken, use, static_cast<std::int64_t>(rows.size()));
  plan.command(std::move(order), "launch", std::move(evidence), rows.front()->root);
}

// Whether an order for this claim may be made now; asks for its deletion when there can be none.
bool may_launch(const ClusterState& state, const Context& context, Plan& plan,
                const ClaimRow& row) {
  if (row.attempts > 0 && !row.launch_refused)
    return false;  // under way, or unclear: retry's business
  if (state.log_space_low() || !offers_listed(state)) return false;
  if (row.launch_refused && row.launch_code == model::RefusalCode::kCapacity) {
    request_delete(state, context, plan, row, "insufficient_capacity", {row.launch_command},
                   row.root);
    return false;
  }
  return may_issue(state, context, plan, claim_subject(row.claim.name),
                   model::CommandKind::kLaunch);
}

// The labels that Karpenter's registration puts on a node: the claim's own win.
model::Labels node_labels(const ClusterState& state, const Context& context, const ClaimRow& row) {
  model::Labels labels = machine_labels(state, context, row);
  for (const auto& [key, value] : row.claim.labels) model::set_label(labels, key, value);
  model::set_label(labels, model::kRegisteredLabel, "true");
  return labels;
}

void register_node(const ClusterState& state, const Context& context, Plan& plan,
                   const ClaimRow& row, const NodeRow& node) {
  if (!may_issue(state, context, plan, node_subject(node.node.name), model::CommandKind::kSyncNode))
    return;
  model::SyncNode sync;
  sync.node = node.node.name;
  sync.uid = node.node.uid;
  sync.labels = node_labels(state, context, row);
  sync.annotations = row.claim.annotations;
  sync.add_taints = row.claim.taints;
  sync.add_taints.insert(sync.add_taints.end(), row.claim.startup_taints.begin(),
                         row.claim.startup_taints.end());
  if (model::label_value(node.node.labels, "karpenter.sh/do-not-sync-taints") == "true")
    sync.add_taints.clear();
  sync.remove_taints = {
      {std::string(model::kUnregisteredTaintKey), "", model::TaintEffect::kNoExecute}};
  sync.add_finalizer = true;
  sync.owner = row.claim.name;
  sync.owner_uid = row.claim.uid;
  plan.command(std::move(sync), "registered", {node.position, row.position}, row.root);
}

void initialize_node(const ClusterState& state, const Context& context, Plan& plan,
                     const ClaimRow& row, const NodeRow& node) {
  if (!may_issue(state, context, plan, node_subject(node.node.name), model::CommandKind::kSyncNode))
    return;
  model::SyncNode sync;
  sync.node = node.node.name;
  sync.uid = node.node.uid;
  model::set_label(sync.labels, model::kInitializedLabel, "true");
  plan.command(std::move(sync), "initialized", {node.position, row.position}, row.root);
}

// Ends the claim when `limit` has passed since its creation; asks for a wake-up otherwise. True
// when it ended.
bool timed_out(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row,
               std::int64_t limit_millis, std::string_view why) {
  const LogTime at = row.created_at + limit_millis;
  if (context.now < at) {
    plan.wake_at(at);
    return false;
  }
  request_delete(state, context, plan, row, why, {row.position, row.launch_command}, row.root);
  return true;
}

bool expired(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row) {
  if (!row.claim.expire_after_millis || row.claim.creation_millis == 0) return false;
  if (state.wall_clock_wrong() || state.log_space_low()) return false;
  const LogTime at(row.claim.creation_millis + *row.claim.expire_after_millis);
  if (context.now < at) {
    plan.wake_at(at);
    return false;
  }
  request_delete(state, context, plan, row, "expired", {row.position}, {});
  return true;
}

// Everything but launching. True when the claim waits to be launched.
bool advance(const ClusterState& state, const Context& context, Plan& plan, const ClaimRow& row) {
  if (row.gone_at.value() != 0) {
    request_delete(state, context, plan, row, "garbage_collected", {row.position}, row.root);
    return false;
  }
  if (!row.launched()) {
    if (timed_out(state, context, plan, row, state.config().launch_timeout_millis,
                  "launch_timeout"))
      return false;
    return may_launch(state, context, plan, row);
  }
  if (expired(state, context, plan, row)) return false;
  const NodeRow* node = state.node_of(row);
  if (row.registered_at.value() == 0) {
    if (timed_out(state, context, plan, row, state.config().registration_timeout_millis,
                  "registration_timeout"))
      return false;
    if (node != nullptr && node->node.deletion_millis == 0 && !several_nodes(state, row))
      register_node(state, context, plan, row, *node);
  } else if (row.initialized_at.value() == 0 && node != nullptr &&
             not_initialized(row, node->node).reason.empty()) {
    initialize_node(state, context, plan, row, *node);
  }
  return false;
}

}  // namespace

void reconcile_lifecycle(const ClusterState& state, const Context& context, Plan& plan) {
  if (!state.listed("NodeClaim") || !state.listed("Node") || !state.listed("Instance")) return;
  std::map<std::string, std::vector<const ClaimRow*>> orders;
  for (const model::ClaimName& name : state.restless()) {
    const ClaimRow& row = *state.claims().find(name);
    if (plan.full()) return;
    if (row.leaving() || row.claim.uid.empty() || !ours(row, context)) continue;
    if (!row.claim.has_finalizer) {  // without it the object could vanish before its instance
      if (row.observed &&
          may_issue(state, context, plan, claim_subject(name), model::CommandKind::kSetFinalizer))
        plan.command(
            model::SetFinalizer{
                {model::ObjectKind::kNodeClaim, "", name.str(), row.claim.uid.str()}, true},
            "adopted", {row.position}, row.root);
      continue;
    }
    if (advance(state, context, plan, row)) orders[order_key(row)].push_back(&row);
  }
  for (const auto& [at, name] : state.expiries()) {
    const ClaimRow& row = *state.claims().find(name);
    if (!ours(row, context)) continue;
    if (plan.full() || (!expired(state, context, plan, row) && at > context.now))
      break;  // the others expire later
  }
  Promised promised;
  for (const auto& [key, rows] : orders) {
    const std::size_t most = claims_per_order(state, context, rows.front()->claim);
    for (std::size_t first = 0; first < rows.size() && !plan.full(); first += most)
      launch(state, context, plan,
             {rows.begin() + static_cast<std::ptrdiff_t>(first),
              rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), first + most))},
             promised);
  }
}

}  // namespace karst::reconcilers
