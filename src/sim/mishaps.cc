#include "sim/mishaps.h"

#include <iterator>
#include <vector>

namespace karst::sim {

namespace {

constexpr std::int64_t kTickMillis = 5'000;
constexpr std::int64_t kJumpTold =
    5 * base::kMillisPerMinute;  // smaller differences are not worth an event

// Everybody's of the account come to the queue.
constexpr const char* kForeignMessage =
    R"({"version":"0","source":"aws.ec2","detail-type":"EC2 Spot Instance Interruption Warning",)"
    R"("detail":{"instance-id":"i-0123456789abcdef0","instance-action":"terminate"}})";

template <class Map>
typename Map::const_iterator any_of_map(const Map& map, Rng& rng) {
  return std::next(map.begin(), rng.below(static_cast<std::int64_t>(map.size())));
}

}  // namespace

void Mishaps::start() {
  for (const MachineStep& step : scenario_.interruptions)
    core_.after(step.at_millis, [this, type = step.capacity_type] { interrupt(type); });
  for (const MachineStep& step : scenario_.kills)
    core_.after(step.at_millis, [this, type = step.capacity_type] {
      if (const auto id = pick(type)) cloud_.lose(*id, "killed from outside");
    });
  if (scenario_.storm_until_millis <= scenario_.storm_from_millis) return;
  core_.after(scenario_.storm_from_millis, [this] {
    core_.tell("the storm begins");
    core_.faults.storm(true);
    tick();
  });
  core_.after(scenario_.storm_until_millis, [this] {
    core_.tell("the storm is over");
    core_.faults.storm(false);
    if (core_.clock.wall_offset() != 0) jump(0);
  });
}

void Mishaps::connect() {
  const std::int64_t offset = core_.clock.wall_offset();
  if (offset > kJumpTold || offset < -kJumpTold) core_.emit(events::WallClockJumped{offset});
}

std::optional<model::ProviderId> Mishaps::pick(const std::string& capacity_type) {
  std::vector<model::ProviderId> running;
  for (const auto& [id, machine] : cloud_.machines())
    if (machine.instance.state == model::InstanceState::kRunning &&
        (capacity_type.empty() || machine.instance.offer.capacity_type == capacity_type))
      running.push_back(machine.instance.provider_id);
  if (running.empty()) return std::nullopt;
  return running[static_cast<std::size_t>(
      core_.faults.rng().below(static_cast<std::int64_t>(running.size())))];
}

void Mishaps::interrupt(const std::string& capacity_type) {
  const auto id = pick(capacity_type);
  if (!id) return;
  model::Interruption interruption;
  interruption.kind = model::InterruptionKind::kSpotInterruption;
  interruption.provider_id = *id;
  interruption.deadline_millis = core_.now() + scenario_.timing.spot_notice;
  core_.tell("the cloud will take " + id->str() + " back in " +
             std::to_string(scenario_.timing.spot_notice / 1000) + " s");
  queue_.send(interruption);
  core_.after(scenario_.timing.spot_notice,
              [this, lost = *id] { cloud_.lose(lost, "spot interruption"); });
}

void Mishaps::tick() {
  if (!core_.faults.storming()) return;
  Faults& faults = core_.faults;
  if (faults.strikes(Fault::kOutsideKill))
    if (const auto id = pick("")) cloud_.lose(*id, "killed from outside");
  if (faults.strikes(Fault::kFinalizerStripped)) strip_finalizer();
  if (faults.strikes(Fault::kNodeDeleted)) delete_something(Fault::kNodeDeleted);
  if (faults.strikes(Fault::kClaimDeleted)) delete_something(Fault::kClaimDeleted);
  if (faults.strikes(Fault::kMessageForeign)) queue_.send_text(kForeignMessage);
  if (faults.strikes(Fault::kMessageMalformed)) queue_.send_text("not an interruption");
  if (faults.strikes(Fault::kWallJump)) {
    const std::int64_t seconds =
        faults.rng().chance(5'000) ? 600 : 315'360'000;  // ten minutes or ten years
    jump(1000 * faults.rng().between(-seconds, seconds));
  }
  core_.after(kTickMillis, [this] { tick(); });
}

void Mishaps::strip_finalizer() {
  Rng& rng = core_.faults.rng();
  if (rng.chance(5'000) && !api_.claims().empty()) {
    const std::string name = any_of_map(api_.claims(), rng)->first;
    core_.tell("somebody strips the finalizer of claim " + name);
    api_.update_claim(name, [](model::NodeClaim& claim) { claim.has_finalizer = false; });
  } else if (!api_.nodes().empty()) {
    const std::string name = any_of_map(api_.nodes(), rng)->first;
    core_.tell("somebody strips the finalizer of node " + name);
    api_.update_node(name, [](model::Node& node, model::ClaimUid&) { node.has_finalizer = false; });
  }
}

void Mishaps::delete_something(Fault fault) {
  Rng& rng = core_.faults.rng();
  if (fault == Fault::kNodeDeleted && !api_.nodes().empty()) {
    const std::string name = any_of_map(api_.nodes(), rng)->first;
    core_.tell("somebody deletes node " + name);
    api_.delete_node(name);
  } else if (fault == Fault::kClaimDeleted && !api_.claims().empty()) {
    const std::string name = any_of_map(api_.claims(), rng)->first;
    core_.tell("somebody deletes claim " + name);
    api_.delete_claim(name);
  }
}

void Mishaps::jump(std::int64_t offset_millis) {
  core_.clock.set_wall_offset(offset_millis);
  core_.tell("the wall clock is off by " + std::to_string(offset_millis) + " ms");
  core_.emit(events::WallClockJumped{offset_millis});
}

}  // namespace karst::sim
