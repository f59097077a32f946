#include "sim/cloud.h"

#include <utility>

#include "sim/refusal.h"

namespace karst::sim {

namespace {

constexpr std::int64_t kTerminatedVisibleMillis = 60'000;
constexpr std::int64_t kListLagMillis = 120'000;  // younger instances may be missing from a list

}  // namespace

bool Cloud::has_capacity(const model::Offer& offer) {
  const model::Offer key = key_of(offer);
  if (core_.faults.strikes(Fault::kNoCapacity))
    run_dry(key, core_.now() + core_.faults.rng().between(60'000, 300'000));
  const auto dry = dry_until_.find(key);
  if (dry != dry_until_.end() && core_.now() < dry->second && core_.faults.storming()) return false;
  return type_of(offer) != nullptr;
}

const model::InstanceType* Cloud::type_of(const model::Offer& offer) const {
  for (const model::InstanceType& type : scenario_.catalogue.types) {
    if (type.name != offer.instance_type) continue;
    for (const model::Offering& offering : type.offerings)
      if (offering.zone == offer.zone && offering.capacity_type == offer.capacity_type)
        return &type;
  }
  return nullptr;
}

model::Outcome Cloud::launch(const model::Launch& order, const model::CommandId& id, bool late) {
  model::Outcome outcome;
  if (const auto known = orders_.find(order.token.str()); known != orders_.end()) {
    if (known->second.request != order.request)
      return refused(model::RefusalCode::kInvalid, "IdempotentParameterMismatch: token " +
                                                       order.token.str() +
                                                       " was used with other parameters");
    for (const std::string& instance : known->second.instances)
      outcome.instances.push_back(machines_.at(instance).instance);
    return outcome;
  }
  std::vector<model::Offer> left = order.offers;
  std::size_t wanted = order.items.size();
  if (wanted > 1 && core_.faults.strikes(Fault::kPartialFleet))
    wanted = static_cast<std::size_t>(
        core_.faults.rng().between(1, static_cast<std::int64_t>(wanted) - 1));
  Order sold{order.request, {}};
  for (const model::LaunchItem& item : order.items) {
    if (sold.instances.size() == wanted) break;
    while (!left.empty() && !has_capacity(left.front())) {
      outcome.exhausted.push_back(left.front());
      left.erase(left.begin());
    }
    if (left.empty()) break;
    const Machine& machine = start(item, order, left.front(), id, late);
    sold.instances.push_back(machine.instance.provider_id.str());
    outcome.instances.push_back(machine.instance);
  }
  if (sold.instances.empty()) {
    std::vector<model::Offer> exhausted = std::move(outcome.exhausted);
    outcome = refused(model::RefusalCode::kCapacity,
                      "InsufficientInstanceCapacity: none of the offers can be had");
    outcome.exhausted = std::move(exhausted);
    return outcome;
  }
  orders_[order.token.str()] = std::move(sold);
  return outcome;
}

Machine& Cloud::start(const model::LaunchItem& item, const model::Launch& order,
                      const model::Offer& offer, const model::CommandId& id, bool late) {
  const model::InstanceType& type = *type_of(offer);
  const model::ProviderId provider_id("kwok://" + core_.fresh_uid("i"));
  Machine& machine = machines_[provider_id.str()];
  machine.pool = order.pool;
  machine.instance.provider_id = provider_id;
  machine.instance.claim = item.claim;
  machine.instance.attempt = item.attempt;
  machine.instance.command_tag = model::to_string(id);
  machine.instance.offer = offer;
  machine.instance.capacity = type.capacity;
  machine.instance.allocatable = type.allocatable;
  machine.instance.image = "image-1";
  machine.instance.launch_millis = core_.now();
  core_.history.instances[provider_id.str()] =
      InstanceRecord{machine.instance, order.pool, id.position, core_.now(), -1, "", late};
  if (core_.narrated())
    core_.tell("machine " + provider_id.str() + " (" + offer.instance_type + ", " + offer.zone +
               ", " + offer.capacity_type + ") launched for " + item.name.str());
  core_.after(1'000, [this, key = provider_id.str()] {
    Machine& started = machines_.at(key);
    if (started.instance.state == model::InstanceState::kPending)
      started.instance.state = model::InstanceState::kRunning;
  });
  if (on_launched) on_launched(machine);
  return machine;
}

