#include "daemon/daemon.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/check.h"

namespace karst::daemon {

base::Result<std::optional<base::LogTime>> last_log_time(const events::EventLog& log) {
  if (log.end().value() <= 1) return std::optional<base::LogTime>();
  auto cursor = log.read(model::Position(log.end().value() - 1));
  if (!cursor) return base::fail(cursor.error());
  auto event = (*cursor)->next();
  if (!event) return base::fail(event.error());
  if (!*event) return std::optional<base::LogTime>();
  return std::optional<base::LogTime>((*event)->envelope.log_time);
}

Daemon::Daemon(DaemonParts parts)
    : parts_(std::move(parts)),
      log_(*parts_.log, *parts_.kill_points),
      snapshots_(parts_.snapshots == nullptr
                     ? std::optional<KillPointSnapshots>()
                     : std::optional<KillPointSnapshots>(std::in_place, *parts_.snapshots,
                                                         *parts_.kill_points)),
      engine_(log_, snapshots_ ? &*snapshots_ : nullptr, *parts_.provider, parts_.engine) {
  disk_full_ = parts_.log_space_low;
  counters_.cloud = parts_.provider->name();
  publish();
}

void Daemon::stop() {
  stopping_ = true;
  inbox_.close();
}

std::chrono::milliseconds Daemon::real(std::int64_t clock_millis) const {
  return std::chrono::milliseconds((clock_millis + parts_.speed - 1) / parts_.speed);
}

base::LogTime Daemon::log_now() {
  const std::int64_t monotonic = parts_.clock->monotonic_millis();
  // Only a new word counts: an old one says nothing about a wall clock that has jumped since.
  const auto offset = parts_.server_offset_millis ? parts_.server_offset_millis() : std::nullopt;
  if (offset && offset != server_offset_millis_) {
    timeline_->anchor(base::WallTime(parts_.clock->wall().value() + *offset), monotonic);
    server_offset_millis_ = offset;
  }
  return timeline_->now(monotonic);
}

base::Status Daemon::recover() {
  parts_.kill_points->pass(KillPoint::kBeforeRecover);
  auto last = last_log_time(log_);
  if (!last) return base::fail(last.error());
  const base::WallTime wall = parts_.clock->wall();
  timeline_.emplace(*last, wall, parts_.clock->monotonic_millis());
  auto recovery = engine_.recover(log_now(), wall);
  if (!recovery) return base::fail(recovery.error());
  if (!recovery->past_unknown.empty())
    parts_.notices->alarm(
        wall, "the cluster is taken over as by a new replica: " + recovery->past_unknown);
  watcher_.prime(engine_.state());
  standing_.prime(engine_.state());
  told_through_ = model::Position(recovery->end.value() - 1);
  recovered_ = true;
  parts_.kill_points->pass(KillPoint::kAfterRecover);
  return tell(engine_.state().last_position(), 0);
}

bool Daemon::wake_due() {
  return wake_at_ && *wake_at_ <= log_now();
}

std::vector<ports::Fact> Daemon::wait_for_facts() {
  const auto until_wake = [&]() -> std::int64_t {
    if (!wake_at_) return kIdleWaitMaxMillis;
    return std::clamp<std::int64_t>(*wake_at_ - log_now(), 0, kIdleWaitMaxMillis);
  };
  const std::int64_t since = parts_.clock->monotonic_millis() - last_round_monotonic_millis_;
  const std::int64_t gap = base::kMillisPerSecond / kRoundsPerSecondMax - since;
  if (gap > 0) inbox_.wait_urgent(real(std::min(gap, until_wake())));
  return inbox_.take(engine::kFactsPerRoundMax, real(until_wake()));
}

base::Status Daemon::run() {
  KARST_TRY(recover());
  if (parts_.recovered) parts_.recovered(engine_.state());
  std::vector<ports::Fact> first;
  // Before anything is decided: it leads once the lease says so.
  if (parts_.lease->contested())
    first.push_back({events::LeadershipLost{engine_.state().epoch()}, parts_.clock->wall(), ""});
  if (parts_.cut) first.push_back({*parts_.cut, parts_.clock->wall(), ""});
  if (parts_.log_space_low) first.push_back({events::LogSpaceLow{true}, parts_.clock->wall(), ""});
  for (events::AccessRecorded& access : parts_.accesses)
    first.push_back({std::move(access), parts_.clock->wall(), ""});
  KARST_TRY(round(std::move(first)));
  if (parts_.accesses_recorded && !stopping_) parts_.accesses_recorded();
  while (!stopping_) {
    std::vector<ports::Fact> facts = wait_for_facts();
    if (stopping_) break;
    watch_wall_clock();
    watch_space();
    if (facts.empty() && !wake_due()) {
      publish();
      continue;
    }
    KARST_TRY(round(std::move(facts)));
  }
  parts_.kill_points->pass(KillPoint::kBeforeStop);
  return {};
}

base::Status Daemon::round(std::vector<ports::Fact> facts) {
  const std::int64_t began = parts_.clock->monotonic_millis();
  last_round_monotonic_millis_ = began;
  auto round = engine_.step(log_now(), parts_.clock->wall(), std::move(facts));
  while (!round) {
    KARST_TRY(wait_for_space(round.error()));
    if (stopping_) return {};
    // The first thing that the ballast pays for.
    std::vector<ports::Fact> low;
    if (!engine_.state().log_space_low())
      low.push_back({events::LogSpaceLow{true}, parts_.clock->wall(), ""});
    round = engine_.step(log_now(), parts_.clock->wall(), std::move(low));
  }
  failures_in_a_row_ = 0;
  // With the ballast given up a round can be written, and no more than that.
  if (!engine_.state().log_space_low() && std::exchange(disk_full_, false))
    parts_.notices->relief(parts_.clock->wall(), "the log has space again and goes on");
  wake_at_ = round->wake_at;
  ++counters_.rounds;
  counters_.facts += round->facts;
  counters_.decisions += round->decisions;
  carry_out(*round);
  round_millis_ = (parts_.clock->monotonic_millis() - began) / parts_.speed;
  KARST_TRY(tell(round->through, round_millis_));
  publish();
  return {};
}

base::Status Daemon::wait_for_space(base::Error error) {
  if (error.kind != base::Kind::kFull) return base::fail(std::move(error));
  ++counters_.failed_appends;
  const bool released = parts_.release_ballast && !std::exchange(ballast_released_, true);
  look_for_space_millis_ = parts_.clock->monotonic_millis() + kSpaceLookMillis;
  if (released) parts_.release_ballast();
  disk_full_ = true;
  if (++failures_in_a_row_ == 1 || (failures_in_a_row_ == 2 && !released)) {
    parts_.notices->alarm(
        parts_.clock->wall(),
        error.message + (released
                             ? "; the ballast was given up to finish open work: free space now"
                             : "; there is no ballast left: nothing happens until space is free"));
  }
  publish();
  for (int slice = 0; !released && !stopping_ && slice < 10; ++slice)
    std::this_thread::sleep_for(std::chrono::milliseconds(kFullRetryMillis / 10));
  return {};
}

void Daemon::carry_out(engine::Round& round) {
  acknowledge(round);
  dispatch(round);
}

void Daemon::acknowledge(const engine::Round& round) {
  if (round.to_acknowledge.empty()) return;
  KARST_CHECK(parts_.queue != nullptr, "a fact had a receipt, but there is no queue");
  parts_.kill_points->pass(KillPoint::kBeforeAcknowledge);
  for (const std::string& receipt : round.to_acknowledge) parts_.queue->acknowledge(receipt);
  parts_.kill_points->pass(KillPoint::kAfterAcknowledge);
}

void Daemon::dispatch(engine::Round& round) {
  if (round.to_dispatch.empty()) return;
  KillPoints::Types types;
  if (parts_.kill_points->asks_for_types())
    for (const ports::IssuedCommand& command : round.to_dispatch)
      types.push_back(
          events::event_type_name(events::type_of(model::Command{.spec = command.spec})));
  parts_.kill_points->pass(KillPoint::kBeforeDispatch, types);
  const auto may_leave = [lease = parts_.lease, clock = parts_.clock,
                          epoch = engine_.state().epoch()] {
    return clock->monotonic_millis() < lease->send_deadline_monotonic_millis(epoch);
  };
  for (ports::IssuedCommand& command : round.to_dispatch) {
    if (!may_leave()) {
      // Not covered by the lease: nothing leaves. The outcome is unknown to nobody: it was not
      // sent.
      model::Outcome outcome;
      outcome.command = command.id.position;
      outcome.attempt = command.attempt;
      outcome.kind = model::OutcomeKind::kRefused;
      outcome.code = model::RefusalCode::kRetry;
      outcome.message = "not sent: the lease does not cover it";
      inbox_.try_offer({std::move(outcome), parts_.clock->wall(), ""});
      continue;
    }
    command.may_leave = may_leave;
    const bool cloud = model::goes_to_cloud(model::kind_of(command.spec));
    (cloud ? parts_.instances : parts_.objects)->submit(command);
  }
  parts_.kill_points->pass(KillPoint::kAfterDispatch, types);
}

// Reads back what the round wrote: the log is what happened.
base::Status Daemon::tell(model::Position through, std::int64_t round_millis) {
  if (through <= told_through_) return {};
  auto cursor = log_.read(model::Position(told_through_.value() + 1));
  if (!cursor) return base::fail(cursor.error());
  std::vector<Happening> happenings;
  const bool covered = parts_.clock->monotonic_millis() <
                       parts_.lease->send_deadline_monotonic_millis(engine_.state().epoch());
  while (told_through_ < through) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) break;
    told_through_ = (*event)->envelope.position;
    const std::size_t first = happenings.size();
    watcher_.see(**event, engine_.state(), happenings);
    standing_.keep_to_oneself(**event, covered, first, happenings);
  }
  for (const Happening& happening : happenings) counters_.count(happening);
  counters_.count_pass(happenings, round_millis);
  if (!happenings.empty()) parts_.notices->round(happenings, watcher_, round_millis);
  return {};
}

