#include "daemon/view.h"

#include <algorithm>

namespace karst::daemon {

void Counters::count(const Happening& h) {
  switch (h.kind) {
    case HappeningKind::kClaimCreated:
      ++claims_created[h.pool];
      break;
    case HappeningKind::kRegistered:
      ++nodes_created[h.pool];
      break;
    case HappeningKind::kNodeGone:
      if (!h.claim.empty()) ++nodes_terminated[h.pool];
      break;
    case HappeningKind::kLaunchRefused:
      ++launches_refused[h.reason];
      break;
    case HappeningKind::kInterrupted:
      ++interruptions[h.reason];
      break;
    case HappeningKind::kClaimGone:
      ++claims_terminated[{h.pool, h.offer.capacity_type, h.offer.zone}];
      break;
    default:
      break;
  }
}

bool View::ready() const {
  return recovered && !disk_full &&
         std::all_of(sources.begin(), sources.end(),
                     [](const auto& source) { return source.second; });
}

}  // namespace karst::daemon
