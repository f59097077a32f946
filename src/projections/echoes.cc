// Which observation shows which command's effect. Only for telling causes: no decision reads it.
#include <algorithm>

#include "projections/apply.h"

namespace karst::projections {
namespace {

using model::CommandKind;

// A change that comes later than this is somebody else's.
constexpr std::int64_t kEchoMaxMillis = 60'000;

struct Shows {
  CommandKind kind;
  bool add;

  bool operator()(const events::PodObserved& e) const { return of_pod(!e.pod.active()); }
  bool operator()(const events::PodGone&) const { return of_pod(true); }
  bool operator()(const events::NodeObserved& e) const {
    const bool tainted = std::any_of(
        e.node.taints.begin(), e.node.taints.end(),
        [](const model::Taint& taint) { return taint.key == model::kDisruptedTaintKey; });
    if (kind == CommandKind::kTaintNode) return tainted == add;
    if (kind == CommandKind::kDeleteObject) return e.node.deletion_millis != 0;
    if (kind == CommandKind::kSetFinalizer) return e.node.has_finalizer == add;
    return kind == CommandKind::kSyncNode;
  }
  bool operator()(const events::NodeClaimObserved& e) const {
    if (kind == CommandKind::kDeleteObject) return e.claim.deletion_millis != 0;
    if (kind == CommandKind::kSetFinalizer) return e.claim.has_finalizer == add;
    return kind == CommandKind::kCreateNodeClaim || kind == CommandKind::kMirrorClaim;
  }
  bool operator()(const events::NodeGone&) const { return removes(); }
  bool operator()(const events::NodeClaimGone&) const { return removes(); }
  bool operator()(const events::InstanceObserved& e) const {
    return kind == CommandKind::kTerminate &&
           (e.instance.state == model::InstanceState::kShuttingDown ||
            e.instance.state == model::InstanceState::kTerminated);
  }
  bool operator()(const events::InstanceGone&) const { return kind == CommandKind::kTerminate; }
  bool operator()(const events::NodePoolObserved&) const {
    return kind == CommandKind::kMirrorPool;
  }
  template <class Other>
  bool operator()(const Other&) const {
    return false;
  }

  bool of_pod(bool leaving) const {
    return leaving && (kind == CommandKind::kEvictPod || kind == CommandKind::kDeleteObject);
  }
  bool removes() const {
    return kind == CommandKind::kDeleteObject || kind == CommandKind::kSetFinalizer;
  }
};

bool is_gone(const events::Body& body) {
  return std::holds_alternative<events::PodGone>(body) ||
         std::holds_alternative<events::NodeGone>(body) ||
         std::holds_alternative<events::NodeClaimGone>(body) ||
         std::holds_alternative<events::NodePoolGone>(body) ||
         std::holds_alternative<events::InstanceGone>(body);
}

}  // namespace

bool waits_for_echo(CommandKind kind) {
  switch (kind) {
    case CommandKind::kDeleteObject:
    case CommandKind::kTerminate:
    case CommandKind::kTaintNode:
    case CommandKind::kEvictPod:
    case CommandKind::kSetFinalizer:
    case CommandKind::kFindInstances:
    case CommandKind::kSyncNode:
    case CommandKind::kMirrorClaim:
    case CommandKind::kMirrorPool:
    case CommandKind::kMirrorStatus:
    case CommandKind::kResolveNodeClass:
    case CommandKind::kSyncNodeClass:
    case CommandKind::kReleaseNodeClass:
      return true;
    case CommandKind::kCreateNodeClaim:
    case CommandKind::kLaunch:
    case CommandKind::kReadBackNode:
      return false;
  }
  return false;
}

bool leaves_an_echo(CommandKind kind) {
  switch (kind) {
    case CommandKind::kCreateNodeClaim:
    case CommandKind::kDeleteObject:
    case CommandKind::kTerminate:
    case CommandKind::kTaintNode:
    case CommandKind::kEvictPod:
    case CommandKind::kSetFinalizer:
    case CommandKind::kSyncNode:
    case CommandKind::kMirrorClaim:
    case CommandKind::kMirrorPool:
      return true;
    case CommandKind::kMirrorStatus:
    case CommandKind::kResolveNodeClass:
    case CommandKind::kSyncNodeClass:
    case CommandKind::kReleaseNodeClass:
    case CommandKind::kLaunch:
    case CommandKind::kReadBackNode:
    case CommandKind::kFindInstances:
      return false;
  }
  return false;
}

const EchoRow* ClusterState::echo_shown_by(const std::string& stream, const events::Body& body,
                                           LogTime now) const {
  if (echoes_.size() == 0) return nullptr;
  const EchoRow* latest = nullptr;
  const auto& slots = echoes_.slots();
  for (auto at = slots.lower_bound(SubjectKind(stream, CommandKind{}));
       at != slots.end() && at->first.first == stream; ++at) {
    const EchoRow& row = at->second.row;
    if (now - row.asked_at <= kEchoMaxMillis &&
        std::visit(Shows{at->first.second, row.add}, body) &&
        (latest == nullptr || row.command > latest->command))
      latest = &row;
  }
  return latest;
}

void ClusterState::settle_echoes(std::string_view stream, const events::Body& body) {
  if (echoes_.size() == 0) return;
  std::vector<SubjectKind> settled;
  const auto& slots = echoes_.slots();
  const std::string subject(stream);
  const bool gone = is_gone(body);
  for (auto at = slots.lower_bound(SubjectKind(subject, CommandKind{}));
       at != slots.end() && at->first.first == subject; ++at)
    if (gone || std::visit(Shows{at->first.second, at->second.row.add}, body))
      settled.push_back(at->first);
  for (const SubjectKind& key : settled) echoes_.erase(key);
}

}  // namespace karst::projections
