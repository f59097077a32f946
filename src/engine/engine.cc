#include "engine/engine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "engine/decide.h"
#include "engine/replay.h"
#include "events/codec.h"

namespace karst::engine {
namespace {

// Where a fact comes from: an answer from its command, an observation from the command whose effect
// it shows, an object that we asked for from the command that asked. All else comes from outside.
void fill_causes(const projections::ClusterState& state, const events::Body& body,
                 events::Record& record) {
  if (const auto* outcome = std::get_if<model::Outcome>(&body)) {
    record.causation = outcome->command;
    const auto* command = state.commands().find(outcome->command);
    record.correlation =
        command != nullptr && command->root != model::Position() ? command->root : outcome->command;
  } else if (const auto* echo = state.echo_shown_by(record.stream, body, record.log_time)) {
    record.causation = echo->command;
    record.correlation = echo->root;
  } else if (const auto* node = std::get_if<events::NodeObserved>(&body);
             node != nullptr && state.nodes().find(node->node.name) == nullptr) {
    if (const auto* claim = state.claim_by_provider_id(node->node.provider_id)) {
      record.causation = claim->launch_command;
      record.correlation = claim->root;
    }
  }
}

}  // namespace

Engine::Engine(events::EventLog& log, events::Snapshots* snapshots,
               const providers::Provider& provider, EngineOptions options)
    : log_(log), snapshots_(snapshots), provider_(provider), options_(std::move(options)) {}

// Like a replica with an empty log: claims and machines are adopted by their UIDs once everything
// was listed, and launch tokens come from these UIDs.
base::Result<Recovery> Engine::begin_anew(base::Error why) {
  const model::Position last(log_.end().value() - 1);
  auto cursor = log_.read(last);
  if (!cursor) return base::fail(cursor.error());
  const auto event = (*cursor)->next();
  if (!event) return base::fail(event.error());
  KARST_CHECK(event->has_value(), "a log that was trimmed has events");
  state_ = projections::ClusterState::behind(log_.id(), (*event)->envelope);
  Recovery recovery;
  recovery.folded_from = state_.next_position();
  recovery.past_unknown = std::move(why.message);
  return recovery;
}

// A long fold, as after a change of the projection version, leaves snapshots on its way, for
// whoever asks for the past.
base::Result<Recovery> Engine::fold() {
  std::uint64_t distance = 0;
  auto from = rebuild(log_, snapshots_, model::Position(), state_, [&](const auto& state) {
    if (distance == 0) {
      snapshot_at_ = state.last_position();
      const std::uint64_t left = log_.end().value() - snapshot_at_.value();
      distance = std::max(options_.snapshot_distance, left / kSnapshotsOfAFold);
    }
    if (state.last_position().value() - snapshot_at_.value() >= distance) keep_snapshot();
  });
  if (!from && from.error().kind == base::Kind::kGone) return begin_anew(from.error());
  if (!from) return base::fail(from.error());
  return Recovery{*from, {}, 0, {}};
}

base::Result<Recovery> Engine::recover(base::LogTime now, base::WallTime wall) {
  KARST_CHECK(!recovered_, "an engine recovers once");
  auto recovery = fold();
  if (!recovery) return recovery;
  // What was sent and what was not must never be mixed up: each has a log of its own.
  const bool lived = state_.last_position().value() > 1 && recovery->past_unknown.empty();
  const std::string& known = state_.config().cluster_uid;
  const std::string& given = options_.config.cluster_uid;
  if (lived && !known.empty() && !given.empty() && known != given)
    return base::fail(base::Kind::kInvalid,
                      "this is the log of another cluster (" + known + "; this one is " + given +
                          "), and its open orders are not for this one: give karst an empty "
                          "folder, and keep the old one for the record");
  if (lived && state_.config().shadow != options_.config.shadow)
    return base::fail(
        base::Kind::kInvalid,
        options_.config.shadow
            ? "this is the log of a karst that acts; give --shadow a folder of its own"
            : "this is the log of a shadow; give a karst that acts a folder of its "
              "own, or add --shadow");
  recovery->end = state_.next_position();
  recovery->open_commands = state_.commands().size();
  snapshot_at_ = state_.last_position();
  // Facts whose round a crash cut off are closed by the next one.
  facts_since_round_ = state_.last_position().value() - state_.last_round().value();
  now = std::max(now, state_.last_log_time());
  fact_record(events::DaemonStarted{options_.version, options_.decision_version, options_.config},
              now, wall);
  if (!options_.signing_key.empty() && options_.signing_key != state_.signing_key())
    fact_record(events::SigningKeyChanged{options_.signing_key}, now, wall);
  tell_embedded_catalogue(now, wall);
  KARST_TRY(flush(events::Durability::kSynced));
  // So that this is where the next start, and every reader, folds from.
  const std::uint64_t folded = recovery->end.value() - recovery->folded_from.value();
  if (!recovery->past_unknown.empty() || folded >= options_.snapshot_distance) keep_snapshot();
  recovered_ = true;
  return recovery;
}

// What the log has, from the account if it was ever read, counts on until the account is read,
// though its prices could not be: what is embedded here is no better.
void Engine::tell_embedded_catalogue(base::LogTime now, base::WallTime wall) {
  const model::Catalogue& embedded = provider_.embedded_catalogue();
  const auto* row = state_.catalogues().find(embedded.provider);
  const bool read = provider_.reads_catalogue();
  if (read && row != nullptr && row->read.told) return;
  for (events::Body& body : admission_.admit(state_, now, events::CatalogueObserved{embedded}))
    fact_record(std::move(body), now, wall);
  // A first catalogue counts as read until a reading is told.
  if (read) fact_record(events::PricesObserved{{embedded.provider, {}}, false, false}, now, wall);
}

// A reading comes behind its catalogue: of one that the log could not take it says nothing, and the
// prices that are known were not read. Nor were they just now, if it waited.
void Engine::weigh_reading(ports::Fact& fact, base::WallTime wall) {
  if (const auto* sold = std::get_if<events::CatalogueObserved>(&fact.body))
    catalogues_refused_.erase(sold->catalogue.provider);
  auto* reading = std::get_if<events::PricesObserved>(&fact.body);
  if (reading == nullptr) return;
  const bool waited = wall.value() - fact.wall_time.value() > kReadingWaitMillis;
  if (waited || catalogues_refused_.contains(reading->update.provider))
    reading->on_demand_read = reading->spot_read = false;
}

void Engine::fact_record(events::Body body, base::LogTime now, base::WallTime wall) {
  events::Record record = events::make_record(body);
  if (record.payload.size() > events::kPayloadMax) {  // no source should; the log cannot hold it
    if (const auto* sold = std::get_if<events::CatalogueObserved>(&body))
      catalogues_refused_.insert(sold->catalogue.provider);
    body = events::InputRefused{"admission", record.stream,
                                "larger than the 4 MiB that one event may have", ""};
    record = events::make_record(body);
  }
  record.log_time = now;
  record.wall_time = wall;
  fill_causes(state_, body, record);
  apply_record(state_, record, body);
  unsaved_.push_back(std::move(record));
  ++facts_since_round_;
}

base::Status Engine::flush(events::Durability durability) {
  if (unsaved_.empty()) return {};
  const model::Position expected(state_.next_position().value() - unsaved_.size());
  auto first = log_.append(unsaved_, durability);
  if (!first) return base::fail(first.error());
  KARST_CHECK(*first == expected, "the log and the state count the same positions");
  if (durability == events::Durability::kSynced) synced_at_ = unsaved_.back().log_time;
  unsaved_.clear();
  return {};
}

base::Result<Round> Engine::step(base::LogTime now, base::WallTime wall,
                                 std::vector<ports::Fact> facts) {
  KARST_CHECK(recovered_, "recover() comes before the first step()");
  KARST_CHECK(facts.size() <= kFactsPerRoundMax, "a round is bounded by kFactsPerRoundMax");
  now = std::max(now, state_.last_log_time());
  // A round that found the disk full is finished first: what it applied must be durable before
  // anything new.
  Round round;
  const std::uint64_t facts_before = facts_since_round_;
  for (ports::Fact& fact : facts) {
    weigh_reading(fact, wall);
    for (events::Body& body : admission_.admit(state_, now, std::move(fact.body), fact.order))
      fact_record(std::move(body), now, fact.wall_time);
    if (!fact.receipt.empty()) unsaved_receipts_.push_back(std::move(fact.receipt));
  }
  round.facts = facts_since_round_ - facts_before;
  const bool outside_waits = !unsaved_receipts_.empty() || !unsaved_commands_.empty();
  KARST_TRY(flush(outside_waits ? events::Durability::kSynced : events::Durability::kBuffered));
  round.to_acknowledge = std::exchange(unsaved_receipts_, {});
  round.to_dispatch = std::exchange(unsaved_commands_, {});
  decide(now, wall, round);
  // A snapshot outlives a power loss: what it was folded from must, too.
  const bool sync =
      !unsaved_commands_.empty() || now - synced_at_ >= kSyncEveryMillis || snapshot_due();
  if (auto saved = flush(sync ? events::Durability::kSynced : events::Durability::kBuffered);
      !saved) {
    // Acknowledgements wait with the rest: a receipt handed out twice does no harm, one that is
    // lost comes again.
    std::move(round.to_acknowledge.begin(), round.to_acknowledge.end(),
              std::back_inserter(unsaved_receipts_));
    unsaved_commands_.insert(unsaved_commands_.begin(),
                             std::make_move_iterator(round.to_dispatch.begin()),
                             std::make_move_iterator(round.to_dispatch.end()));
    return base::fail(saved.error());
  }
  std::move(unsaved_commands_.begin(), unsaved_commands_.end(),
            std::back_inserter(round.to_dispatch));
  unsaved_commands_.clear();
  round.through = state_.last_position();
  maybe_snapshot();
  return round;
}

void Engine::decide(base::LogTime now, base::WallTime wall, Round& round) {
  Answer answer = engine::decide(state_, provider_, class_types_, now, wall);
  round.decisions = answer.records.size();
  round.wake_at = answer.wake_at;
  if (answer.records.empty() && facts_since_round_ == 0)
    return;  // a wake-up that changed nothing leaves no trace
  events::RoundClosed closed;
  closed.facts = std::exchange(facts_since_round_, 0);
  closed.decisions = answer.records.size();
  closed.decision_digest = decision_digest(answer.records);
  closed.state_digest = state_.digest();
  std::move(answer.records.begin(), answer.records.end(), std::back_inserter(unsaved_));
  std::move(answer.commands.begin(), answer.commands.end(), std::back_inserter(unsaved_commands_));
  events::Record record = events::make_record(closed);
  record.log_time = now;
  record.wall_time = wall;
  apply_record(state_, record, closed);
  unsaved_.push_back(std::move(record));
}

bool Engine::snapshot_due() const {
  return snapshots_ != nullptr &&
         state_.last_position().value() - snapshot_at_.value() >= options_.snapshot_distance;
}

void Engine::maybe_snapshot() {
  if (snapshot_due()) keep_snapshot();
}

void Engine::keep_snapshot() {
  if (snapshots_ == nullptr) return;
  snapshot_at_ = state_.last_position();
  // Disposable: failing to keep one costs time at the next start, nothing else.
  (void)snapshots_->put(projections::kProjectionVersion, {state_.last_position(), state_.save()});
}

}  // namespace karst::engine
