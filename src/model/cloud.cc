#include "model/cloud.h"

namespace karst::model {

// The names that Karpenter's interruption log lines and metrics use.
std::string_view interruption_kind_name(InterruptionKind kind) {
  switch (kind) {
    case InterruptionKind::kSpotInterruption:
      return "spot_interrupted";
    case InterruptionKind::kRebalanceRecommendation:
      return "rebalance_recommendation";
    case InterruptionKind::kScheduledChange:
      return "scheduled_change";
    case InterruptionKind::kInstanceStopping:
      return "instance_stopping";
    case InterruptionKind::kInstanceTerminated:
      return "instance_terminated";
    case InterruptionKind::kReservationInterruption:
      return "capacity_reservation_interrupted";
    case InterruptionKind::kOther:
      return "other";
  }
  return "?";
}

}  // namespace karst::model
