#include "projections/baseline.h"

namespace karst::projections {

base::Result<std::optional<events::Baseline>> load_baseline(const events::EventLog& log,
                                                            ClusterState& state) {
  auto baseline = log.baseline();
  if (!baseline || !*baseline) return baseline;
  const std::string place = std::to_string((*baseline)->position.value());
  if ((*baseline)->projection != kProjectionVersion)
    return base::fail(base::Kind::kGone,
                      "the log was trimmed, and what it keeps of its first " + place +
                          " positions is the state as projection version " +
                          (*baseline)->projection + " has it; this build has version " +
                          std::string(kProjectionVersion) +
                          ": use the build that wrote it, or the whole log, which 'karst log "
                          "restore' makes of the archive");
  KARST_TRY(state.load((*baseline)->bytes));
  if (state.last_position() != (*baseline)->position || state.log_id() != log.id())
    return base::fail(base::Kind::kCorrupt,
                      "the baseline of this trimmed log is not the state at "
                      "position " +
                          place);
  return baseline;
}

}  // namespace karst::projections
