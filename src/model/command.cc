#include "model/command.h"

#include "base/utf8.h"

namespace karst::model {

std::string_view command_kind_name(CommandKind kind) {
  switch (kind) {
    case CommandKind::kCreateNodeClaim:
      return "create-nodeclaim";
    case CommandKind::kDeleteObject:
      return "delete-object";
    case CommandKind::kLaunch:
      return "launch";
    case CommandKind::kTerminate:
      return "terminate";
    case CommandKind::kTaintNode:
      return "taint-node";
    case CommandKind::kEvictPod:
      return "evict-pod";
    case CommandKind::kSetFinalizer:
      return "set-finalizer";
    case CommandKind::kReadBackNode:
      return "read-back-node";
    case CommandKind::kFindInstances:
      return "find-instances";
    case CommandKind::kSyncNode:
      return "sync-node";
    case CommandKind::kMirrorClaim:
      return "mirror-nodeclaim";
    case CommandKind::kMirrorPool:
      return "mirror-nodepool";
    case CommandKind::kMirrorStatus:
      return "mirror-status";
    case CommandKind::kResolveNodeClass:
      return "resolve-nodeclass";
    case CommandKind::kSyncNodeClass:
      return "sync-nodeclass";
    case CommandKind::kReleaseNodeClass:
      return "release-nodeclass";
  }
  return "?";
}

std::string outcome_message(std::string_view told) {
  const std::string text = base::as_utf8(base::cut_utf8(told, kOutcomeMessageMax));
  return std::string(base::cut_utf8(text, kOutcomeMessageMax));
}

std::string_view outcome_kind_name(OutcomeKind kind) {
  switch (kind) {
    case OutcomeKind::kDone:
      return "done";
    case OutcomeKind::kRefused:
      return "refused";
    case OutcomeKind::kUnclear:
      return "unclear";
  }
  return "?";
}

std::string_view refusal_code_name(RefusalCode code) {
  switch (code) {
    case RefusalCode::kNone:
      return "none";
    case RefusalCode::kRetry:
      return "retry";
    case RefusalCode::kCapacity:
      return "capacity";
    case RefusalCode::kGone:
      return "gone";
    case RefusalCode::kConflict:
      return "conflict";
    case RefusalCode::kDenied:
      return "denied";
    case RefusalCode::kInvalid:
      return "invalid";
    case RefusalCode::kThrottled:
      return "throttled";
    case RefusalCode::kBlocked:
      return "blocked";
  }
  return "?";
}

namespace {

std::string object_subject(const ObjectRef& object) {
  switch (object.kind) {
    case ObjectKind::kPod:
      return "pod/" + object.uid;
    case ObjectKind::kNode:
      return "node/" + object.name;
    case ObjectKind::kNodeClaim:
      return "nodeclaim/" + object.name;
  }
  return "?";
}

struct SubjectOf {
  std::string operator()(const CreateNodeClaim& c) const {
    return "nodeclaim/" + c.claim.name.str();
  }
  std::string operator()(const DeleteObject& c) const { return object_subject(c.object); }
  std::string operator()(const Launch& c) const {
    return "nodeclaim/" + (c.items.empty() ? std::string() : c.items.front().name.str());
  }
  std::string operator()(const Terminate& c) const { return "instance/" + c.provider_id.str(); }
  std::string operator()(const TaintNode& c) const { return "node/" + c.node.str(); }
  std::string operator()(const EvictPod& c) const { return "pod/" + c.uid.str(); }
  std::string operator()(const SetFinalizer& c) const { return object_subject(c.object); }
  std::string operator()(const ReadBackNode& c) const { return "node/" + c.node.str(); }
  std::string operator()(const FindInstances& c) const {
    return c.provider_id.empty() ? "claim-tag/" + c.claim.str() : "instance/" + c.provider_id.str();
  }
  std::string operator()(const SyncNode& c) const { return "node/" + c.node.str(); }
  std::string operator()(const MirrorClaim& c) const { return "nodeclaim/" + c.name.str(); }
  std::string operator()(const MirrorPool& c) const { return "nodepool/" + c.name.str(); }
  std::string operator()(const MirrorStatus& c) const {
    return status_subject(c.kind, c.namespace_name, c.name);
  }
  std::string operator()(const ResolveNodeClass& c) const { return "nodeclass/" + c.ref.name; }
  std::string operator()(const SyncNodeClass& c) const { return "nodeclass/" + c.ref.name; }
  std::string operator()(const ReleaseNodeClass& c) const { return "nodeclass/" + c.ref.name; }
};

}  // namespace

std::string status_subject(std::string kind, const std::string& namespace_name,
                           const std::string& name) {
  for (char& letter : kind)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return kind + "/" + (namespace_name.empty() ? "" : namespace_name + "/") + name;
}

std::string subject_of(const CommandSpec& spec) {
  return std::visit(SubjectOf{}, spec);
}

}  // namespace karst::model
