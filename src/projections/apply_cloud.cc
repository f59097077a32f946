// The fold of what clouds tell: catalogues and prices, instances, interruptions, what node classes
// find.
#include <algorithm>
#include <utility>

#include "projections/apply.h"

namespace karst::projections {
namespace {

constexpr std::uint32_t kExhaustedDoublingsMax = 3;
// What lacked capacity so long ago is as good as any other.
constexpr std::int64_t kExhaustedForgottenMillis = 60 * base::kMillisPerMinute;

model::Offer key_of(model::Offer offer) {
  offer.price_nanos_per_hour = 0;
  return offer;
}

}  // namespace

void Apply::operator()(const events::CatalogueObserved& e) const {
  s.catalogues_.edit(e.catalogue.provider, [&](CatalogueRow& row) {
    row.read.see_catalogue(row.catalogue, e.catalogue, now);
    row.catalogue = e.catalogue;
    row.position = at.position;
  });
}

void Apply::operator()(const events::PricesObserved& e) const {
  s.catalogues_.edit_if(e.update.provider, [&](CatalogueRow& row) {
    take_prices(row.catalogue, e.update.prices);
    row.read.see_reading(e.on_demand_read, e.spot_read, now);
    if (!e.update.prices.empty()) row.position = at.position;
  });
}

void Apply::operator()(const events::InterruptionReceived& e) const {
  const model::Interruption& message = e.interruption;
  const bool matched = s.claim_by_provider_id(message.provider_id) != nullptr;
  s.interruptions_.edit(message.message, [&](InterruptionRow& row) {
    row.interruption = message;
    row.position = at.position;
    row.received_at = now;
    row.matched = matched;
  });
  s.messages_by_position_[at.position] = message.message;
  if (!matched) s.unmatched_[model::machine_of(message.provider_id)].push_back(message.message);
  while (s.messages_by_position_.size() > kMessagesRemembered)
    forget_message(s.messages_by_position_.begin()->first);
  if (const ClaimRow* claim = s.claim_by_provider_id(message.provider_id))
    interrupt(claim->claim.name, message);
}

// A message may come before the launch's answer, or before the claim that has its machine is
// listed.
void Apply::take_messages(const ClaimRow& claim) const {
  const auto waiting = s.unmatched_.find(model::machine_of(claim.instance.provider_id));
  if (waiting == s.unmatched_.end()) return;
  const std::vector<model::MessageId> messages = std::move(waiting->second);
  s.unmatched_.erase(waiting);
  for (const model::MessageId& message : messages) {
    s.interruptions_.edit_if(message, [](InterruptionRow& row) { row.matched = true; });
    if (const InterruptionRow* row = s.interruptions_.find(message))
      interrupt(claim.claim.name, row->interruption);
  }
}

void Apply::forget_message(Position position) const {
  const model::MessageId message = s.messages_by_position_.at(position);
  s.messages_by_position_.erase(position);
  if (const InterruptionRow* row = s.interruptions_.find(message)) {
    const auto waiting = s.unmatched_.find(model::machine_of(row->interruption.provider_id));
    if (waiting != s.unmatched_.end()) {
      std::erase(waiting->second, message);
      if (waiting->second.empty()) s.unmatched_.erase(waiting);
    }
  }
  s.interruptions_.erase(message);
}

void Apply::interrupt(model::ClaimName name, const model::Interruption& message) const {
  const InterruptionRow* logged = s.interruptions_.find(message.message);
  if (message.kind == model::InterruptionKind::kOther ||
      message.kind == model::InterruptionKind::kRebalanceRecommendation)
    return;
  const ClaimRow& claim = *s.claims_.find(name);
  const model::Offer& offer = claim.instance.offer;
  const bool spot =
      message.kind == model::InterruptionKind::kSpotInterruption && offer.capacity_type == "spot";
  const bool lent = message.kind == model::InterruptionKind::kReservationInterruption &&
                    !offer.reservation.empty();
  // What was told before of the machine's end may have said nothing of its offer.
  const bool again = claim.interrupted_at.value() != 0 && claim.interruption_kind == message.kind;
  if (!again && (spot || lent)) shut(offer);
  s.edit_claim(name, [&](ClaimRow& row) {
    if (row.interrupted_at.value() == 0) {
      row.interrupted_at = now;
      row.interruption_kind = message.kind;
      row.interruption = logged == nullptr ? at.position : logged->position;
    }
    if (row.deadline_millis == 0 ||
        (message.deadline_millis != 0 && message.deadline_millis < row.deadline_millis))
      row.deadline_millis = message.deadline_millis;
  });
}

// A hit while the offer is shut is of an order that was under way by then: it says nothing new, or
// one wave of orders would shut the offer for the longest time.
void Apply::exhaust(const model::Offer& offer) const {
  s.exhausted_.edit(key_of(offer), [&](ExhaustedRow& row) {
    if (row.until + kExhaustedForgottenMillis <= now) row.failures = 0;
    if (row.until <= now || row.failures == 0) ++row.failures;
    const std::int64_t wait = s.config_.capacity_back_off_millis
                              << std::min(row.failures - 1, kExhaustedDoublingsMax);
    row.until = std::max(row.until, now + wait);
  });
}

// What is taken back is lacking: the next machine of that offer would go the same way.
void Apply::shut(const model::Offer& offer) const {
  s.exhausted_.edit(key_of(offer), [&](ExhaustedRow& row) {
    row.until = std::max(row.until, now + s.config_.capacity_back_off_millis);
  });
}

void Apply::has_capacity(const model::Offer& offer) const {
  s.exhausted_.erase(key_of(offer));
  s.exhausted_.erase(model::Offer{"", "", offer.capacity_type, 0, ""});
}

void Apply::operator()(const events::InstanceObserved& e) const {
  observe_instance(e.instance, true);
}

void Apply::observe_instance(const model::Instance& instance, bool listed) const {
  if (instance.state == model::InstanceState::kTerminated) {
    instance_gone(instance.provider_id);
    return;
  }
  if (const InstanceRow* known = s.instances_.find(instance.provider_id);
      known != nullptr && known->instance.claim != instance.claim)
    leave_siblings(instance.provider_id, known->instance.claim);
  s.instances_.edit(instance.provider_id, [&](InstanceRow& row) {
    if (row.seen_at.value() == 0) row.seen_at = now;
    const model::Instance before = std::exchange(row.instance, instance);
    // A launch's answer that comes again does not tell where the machine stands.
    if (!listed && instance.subnet.empty()) {
      row.instance.subnet = before.subnet;
      row.instance.security_groups = before.security_groups;
    }
    row.position = at.position;
    row.listed = row.listed || listed;
    row.missing = false;
  });
  s.instances_by_claim_[instance.claim].insert(instance.provider_id);
  s.index_instance(instance.provider_id);
  if (const ClaimRow* owner = s.claim_by_provider_id(instance.provider_id))
    return s.index_change(owner->claim.name);  // it stays that claim's
  const ClaimRow* claim = s.claim_by_uid(instance.claim);
  if (claim == nullptr || claim->launched() ||
      instance.state == model::InstanceState::kShuttingDown)
    return;
  // Only the attempt that is under way or unclear may claim its instance; a refused one that shows
  // up late is an orphan.
  if (claim->launch_refused || claim->attempts != instance.attempt) return;
  launched(claim->claim.name, instance);
}

// One observation is one node's, so a position is one figure's.
void Apply::see_memory(const ClaimRow& claim, const model::Node& node) const {
  if (claim.registered_at.value() == 0 || node.capacity.memory_bytes <= 0) return;
  const InstanceRow* instance = s.instances_.find(claim.instance.provider_id);
  const std::string& image = claim.instance.image.empty() && instance != nullptr
                                 ? instance->instance.image
                                 : claim.instance.image;
  const std::pair machines{claim.instance.offer.instance_type, image};
  if (machines.first.empty() || machines.second.empty()) return;
  const SeenMemoryRow* known = s.seen_memory_.find(machines);
  if (known != nullptr && known->bytes <= node.capacity.memory_bytes) return;
  if (known != nullptr) s.memory_by_position_.erase(known->position);
  s.seen_memory_.edit(machines,
                      [&](SeenMemoryRow& row) { row = {node.capacity.memory_bytes, at.position}; });
  s.memory_by_position_[at.position] = machines;
  while (s.memory_by_position_.size() > kSeenMemoryMax) {
    const auto oldest = s.memory_by_position_.begin();
    s.seen_memory_.erase(oldest->second);
    s.memory_by_position_.erase(oldest);
  }
}

void Apply::operator()(const events::InstanceGone& e) const {
  s.instances_.edit_if(e.provider_id, [](InstanceRow& row) { row.missing = true; });
  s.index_instance(e.provider_id);
  forget_nobodys(e.provider_id);
}

// A machine that Karpenter launched, whose claim has gone: nobody here has to prove that it has,
// too.
void Apply::forget_nobodys(const model::ProviderId& id) const {
  const InstanceRow* row = s.instances_.find(id);
  if (row == nullptr || !row->missing || !row->instance.claim.empty() ||
      s.claim_by_provider_id(id) != nullptr)
    return;
  drop_instance(id);
}

void Apply::drop_instance(const model::ProviderId& id) const {
  if (const InstanceRow* row = s.instances_.find(id)) leave_siblings(id, row->instance.claim);
  s.instances_.erase(id);
  s.index_instance(id);
  forget_subject("instance/" + id.str());
}

void Apply::instance_found(const model::ProviderId& id) const {
  s.instances_.edit_if(id, [&](InstanceRow& row) { row.found_at = now; });
  if (const ClaimRow* claim = s.claim_by_provider_id(id))
    s.edit_claim(model::ClaimName(claim->claim.name), [&](ClaimRow& row) { row.found_at = now; });
}

void Apply::leave_siblings(const model::ProviderId& id, const model::ClaimUid& claim) const {
  const auto siblings = s.instances_by_claim_.find(claim);
  if (siblings == s.instances_by_claim_.end()) return;
  siblings->second.erase(id);
  if (siblings->second.empty()) s.instances_by_claim_.erase(siblings);
}

void Apply::instance_gone(const model::ProviderId& id) const {
  drop_instance(id);
  for (const model::NodeName& name : s.nodes_by_provider_id(id))
    s.nodes_.edit(name, [&](NodeRow& row) { row.machine_gone_at = now; });
  if (const ClaimRow* claim = s.claim_by_provider_id(id))
    s.edit_claim(model::ClaimName(claim->claim.name), [&](ClaimRow& row) {
      if (row.gone_at.value() == 0) row.gone_at = now;
    });
}

void Apply::class_resolved(const model::ResolveNodeClass& asked, const std::string& resolution,
                           Position command) const {
  const NodeClassRow* known = s.node_classes_.find(asked.ref);
  if (known == nullptr || known->node_class.uid != asked.uid) return;
  s.node_classes_.edit(asked.ref, [&](NodeClassRow& row) {
    const bool same = !asked.known.empty() && resolution.empty();
    if (!same || row.resolved_generation != asked.generation) row.resolved_position = at.position;
    if (!same) row.resolved = resolution;
    row.resolved_generation = asked.generation;
    row.resolved_at = now;
    // Its count is of after the machines that were known to be there when it was asked for.
    std::erase_if(row.promised, [&](const PromiseRow& one) {
      return one.settled != Position() && one.settled < command;
    });
  });
}

void Apply::promise_addresses(const model::Launch& launch) const {
  if (launch.addresses.empty() || launch.items.empty()) return;
  const ClaimRow* claim = s.claims_.find(launch.items.front().name);
  if (claim == nullptr) return;
  s.node_classes_.edit_if(claim->claim.node_class, [&](NodeClassRow& row) {
    for (const model::AddressUse& use : launch.addresses)
      row.promised.push_back(
          {at.position, use, static_cast<std::int64_t>(launch.items.size()), {}});
    if (row.promised.size() > kPromisesMax)
      row.promised.erase(row.promised.begin(), row.promised.end() - kPromisesMax);
  });
}

// What was launched counts until the next count has it; of a subnet that is full, nothing is left
// until then.
void Apply::settle_addresses(Position command, const model::Outcome* outcome) const {
  std::vector<model::NodeClassRef> classes;  // one; its claims may be gone
  for (const auto& [ref, slot] : s.node_classes_.slots())
    for (const PromiseRow& one : slot.row.promised)
      if (one.launch == command && (classes.empty() || classes.back() != ref))
        classes.push_back(ref);
  for (const model::NodeClassRef& ref : classes)
    s.node_classes_.edit(ref, [&](NodeClassRow& row) {
      for (PromiseRow& one : row.promised) {
        if (one.launch != command) continue;
        one.settled = at.position;
        if (outcome == nullptr) continue;
        const auto& full = outcome->full_subnets;
        one.machines = std::count_if(
            outcome->instances.begin(), outcome->instances.end(),
            [&](const model::Instance& made) { return made.offer.zone == one.use.zone; });
        if (std::find(full.begin(), full.end(), one.use.subnet) == full.end()) continue;
        one.use.each = kAllAddresses;
        one.machines = 1;
      }
      std::erase_if(row.promised, [](const PromiseRow& one) { return one.machines == 0; });
    });
}

void Apply::class_stamped(const model::SyncNodeClass& asked) const {
  if (asked.hash.empty()) return;
  s.node_classes_.edit_if(asked.ref, [&](NodeClassRow& row) { row.stamped = asked.hash; });
}

void Apply::class_released(const model::ReleaseNodeClass& asked) const {
  s.node_classes_.edit_if(asked.ref, [&](NodeClassRow& row) {
    if (row.node_class.uid == asked.uid) row.released = at.position;
  });
}

void Apply::status_told(const model::MirrorStatus& told) const {
  if (!s.node_classes_.contains(model::NodeClassRef{told.group, told.kind, told.name}) &&
      !s.objects_.contains(model::ObjectKey{told.kind, told.namespace_name, told.name}))
    return;  // gone in between
  s.told_.edit(model::subject_of(told), [&](model::MirrorStatus& row) { row = told; });
}

}  // namespace karst::projections
