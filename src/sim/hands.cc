#include "sim/hands.h"

#include <utility>

#include "sim/refusal.h"

namespace karst::sim {

namespace {

constexpr std::int64_t kAnswerTimeoutMillis =
    10'000;  // after which a lost answer counts as unclear

bool is_write_with_version_test(model::CommandKind kind) {
  return kind == model::CommandKind::kTaintNode || kind == model::CommandKind::kSyncNode ||
         kind == model::CommandKind::kSetFinalizer || kind == model::CommandKind::kMirrorClaim ||
         kind == model::CommandKind::kMirrorPool || kind == model::CommandKind::kDeleteObject;
}

model::Outcome unclear(std::string message) {
  model::Outcome outcome;
  outcome.kind = model::OutcomeKind::kUnclear;
  outcome.message = std::move(message);
  return outcome;
}

}  // namespace

void Hands::submit(const ports::IssuedCommand& command) {
  core_.history.submissions.push_back({command, core_.now(), core_.durable_end()});
  const std::uint64_t connection = core_.connection;
  if (in_flight_ >= ports::kInFlightMax) {
    answer(command, refused(model::RefusalCode::kThrottled, "too many commands in flight"),
           connection);
    return;
  }
  ++in_flight_;
  const auto& latency = model::goes_to_cloud(model::kind_of(command.spec))
                            ? scenario_.timing.cloud_call
                            : scenario_.timing.kube_call;
  core_.after(core_.delay(latency.first, latency.second), [this, command, connection] {
    --in_flight_;
    arrive(command, connection);
  });
}

Hands::Fate Hands::fate_of(model::CommandKind kind) {
  Faults& faults = core_.faults;
  Fate fate;
  const auto refuse = [&](model::RefusalCode code) {
    fate.effect = false;
    fate.refusal = code;
  };
  if (kind == model::CommandKind::kLaunch) {
    if (faults.strikes(Fault::kLaunchAnswerLost)) {
      fate.answered = false;
      return fate;
    }
    if (faults.strikes(Fault::kLateSuccess)) {
      fate.answered = false;
      fate.effect_delay = faults.rng().between(1'000, 120'000);
      return fate;
    }
  }
  if (model::goes_to_cloud(kind) && faults.strikes(Fault::kThrottled)) {
    refuse(model::RefusalCode::kThrottled);
  } else if (faults.strikes(Fault::kServerError)) {
    refuse(model::RefusalCode::kRetry);
  } else if (is_write_with_version_test(kind) && faults.strikes(Fault::kWriteConflict)) {
    refuse(model::RefusalCode::kConflict);
  } else if (faults.strikes(Fault::kAnswerLostBeforeEffect)) {
    fate.effect = fate.answered = false;
  } else if (faults.strikes(Fault::kAnswerLostAfterEffect)) {
    fate.answered = false;
  }
  return fate;
}

void Hands::arrive(const ports::IssuedCommand& command, std::uint64_t connection) {
  const Fate fate = fate_of(model::kind_of(command.spec));
  if (fate.refusal != model::RefusalCode::kNone) {
    answer(command, refused(fate.refusal, "simulated refusal"), connection);
    return;
  }
  model::Outcome outcome;
  if (fate.effect && fate.effect_delay > 0)
    core_.after(fate.effect_delay, [this, command] { perform(command, true); });
  else if (fate.effect)
    outcome = perform(command, false);
  if (fate.answered) {
    answer(command, std::move(outcome), connection);
    return;
  }
  core_.after(kAnswerTimeoutMillis, [this, command, connection] {
    answer(command, unclear("no answer within 10 s"), connection);
  });
}

void Hands::answer(const ports::IssuedCommand& command, model::Outcome outcome,
                   std::uint64_t connection) {
  outcome.command = command.id.position;
  outcome.attempt = command.attempt;
  core_.after(core_.delay(scenario_.timing.kube_call.first, scenario_.timing.kube_call.second),
              [this, connection, body = std::move(outcome)]() mutable {
                if (connection == core_.connection) core_.emit(std::move(body));
              });
}

model::Outcome Hands::perform(const ports::IssuedCommand& command, bool late) {
  switch (model::kind_of(command.spec)) {
    case model::CommandKind::kCreateNodeClaim:
      return create_claim(std::get<model::CreateNodeClaim>(command.spec));
    case model::CommandKind::kDeleteObject:
      return delete_object(std::get<model::DeleteObject>(command.spec).object);
    case model::CommandKind::kLaunch:
      return cloud_.launch(std::get<model::Launch>(command.spec), command.id, late);
    case model::CommandKind::kTerminate:
      return cloud_.terminate(std::get<model::Terminate>(command.spec));
    case model::CommandKind::kTaintNode:
      return taint(std::get<model::TaintNode>(command.spec));
    case model::CommandKind::kEvictPod:
      return evict(std::get<model::EvictPod>(command.spec));
    case model::CommandKind::kSetFinalizer:
      return set_finalizer(std::get<model::SetFinalizer>(command.spec));
    case model::CommandKind::kReadBackNode:
      return read_back(std::get<model::ReadBackNode>(command.spec));
    case model::CommandKind::kFindInstances:
      return cloud_.find(std::get<model::FindInstances>(command.spec));
    case model::CommandKind::kSyncNode:
      return sync_node(std::get<model::SyncNode>(command.spec));
    case model::CommandKind::kMirrorClaim:
      return mirror_claim(std::get<model::MirrorClaim>(command.spec));
    case model::CommandKind::kMirrorPool:
      return mirror_pool(std::get<model::MirrorPool>(command.spec));
    case model::CommandKind::kMirrorStatus:
    case model::CommandKind::kResolveNodeClass:
    case model::CommandKind::kSyncNodeClass:
    case model::CommandKind::kReleaseNodeClass:
      break;  // its cloud has none of them
  }
  return refused(model::RefusalCode::kInvalid, "unknown command");
}

}  // namespace karst::sim
