#include "daemon/standby.h"

#include <algorithm>

#include "events/codec.h"

namespace karst::daemon {
namespace {

using events::EventType;

bool is_of_the_process(HappeningKind kind) {
  switch (kind) {
    case HappeningKind::kStarted:
    case HappeningKind::kWallClockJumped:
    case HappeningKind::kInputRefused:
    case HappeningKind::kTailCut:
    case HappeningKind::kLogSpaceLow:
    case HappeningKind::kLogSpaceBack:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Standing::prime(const projections::ClusterState& state) {
  epoch_ = state.epoch();
  leads_ = !state.leadership_lost();
}

// As the state folds them.
void Standing::note(const events::Event& event) {
  if (event.envelope.type == EventType::kDaemonStarted) leads_ = true;
  if (event.envelope.type == EventType::kEpochOpened) {
    epoch_ = std::get<events::EpochOpened>(events::decode_body(event)).epoch;
    leads_ = true;
  }
  if (event.envelope.type == EventType::kLeadershipLost)
    leads_ = leads_ && std::get<events::LeadershipLost>(events::decode_body(event)).epoch < epoch_;
}

void Standing::keep_to_oneself(const events::Event& event, bool covered, std::size_t first,
                               std::vector<Happening>& happenings) {
  note(event);
  if ((leads_ && covered) || event.envelope.type == EventType::kOutcomeReceived) return;
  happenings.erase(
      std::remove_if(happenings.begin() + static_cast<std::ptrdiff_t>(first), happenings.end(),
                     [](const Happening& h) { return !is_of_the_process(h.kind); }),
      happenings.end());
}

}  // namespace karst::daemon
