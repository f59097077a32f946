#include "tests/simulation/log_index.h"

#include <algorithm>

#include "base/check.h"
#include "events/codec.h"

namespace karst::simulation {

namespace {

struct Collect {
  LogIndex& index;
  const events::Event& event;
  std::uint64_t position = event.envelope.position.value();

  void operator()(const model::Command& command) const {
    CommandLife& life = index.commands[position];
    life.command = command;
    life.log_millis = event.envelope.log_time.value();
    life.attempts[1] = position;
    index.last_command_millis = std::max(index.last_command_millis, life.log_millis);
    const model::CommandKind kind = model::kind_of(command.spec);
    if (index.full &&
        (kind == model::CommandKind::kCreateNodeClaim || kind == model::CommandKind::kLaunch))
      index.started_while_full.push_back(position);
    if (const auto* launch = std::get_if<model::Launch>(&command.spec)) {
      for (const model::LaunchItem& item : launch->items)
        index.launches[item.claim.str()][item.attempt].push_back(position);
    } else if (const auto* gone = std::get_if<model::DeleteObject>(&command.spec)) {
      if (gone->object.kind == model::ObjectKind::kNodeClaim)
        note_given_up(gone->object.name),
            index.delete_requests.emplace(gone->object.name, position);
    }
  }
  void operator()(const model::AttemptStarted& started) const {
    index.commands[started.command.value()].attempts[started.attempt] = position;
    index.last_command_millis =
        std::max(index.last_command_millis, event.envelope.log_time.value());
  }
  void operator()(const model::CommandAbandoned& abandoned) const { end(abandoned.command); }
  void operator()(const model::Outcome& outcome) const {
    for (const model::Instance& instance : outcome.instances) {
      index.claim_of[instance.provider_id.str()] = instance.claim.str();
      index.answered.emplace(instance.provider_id.str(), event.envelope.log_time.value());
    }
    if (outcome.kind == model::OutcomeKind::kUnclear) return;
    end(outcome.command);
    const auto at = index.commands.find(outcome.command.value());
    if (at != index.commands.end())
      at->second.blocked = outcome.code == model::RefusalCode::kBlocked;
  }
  void operator()(const events::InterruptionReceived& received) const {
    index.interruptions.emplace(received.interruption.message.str(), position);
    index.notices.emplace(received.interruption.provider_id.str(), event.envelope.log_time.value());
  }
  void operator()(const events::NodeClaimObserved& observed) const {
    index.name_of[observed.claim.uid.str()] = observed.claim.name.str();
    if (observed.claim.deletion_millis != 0) note_given_up(observed.claim.name.str());
  }
  void operator()(const events::NodeClaimGone& gone) const { note_given_up(gone.name.str()); }
  void operator()(const events::LogSpaceLow& space) const { index.full = space.low; }
  void operator()(const events::DaemonStarted&) const {
    index.full = false;
    index.starts.push_back(event.envelope.log_time.value());
  }
  void operator()(const events::RoundClosed&) const { ++index.rounds; }
  template <class Other>
  void operator()(const Other&) const {}

  void note_given_up(const std::string& claim) const {
    index.given_up.emplace(claim, event.envelope.log_time.value());
  }
  void end(model::Position command) const {
    const auto at = index.commands.find(command.value());
    if (at != index.commands.end() && !at->second.ended) at->second.ended = position;
  }
};

}  // namespace

LogIndex index_log(const events::EventLog& log) {
  LogIndex index;
  auto cursor = log.read(model::Position(1));
  KARST_CHECK(cursor.has_value(), "a simulated log can be read");
  while (true) {
    auto event = (*cursor)->next();
    KARST_CHECK(event.has_value(), "a simulated log is whole");
    if (!*event) return index;
    ++index.events;
    const events::Body body = events::decode_body(**event);
    std::visit(Collect{index, **event}, body);
  }
}

}  // namespace karst::simulation
