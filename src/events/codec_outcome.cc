// What became of commands, decisions that ask for nothing, and housekeeping.
#include <algorithm>

#include "events/codec_values.h"

namespace karst::events::codec {

Offset<log::AttemptStarted> put(Builder& b, const model::AttemptStarted& v) {
  return log::CreateAttemptStarted(b, v.command.value(), v.attempt);
}
void get(const log::AttemptStarted& in, model::AttemptStarted& out) {
  out.command = model::Position(in.command());
  out.attempt = in.attempt();
}

Offset<log::CommandAbandoned> put(Builder& b, const model::CommandAbandoned& v) {
  return log::CreateCommandAbandoned(b, v.command.value(), put(b, v.reason));
}
void get(const log::CommandAbandoned& in, model::CommandAbandoned& out) {
  out.command = model::Position(in.command());
  get(in.reason(), out.reason);
}

Offset<log::ReadBackPod> put(Builder& b, const model::ReadBackPod& v) {
  const auto uid = put(b, v.uid);
  const auto namespace_name = put(b, v.namespace_name);
  return log::CreateReadBackPod(b, uid, namespace_name, put(b, v.name), v.drainable, v.daemon,
                                v.do_not_disrupt);
}
void get(const log::ReadBackPod& in, model::ReadBackPod& out) {
  get(in.uid(), out.uid);
  get(in.namespace_name(), out.namespace_name);
  get(in.name(), out.name);
  out.drainable = in.drainable();
  out.daemon = in.daemon();
  out.do_not_disrupt = in.do_not_disrupt();
}

Offset<log::NodeReadBack> put(Builder& b, const model::NodeReadBack& v) {
  return log::CreateNodeReadBack(b, v.exists, v.tainted, put_all(b, v.pods));
}
void get(const log::NodeReadBack& in, model::NodeReadBack& out) {
  out.exists = in.exists();
  out.tainted = in.tainted();
  get_all(in.pods(), out.pods);
}

Offset<log::OutcomeReceived> put(Builder& b, const model::Outcome& v) {
  const auto message = put(b, v.message);
  const auto object_uid = put(b, v.object_uid);
  const auto instances = put_all(b, v.instances);
  const auto exhausted = put_all(b, v.exhausted);
  const auto read_back = v.read_back ? put(b, *v.read_back) : Offset<log::NodeReadBack>();
  const auto resolution = put(b, v.resolution);
  const auto reason = put(b, v.reason);
  return log::CreateOutcomeReceived(b, v.command.value(), v.attempt, as<log::OutcomeKind>(v.kind),
                                    as<log::RefusalCode>(v.code), message, object_uid, instances,
                                    exhausted, read_back, resolution, reason,
                                    put_texts(b, v.full_subnets));
}
void get(const log::OutcomeReceived& in, model::Outcome& out) {
  out.command = model::Position(in.command());
  out.attempt = in.attempt();
  out.kind = as<model::OutcomeKind>(in.kind());
  out.code = as<model::RefusalCode>(in.code());
  get(in.message(), out.message);
  get(in.object_uid(), out.object_uid);
  get_all(in.instances(), out.instances);
  get_all(in.exhausted(), out.exhausted);
  if (in.read_back() != nullptr) get(*in.read_back(), out.read_back.emplace());
  get(in.resolution(), out.resolution);
  get(in.reason(), out.reason);
  get_texts(in.full_subnets(), out.full_subnets);
}

Offset<log::VerdictReached> put(Builder& b, const model::Verdict& v) {
  const auto subject = put(b, v.subject);
  const auto rule = put(b, v.rule);
  const auto code = put(b, v.code);
  return log::CreateVerdictReached(b, subject, rule, code, put_texts(b, v.args));
}
void get(const log::VerdictReached& in, model::Verdict& out) {
  get(in.subject(), out.subject);
  get(in.rule(), out.rule);
  get(in.code(), out.code);
  get_texts(in.args(), out.args);
}

Offset<log::ProvisioningHeld> put(Builder& b, const ProvisioningHeld& v) {
  return log::CreateProvisioningHeld(b, v.until_millis);
}
void get(const log::ProvisioningHeld& in, ProvisioningHeld& out) {
  out.until_millis = in.until_millis();
}

Offset<log::PodsNominated> put(Builder& b, const model::Nomination& v) {
  const auto claim = put(b, v.claim);
  const auto node = put(b, v.node);
  return log::CreatePodsNominated(b, claim, node, put_texts(b, v.pods), v.until_millis);
}
void get(const log::PodsNominated& in, model::Nomination& out) {
  get(in.claim(), out.claim);
  get(in.node(), out.node);
  get_texts(in.pods(), out.pods);
  out.until_millis = in.until_millis();
}

Offset<log::LogCreated> put(Builder& b, const LogCreated& v) {
  return log::CreateLogCreated(b, put(b, v.id));
}
void get(const log::LogCreated& in, LogCreated& out) {
  get(in.id(), out.id);
}

Offset<log::Config> put(Builder& b, const Config& v) {
  const auto cluster_uid = put(b, v.cluster_uid);
  return log::CreateConfig(
      b, cluster_uid, put(b, v.provider), v.batch_idle_millis, v.batch_max_millis,
      v.launch_timeout_millis, v.registration_timeout_millis, v.nomination_millis,
      v.orphan_grace_millis, v.read_back_age_millis, v.capacity_back_off_millis, v.shadow,
      v.preference_policy_ignore, v.min_values_best_effort, v.node_repair, v.reserved_capacity,
      v.spot_to_spot, v.node_overlay, v.static_capacity, v.capacity_buffer, v.ignore_dra);
}
void get(const log::Config& in, Config& out) {
  out.provider.clear();  // left out means empty
  get(in.cluster_uid(), out.cluster_uid);
  get(in.provider(), out.provider);
  out.batch_idle_millis = in.batch_idle_millis();
  out.batch_max_millis = in.batch_max_millis();
  out.launch_timeout_millis = in.launch_timeout_millis();
  out.registration_timeout_millis = in.registration_timeout_millis();
  out.nomination_millis = in.nomination_millis();
  out.orphan_grace_millis = in.orphan_grace_millis();
  out.read_back_age_millis = in.read_back_age_millis();
  out.capacity_back_off_millis = in.capacity_back_off_millis();
  out.shadow = in.shadow();
  out.preference_policy_ignore = in.preference_policy_ignore();
  out.min_values_best_effort = in.min_values_best_effort();
  out.node_repair = in.node_repair();
  out.reserved_capacity = in.reserved_capacity();
  out.spot_to_spot = in.spot_to_spot();
  out.node_overlay = in.node_overlay();
  out.static_capacity = in.static_capacity();
  out.capacity_buffer = in.capacity_buffer();
  out.ignore_dra = in.ignore_dra();
}

Offset<log::DaemonStarted> put(Builder& b, const DaemonStarted& v) {
  const auto version = put(b, v.version);
  const auto decision_version = put(b, v.decision_version);
  return log::CreateDaemonStarted(b, version, decision_version, put(b, v.config));
}
void get(const log::DaemonStarted& in, DaemonStarted& out) {
  get(in.version(), out.version);
  get(in.decision_version(), out.decision_version);
  get_some(in.config(), out.config);
}

Offset<log::RoundClosed> put(Builder& b, const RoundClosed& v) {
  const log::Digest256 decisions{flatbuffers::span<const std::uint8_t, 32>(v.decision_digest)};
  const log::Digest128 state(v.state_digest.low, v.state_digest.high);
  return log::CreateRoundClosed(b, v.facts, v.decisions, &decisions, &state);
}
void get(const log::RoundClosed& in, RoundClosed& out) {
  out.facts = in.facts();
  out.decisions = in.decisions();
  if (in.decision_digest() != nullptr) {
    const auto* bytes = in.decision_digest()->bytes();
    std::copy(bytes->begin(), bytes->end(), out.decision_digest.begin());
  }
  if (in.state_digest() != nullptr)
    out.state_digest = {in.state_digest()->low(), in.state_digest()->high()};
}

Offset<log::EpochOpened> put(Builder& b, const EpochOpened& v) {
  return log::CreateEpochOpened(b, v.epoch, put(b, v.holder));
}
void get(const log::EpochOpened& in, EpochOpened& out) {
  out.epoch = in.epoch();
  get(in.holder(), out.holder);
}

Offset<log::LeadershipLost> put(Builder& b, const LeadershipLost& v) {
  return log::CreateLeadershipLost(b, v.epoch);
}
void get(const log::LeadershipLost& in, LeadershipLost& out) {
  out.epoch = in.epoch();
}

Offset<log::WallClockJumped> put(Builder& b, const WallClockJumped& v) {
  return log::CreateWallClockJumped(b, v.offset_millis);
}
void get(const log::WallClockJumped& in, WallClockJumped& out) {
  out.offset_millis = in.offset_millis();
}

Offset<log::LogSpaceLow> put(Builder& b, const LogSpaceLow& v) {
  return log::CreateLogSpaceLow(b, v.low);
}
void get(const log::LogSpaceLow& in, LogSpaceLow& out) {
  out.low = in.low();
}

Offset<log::LogTailCut> put(Builder& b, const LogTailCut& v) {
  return log::CreateLogTailCut(b, v.from.value(), put(b, v.reason));
}
void get(const log::LogTailCut& in, LogTailCut& out) {
  out.from = model::Position(in.from());
  get(in.reason(), out.reason);
}

Offset<log::SigningKeyChanged> put(Builder& b, const SigningKeyChanged& v) {
  return log::CreateSigningKeyChanged(b, put(b, v.key));
}
void get(const log::SigningKeyChanged& in, SigningKeyChanged& out) {
  get(in.key(), out.key);
}

Offset<log::AccessRecorded> put(Builder& b, const AccessRecorded& v) {
  const auto user = put(b, v.user);
  return log::CreateAccessRecorded(b, user, put(b, v.command));
}
void get(const log::AccessRecorded& in, AccessRecorded& out) {
  get(in.user(), out.user);
  get(in.command(), out.command);
}

Offset<log::LogArchived> put(Builder& b, const LogArchived& v) {
  const auto segment = put(b, v.segment);
  return log::CreateLogArchived(b, v.from.value(), v.to.value(), segment, put(b, v.digest));
}
void get(const log::LogArchived& in, LogArchived& out) {
  out.from = model::Position(in.from());
  out.to = model::Position(in.to());
  get(in.segment(), out.segment);
  get(in.digest(), out.digest);
}

Offset<log::LogTrimmed> put(Builder& b, const LogTrimmed& v) {
  const auto projection = put(b, v.projection);
  return log::CreateLogTrimmed(b, v.before.value(), v.kept, v.baseline.value(), projection,
                               put(b, v.digest));
}
void get(const log::LogTrimmed& in, LogTrimmed& out) {
  out.before = model::Position(in.before());
  out.kept = in.kept();
  out.baseline = model::Position(in.baseline());
  get(in.projection(), out.projection);
  get(in.digest(), out.digest);
}

Offset<log::ArchiveExpired> put(Builder& b, const ArchiveExpired& v) {
  const auto projection = put(b, v.projection);
  return log::CreateArchiveExpired(b, v.before.value(), v.segments, v.baseline.value(), projection,
                                   put(b, v.digest));
}
void get(const log::ArchiveExpired& in, ArchiveExpired& out) {
  out.before = model::Position(in.before());
  out.segments = in.segments();
  out.baseline = model::Position(in.baseline());
  get(in.projection(), out.projection);
  get(in.digest(), out.digest);
}

}  // namespace karst::events::codec