model::Outcome Cloud::terminate(const model::Terminate& order) {
  const auto at = machines_.find(order.provider_id.str());
  if (at == machines_.end() || !at->second.alive()) return {};
  if (at->second.instance.claim != order.claim)
    return refused(model::RefusalCode::kConflict, "the machine is another claim's: left alone");
  if (core_.faults.strikes(Fault::kTerminateIgnored)) return {};
  at->second.instance.state = model::InstanceState::kShuttingDown;
  core_.tell("machine " + order.provider_id.str() + " shuts down");
  if (on_gone) on_gone(order.provider_id);
  const std::int64_t slow =
      core_.faults.strikes(Fault::kTerminateSlow) ? core_.faults.rng().between(10'000, 60'000) : 0;
  core_.after(
      slow + core_.delay(scenario_.timing.shut_down.first, scenario_.timing.shut_down.second),
      [this, key = order.provider_id.str()] { end(key, "terminated"); });
  model::Outcome outcome;
  outcome.instances.push_back(at->second.instance);
  return outcome;
}

void Cloud::lose(const model::ProviderId& id, const std::string& why) {
  const auto at = machines_.find(id.str());
  if (at == machines_.end() || !at->second.alive()) return;
  core_.tell("machine " + id.str() + " is gone: " + why);
  if (on_gone) on_gone(id);
  end(id.str(), why);
}

void Cloud::end(const std::string& provider_id, const std::string& why) {
  Machine& machine = machines_.at(provider_id);
  if (machine.instance.state == model::InstanceState::kTerminated) return;
  machine.instance.state = model::InstanceState::kTerminated;
  machine.terminated_at = core_.now();
  InstanceRecord& record = core_.history.instances.at(provider_id);
  record.gone_at = core_.now();
  record.end = why;
}

model::Outcome Cloud::find(const model::FindInstances& search) const {
  model::Outcome outcome;
  for (const auto& [id, machine] : machines_) {
    const bool wanted = search.provider_id.empty()
                            ? machine.instance.claim == search.claim
                            : machine.instance.provider_id == search.provider_id;
    const bool forgotten = machine.terminated_at >= 0 &&
                           core_.now() - machine.terminated_at > kTerminatedVisibleMillis;
    if (wanted && !forgotten) outcome.instances.push_back(machine.instance);
  }
  return outcome;
}

void Cloud::connect() {
  const std::uint64_t connection = core_.connection;
  core_.after(100, [this, connection] {
    if (connection != core_.connection) return;
    core_.emit(events::CatalogueObserved{scenario_.catalogue});
    list(connection);
  });
}

// What a list shows is decided when it begins; its end arrives a little later.
void Cloud::list(std::uint64_t connection) {
  if (connection != core_.connection) return;
  core_.emit(events::ListStarted{"Instance"});
  std::vector<events::Body> bodies;
  for (const auto& [id, machine] : machines_) {
    if (machine.instance.state == model::InstanceState::kTerminated) continue;
    const bool young = core_.now() - machine.instance.launch_millis < kListLagMillis;
    if (young && core_.faults.strikes(Fault::kListMissesInstance)) continue;
    bodies.push_back(events::InstanceObserved{machine.instance});
  }
  bodies.push_back(events::ListEnded{"Instance", std::to_string(core_.now())});
  core_.after(core_.delay(100, 500), [this, connection, what = std::move(bodies)]() mutable {
    if (connection != core_.connection) return;
    for (events::Body& body : what) core_.emit(std::move(body));
  });
  core_.after(scenario_.timing.instance_list_every, [this, connection] { list(connection); });
}

}  // namespace karst::sim
