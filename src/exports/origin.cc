#include "exports/origin.h"

#include "events/codec.h"
#include "projections/cluster_state.h"

namespace karst::exports {

base::Result<Origin> origin_of(const events::EventLog& log) {
  Origin origin{log.id().str(), ""};
  auto baseline = log.baseline();
  if (!baseline) return base::fail(baseline.error());
  projections::ClusterState state;
  if (*baseline && state.load((*baseline)->bytes)) {
    origin.cluster_uid = state.config().cluster_uid;
    return origin;
  }
  auto cursor = log.read(log.first());
  if (!cursor) return base::fail(cursor.error());
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) break;
    if ((*event)->envelope.type != events::EventType::kDaemonStarted) continue;
    const events::Body body = events::decode_body(**event);
    origin.cluster_uid = std::get<events::DaemonStarted>(body).config.cluster_uid;
    break;
  }
  return origin;
}

}  // namespace karst::exports
