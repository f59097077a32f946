#include "engine/replay.h"

#include <utility>

#include "base/sha256.h"
#include "engine/decide.h"
#include "events/codec.h"
#include "projections/baseline.h"
#include "providers/provider.h"

namespace karst::engine {
namespace {

using projections::ClusterState;

std::string show(const events::Record& record) {
  return std::string(events::event_type_name(record.type)) + " " + record.stream + " (payload " +
         base::hex_lower(base::sha256(record.payload)).substr(0, 16) + ", " +
         std::to_string(record.payload.size()) + " bytes)";
}

bool same(const events::Record& a, const events::Record& b) {
  return a.type == b.type && a.stream == b.stream && a.causation == b.causation &&
         a.correlation == b.correlation && a.payload == b.payload;
}

events::Record copy_of(const events::Event& event) {
  events::Record record;
  record.log_time = event.envelope.log_time;
  record.wall_time = event.envelope.wall_time;
  record.causation = event.envelope.causation;
  record.correlation = event.envelope.correlation;
  record.type = event.envelope.type;
  record.stream = std::string(event.envelope.stream);
  record.payload = std::string(event.payload);
  return record;
}

// The first way in which what was logged and what is decided now differ; empty when they agree.
std::string compare(const std::vector<events::Record>& logged,
                    const std::vector<events::Record>& decided) {
  for (std::size_t i = 0; i < std::max(logged.size(), decided.size()); ++i) {
    if (i >= logged.size())
      return "decision " + std::to_string(i + 1) + ": logged nothing more, decides now " +
             show(decided[i]);
    if (i >= decided.size())
      return "decision " + std::to_string(i + 1) + ": logged " + show(logged[i]) +
             ", decides nothing more now";
    if (!same(logged[i], decided[i]))
      return "decision " + std::to_string(i + 1) + ": logged " + show(logged[i]) +
             ", decides now " + show(decided[i]);
  }
  return "";
}

// One walk that decides again at every RoundClosed.
class Verifier {
 public:
  Verifier(std::string decision_version, bool across)
      : decision_version_(std::move(decision_version)), across_(across) {}

  // From the baseline of a trimmed log on. Errors: as load_baseline.
  base::Status begin(const events::EventLog& log) {
    auto baseline = projections::load_baseline(log, state_);
    if (!baseline) return base::fail(baseline.error());
    if (!*baseline) return {};
    own_ = (*baseline)->decision_version == decision_version_;
    cut_ = state_.last_round() != state_.last_position();
    report_.from = log.first();
    return {};
  }

  // False: a difference was found, stop.
  bool take(const events::Event& event) {
    ++report_.events;
    if (events::is_decision(event.envelope.type)) {
      pending_.push_back(copy_of(event));
      return true;
    }
    if (event.envelope.type == events::EventType::kRoundClosed) return close_round(event);
    if (!pending_.empty()) return differ(event, "decisions without a RoundClosed behind them");
    const events::Body body = events::decode_body(event);
    if (const auto* started = std::get_if<events::DaemonStarted>(&body))
      own_ = started->decision_version == decision_version_;
    state_.apply(event.envelope, body);
    ++facts_;
    return true;
  }

  VerifyReport report() && { return std::move(report_); }
  bool open_decisions() const { return !pending_.empty(); }
  const ClusterState& state() const { return state_; }

 private:
  bool differ(const events::Event& at, std::string what) {
    report_.difference = Difference{at.envelope.position,
                                    report_.rounds + report_.other_version + 1, std::move(what)};
    return false;
  }

  void apply_logged() {
    for (const events::Record& record : pending_)
      apply_record(state_, record, events::decode_payload(record.type, record.payload));
  }

  // What began before the baseline: its decisions cannot be made again.
  bool close_cut_round(const events::Event& event, const events::Body& body,
                       const events::RoundClosed& closed) {
    apply_logged();
    if ((own_ || across_) && !(closed.state_digest == state_.digest()))
      return differ(event, "the state digest differs: the baseline is not what the log folded to");
    return end_round(event, body);
  }

  bool end_round(const events::Event& event, const events::Body& body) {
    state_.apply(event.envelope, body);
    pending_.clear();
    facts_ = 0;
    return true;
  }

  bool close_round(const events::Event& event) {
    const events::Body body = events::decode_body(event);
    const auto& closed = std::get<events::RoundClosed>(body);
    const providers::Provider* provider = providers::find_provider(state_.config().provider);
    if (provider == nullptr)
      return differ(event, "this build has no provider \"" + state_.config().provider + "\"");
    if (std::exchange(cut_, false)) return close_cut_round(event, body, closed);
    if (closed.facts != facts_)
      return differ(event, "it closes " + std::to_string(closed.facts) + " facts, the log holds " +
                               std::to_string(facts_));
    if (own_ || across_) {
      const Answer answer = decide(state_, *provider, class_types_, event.envelope.log_time,
                                   event.envelope.wall_time);
      if (std::string what = compare(pending_, answer.records); !what.empty())
        return differ(event, std::move(what));
      if (closed.decision_digest != decision_digest(answer.records))
        return differ(event, "the decision digest is not that of its decisions");
      if (!(closed.state_digest == state_.digest()))
        return differ(
            event, "the state digest differs: the facts before it, or how they fold, have changed");
      ++report_.rounds;
    } else {
      apply_logged();
      ++report_.other_version;
    }
    return end_round(event, body);
  }

  std::string decision_version_;
  bool across_;
  bool own_ = false;
  bool cut_ = false;  // the round that is read began before the baseline
  ClusterState state_;
  std::vector<events::Record> pending_;
  std::uint64_t facts_ = 0;
  reconcilers::ClassTypes class_types_;
  VerifyReport report_;
};

}  // namespace

base::Status walk(const events::EventLog& log, model::Position from, ClusterState& state,
                  const std::function<bool(const events::Event&, const ClusterState&)>& visit) {
  auto cursor = log.read(from);
  if (!cursor) return base::fail(cursor.error());
  while (true) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) return {};
    state.apply(**event);
    if (!visit(**event, state)) return {};
  }
}

base::Result<model::Position> rebuild(const events::EventLog& log,
                                      const events::Snapshots* snapshots, model::Position until,
                                      ClusterState& state,
                                      const std::function<void(const ClusterState&)>& folded) {
  const model::Position last =
      until == model::Position() ? model::Position(log.end().value() - 1) : until;
  if (snapshots != nullptr) {
    auto snapshot = snapshots->latest(projections::kProjectionVersion, last);
    // A damaged snapshot is no loss: everything is folded into a clean state.
    if (snapshot && *snapshot && !state.load((*snapshot)->bytes)) state = ClusterState();
  }
  if (state.next_position() < log.first()) {
    state = ClusterState();
    if (auto baseline = projections::load_baseline(log, state); !baseline)
      return base::fail(baseline.error());
  }
  const model::Position from = state.next_position();
  if (from > last) return from;
  KARST_TRY(walk(log, from, state, [&](const events::Event& event, const ClusterState& after) {
    if (folded) folded(after);
    return event.envelope.position < last;
  }));
  return from;
}

base::Result<VerifyReport> verify(const events::EventLog& log, const std::string& decision_version,
                                  bool across) {
  Verifier verifier(decision_version, across);
  KARST_TRY(verifier.begin(log));
  auto cursor = log.read(log.first());
  if (!cursor) return base::fail(cursor.error());
  while (true) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event || !verifier.take(**event)) break;
  }
  return std::move(verifier).report();
}

}  // namespace karst::engine