void Daemon::publish() {
  auto view = std::make_shared<View>();
  const projections::ClusterState& state = engine_.state();
  view->recovered = recovered_;
  view->leading = recovered_ && !state.leadership_lost();
  view->epoch = state.epoch();
  view->disk_full = disk_full_ || state.log_space_low();
  for (const std::string_view kind : kListedKinds)
    view->sources.emplace_back(kind, recovered_ && state.listed(kind));
  for (const auto& [source, slot] : state.sources().slots())
    if (slot.row.beat_at != base::LogTime()) view->heard.emplace_back(source, slot.row.beat_at);
  view->through = state.last_position();
  view->log_time = state.last_log_time();
  view->pods = state.pods().size();
  view->nodes = state.nodes().size();
  view->claims = state.claims().size();
  view->instances = state.instances().size();
  view->commands_open = state.commands().size();
  view->inbox = inbox_.size();
  view->fleet_price_nanos_per_hour = watcher_.fleet_price_nanos_per_hour();
  view->notices_dropped = parts_.lines == nullptr ? 0 : parts_.lines->dropped();
  view->round_millis = round_millis_;
  if (parts_.queue != nullptr) counters_.messages_deleted = parts_.queue->deleted();
  view->counters = counters_;
  view->shadow = parts_.engine.config.shadow;
  if (parts_.index_lag) view->index = parts_.index_lag();
  refresh_gauges();
  view->gauges = gauges_;
  const std::int64_t now = parts_.clock->monotonic_millis();
  if (view->ready() || synced_millis_ == 0) synced_millis_ = now;
  view->unsynced_millis = now - synced_millis_;
  parts_.board->publish(std::move(view));
}

void Daemon::refresh_gauges() {
  const std::int64_t now = parts_.clock->monotonic_millis();
  if (!recovered_ || now < gauges_due_millis_) return;
  gauges_ = std::make_shared<const Gauges>(gauges_of(engine_.state(), parts_.objects_in_metrics));
  gauges_due_millis_ = now + gauges_interval_millis(engine_.state());
}

// Room again: the ballast comes first, then new work.
void Daemon::watch_space() {
  if (!engine_.state().log_space_low() || !parts_.restore_ballast) return;
  const std::int64_t now = parts_.clock->monotonic_millis();
  if (now < look_for_space_millis_) return;
  look_for_space_millis_ = now + kSpaceLookMillis;
  if (!parts_.restore_ballast()) return;
  ballast_released_ = false;
  inbox_.try_offer({events::LogSpaceLow{false}, parts_.clock->wall(), ""});
}

void Daemon::watch_wall_clock() {
  const auto offset = timeline_->jump(parts_.clock->wall(), parts_.clock->monotonic_millis());
  if (!offset) return;
  inbox_.try_offer({events::WallClockJumped{*offset}, parts_.clock->wall(), ""});
}

}  // namespace karst::daemon
