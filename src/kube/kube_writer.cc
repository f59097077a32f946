#include "kube/kube_writer.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "kube/answer.h"
#include "kube/node_patch.h"
#include "kube/read_back.h"
#include "objects/json.h"
#include "objects/writer.h"

namespace karst::kube {
namespace {

using model::RefusalCode;
using nlohmann::json;

std::string node_path(const model::NodeName& name) {
  return "/api/v1/nodes/" + escaped(name.str());
}
std::string claim_path(const model::ClaimName& name) {
  return "/apis/karpenter.sh/v1/nodeclaims/" + escaped(name.str());
}
std::string pool_path(const model::PoolName& name) {
  return "/apis/karpenter.sh/v1/nodepools/" + escaped(name.str());
}
// Empty for a kind that is only read.
std::string class_path(const model::NodeClassRef& ref) {
  if (ref.group != "karpenter.k8s.aws" || ref.kind != "EC2NodeClass") return {};
  return "/apis/karpenter.k8s.aws/v1/ec2nodeclasses/" + escaped(ref.name);
}
// Of objects whose status is explained and that are not owned; empty for another kind.
std::string status_owner_path(const model::MirrorStatus& spec) {
  if (std::string path = class_path({spec.group, spec.kind, spec.name}); !path.empty()) return path;
  if (spec.group == "karpenter.sh" && spec.kind == "NodeOverlay")
    return "/apis/karpenter.sh/v1alpha1/nodeoverlays/" + escaped(spec.name);
  if (spec.group == "autoscaling.x-k8s.io" && spec.kind == "CapacityBuffer")
    return "/apis/autoscaling.x-k8s.io/v1beta1/namespaces/" + escaped(spec.namespace_name) +
           "/capacitybuffers/" + escaped(spec.name);
  return {};
}
std::string pod_path(const std::string& namespace_name, const std::string& name) {
  return "/api/v1/namespaces/" + escaped(namespace_name) + "/pods/" + escaped(name);
}

std::string path_of(const model::ObjectRef& object) {
  switch (object.kind) {
    case model::ObjectKind::kPod:
      return pod_path(object.namespace_name, object.name);
    case model::ObjectKind::kNode:
      return node_path(model::NodeName(object.name));
    case model::ObjectKind::kNodeClaim:
      return claim_path(model::ClaimName(object.name));
  }
  return {};
}

json parse(const http::Response& response) {
  return json::parse(response.body, nullptr, false);
}

json delete_options(const std::string& uid) {
  json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!uid.empty()) options["preconditions"] = {{"uid", uid}};
  return options;
}

Call call_to(http::Method method, std::string path, std::string body = {},
             std::string_view content_type = kJson) {
  Call call;
  call.method = method;
  call.path = std::move(path);
  call.body = std::move(body);
  call.content_type = content_type;
  return call;
}

// 422 means that the values are invalid, or that what the patch tests is not so: `untrue`.
model::Outcome mirror_failed(const ports::IssuedCommand& command, const http::Response& response,
                             RefusalCode untrue) {
  model::Outcome outcome = failed(command, response, Asked::kWrite);
  const bool values = response.body.find("is invalid") != std::string::npos &&
                      response.body.find("metadata.uid") == std::string::npos;
  if (response.status == 422 && !values) outcome.code = untrue;
  return outcome;
}

// An object that is gone has no finalizer.
bool gone_is_done(const model::CommandSpec& spec) {
  if (const auto* sync = std::get_if<model::SyncNodeClass>(&spec)) return sync->remove_finalizer;
  const auto* finalizer = std::get_if<model::SetFinalizer>(&spec);
  return finalizer != nullptr && !finalizer->add;
}

// 429 from the eviction API is a disruption budget's word; from the server's flow control it is
// not. When several budgets match the pod it is 500.
bool blocked_by_budget(const http::Response& response) {
  return (response.status == 429 || response.status == 500) &&
         response.body.find("DisruptionBudget") != std::string::npos;
}

}  // namespace

KubeWriter::KubeWriter(Client& client, ports::FactSink& sink, const base::Clock& clock)
    : client_(client), sink_(sink), clock_(clock) {}

void KubeWriter::submit(const ports::IssuedCommand& issued) {
  const auto command = std::make_shared<const ports::IssuedCommand>(issued);
  if (in_flight_.fetch_add(1) >= ports::kInFlightMax) {
    // Told on the transport's thread: the engine, which called us, must not wait for its own inbox.
    client_.after(0, [this, command] {
      finish(ports::refused(*command, RefusalCode::kThrottled, "too many commands in flight"));
    });
    return;
  }
  std::visit([&](const auto& spec) { run(command, spec); }, command->spec);
}

template <class CloudCommand>
void KubeWriter::run(const Command& command, const CloudCommand&) {
  static_assert(std::is_same_v<CloudCommand, model::Launch> ||
                std::is_same_v<CloudCommand, model::Terminate> ||
                std::is_same_v<CloudCommand, model::FindInstances> ||
                std::is_same_v<CloudCommand, model::ResolveNodeClass> ||
                std::is_same_v<CloudCommand, model::ReleaseNodeClass>);
  KARST_CHECK(!model::goes_to_cloud(model::kind_of(command->spec)),
              "a command of the cloud at the API server's hands");
}

void KubeWriter::finish(model::Outcome outcome) {
  in_flight_.fetch_sub(1);
  (void)sink_.offer(
      {std::move(outcome), clock_.wall(), {}});  // a stopping engine finds out after its restart
}

void KubeWriter::send(const Command& command, Call call, Then then) {
  call.audit_id = audit_id(*command);
  call.may_leave = command->may_leave;
  client_.send(std::move(call),
               [then = std::move(then)](const http::Response& response) { then(response); });
}

// A patch that tests what it replaces: 409 and 422 say that the object has changed since it was
// read.
void KubeWriter::patch(const Command& command, const std::string& path, std::string body,
                       std::string_view content_type) {
  send(command, call_to(http::Method::kPatch, path, std::move(body), content_type),
       [this, command](const auto& response) {
         if (response.ok() || (response.status == 404 && gone_is_done(command->spec)))
           return finish(ports::done(*command));
         model::Outcome outcome = failed(*command, response, Asked::kWrite);
         if (response.status == 422) outcome.code = RefusalCode::kConflict;
         finish(std::move(outcome));
       });
}

void KubeWriter::run(const Command& command, const model::CreateNodeClaim& spec) {
  model::NodeClaim claim = spec.claim;
  model::set_label(claim.annotations, model::kCommandIdAnnotation, model::to_string(command->id));
  send(command,
       call_to(http::Method::kPost, "/apis/karpenter.sh/v1/nodeclaims",
               objects::node_claim_json(claim)),
       [this, command, &spec](const auto& response) {
         if (response.status == 409) return existing_claim(command, spec);
         if (!response.ok()) return finish(failed(*command, response, Asked::kWrite));
         model::Outcome outcome = ports::done(*command);
         outcome.object_uid = uid_of(parse(response));
         finish(std::move(outcome));
       });
}

// The name is taken: by an earlier attempt of this very command, or by somebody else.
void KubeWriter::existing_claim(const Command& command, const model::CreateNodeClaim& spec) {
  send(
      command, call_to(http::Method::kGet, claim_path(spec.claim.name)),
      [this, command](const auto& response) {
        if (!response.ok()) return finish(failed(*command, response, Asked::kRead));
        const json claim = parse(response);
        if (annotation_of(claim, model::kCommandIdAnnotation) != model::to_string(command->id))
          return finish(ports::refused(*command, RefusalCode::kConflict,
                                       "a NodeClaim of that name exists, made by another command"));
        model::Outcome outcome = ports::done(*command);
        outcome.object_uid = uid_of(claim);
        finish(std::move(outcome));
      });
}

void KubeWriter::run(const Command& command, const model::DeleteObject& spec) {
  send(command,
       call_to(http::Method::kDelete, path_of(spec.object), delete_options(spec.object.uid).dump()),
       [this, command](const auto& response) {
         // 409: another object has the name now.
         const bool absent = response.status == 404 || response.status == 409;
         if (!response.ok() && !absent) return finish(failed(*command, response, Asked::kWrite));
         model::Outcome outcome = ports::done(*command);
         if (absent) outcome.code = RefusalCode::kGone;
         finish(std::move(outcome));
       });
}

// Reads the node, makes the patch from what it shows, and sends it; nothing to change is done.
template <class Spec, class MakePatch>
void KubeWriter::patch_node(const Command& command, const Spec& spec, MakePatch make_patch) {
  send(command, call_to(http::Method::kGet, node_path(spec.node)),
       [this, command, &spec, make_patch](const auto& response) {
         if (!response.ok()) return finish(failed(*command, response, Asked::kRead));
         const json node = parse(response);
         if (uid_of(node) != spec.uid.str())
           return finish(
               ports::refused(*command, RefusalCode::kGone, "another node has the name now"));
         auto body = make_patch(node, spec);
         if (!body) return finish(ports::done(*command));
         patch(command, node_path(spec.node), std::move(*body), kJsonPatch);
       });
}

void KubeWriter::run(const Command& command, const model::TaintNode& spec) {
  patch_node(command, spec, taint_patch);
}

void KubeWriter::run(const Command& command, const model::SyncNode& spec) {
  patch_node(command, spec, sync_patch);
}

void KubeWriter::run(const Command& command, const model::EvictPod& spec) {
  json options = delete_options(spec.uid.str());
  if (spec.grace_seconds >= 0) options["gracePeriodSeconds"] = spec.grace_seconds;
  const std::string path = pod_path(spec.namespace_name, spec.name);
  Call call;
  if (spec.force) {
    call = call_to(http::Method::kDelete, path, options.dump());
  } else {
    const json eviction = {{"apiVersion", "policy/v1"},
                           {"kind", "Eviction"},
                           {"metadata", {{"name", spec.name}, {"namespace", spec.namespace_name}}},
                           {"deleteOptions", std::move(options)}};
    call = call_to(http::Method::kPost, path + "/eviction", eviction.dump());
  }
  send(command, std::move(call), [this, command, force = spec.force](const auto& response) {
    if (response.ok() || response.status == 404 || response.status == 409)
      return finish(ports::done(*command));
    if (!force && blocked_by_budget(response))
      return finish(ports::refused(*command, RefusalCode::kBlocked, failure_text(response)));
    // The eviction API answers 500 without evicting.
    if (response.status == 500 && !force)
      return finish(ports::refused(*command, RefusalCode::kRetry, failure_text(response)));
    finish(failed(*command, response, Asked::kWrite));
  });
}

void KubeWriter::run(const Command& command, const model::SetFinalizer& spec) {
  send(command, call_to(http::Method::kGet, path_of(spec.object)),
       [this, command, &spec](const auto& response) {
         if (!response.ok() && response.status != 404)
           return finish(failed(*command, response, Asked::kRead));
         const json object = response.status == 404 ? json() : parse(response);
         const bool another = !spec.object.uid.empty() && uid_of(object) != spec.object.uid;
         if (response.status == 404 || another) {
           // An object that is gone has no finalizer.
           return finish(spec.add
                             ? ports::refused(*command, RefusalCode::kGone, "the object is gone")
                             : ports::done(*command));
         }
         auto body = finalizer_patch(object, spec.add);
         if (!body) return finish(ports::done(*command));
         patch(command, path_of(spec.object), std::move(*body), kJsonPatch);
       });
}

void KubeWriter::run(const Command& command, const model::ReadBackNode& spec) {
  send(command, call_to(http::Method::kGet, node_path(spec.node)),
       [this, command, &spec](const auto& response) {
         if (!response.ok() && response.status != 404)
           return finish(failed(*command, response, Asked::kRead));
         model::NodeReadBack read_back;
         if (response.ok()) {
           const auto read = read_back_node(response.body, spec.uid);
           if (!read)
             return finish(ports::refused(*command, RefusalCode::kRetry, read.error().message));
           read_back = *read;
         }
         read_pods(command, spec, std::move(read_back));
       });
}

// Without a resourceVersion: the server asks etcd's quorum, not its cache.
void KubeWriter::read_pods(const Command& command, const model::ReadBackNode& spec,
                           model::NodeReadBack read_back) {
  Call call = call_to(http::Method::kGet,
                      "/api/v1/pods?fieldSelector=" + escaped("spec.nodeName=" + spec.node.str()));
  call.response_bytes_max = objects::kListBytesMax;
  send(command, std::move(call),
       [this, command, read_back = std::move(read_back)](const auto& response) mutable {
         if (!response.ok()) return finish(failed(*command, response, Asked::kRead));
         auto pods = read_back_pods(response.body);
         if (!pods)
           return finish(ports::refused(*command, RefusalCode::kRetry, pods.error().message));
         read_back.pods = std::move(*pods);
         model::Outcome outcome = ports::done(*command);
         outcome.read_back = std::move(read_back);
         finish(std::move(outcome));
       });
}

// What the API server holds is what the patch of the status is made from: the answer to the patch
// of the metadata, if there is anything to say there, or else a read.
void KubeWriter::mirror(const Command& command, const std::string& path, const std::string& uid,
                        std::string metadata, StatusPatch status) {
  const bool asks = metadata.empty();
  Call call = asks ? call_to(http::Method::kGet, path)
                   : call_to(http::Method::kPatch, path, std::move(metadata), kMergePatch);
  send(command, std::move(call),
       [this, command, path, uid, asks, status = std::move(status)](const auto& response) {
         if (!response.ok())
           return finish(asks ? failed(*command, response, Asked::kRead)
                              : mirror_failed(*command, response, RefusalCode::kGone));
         const json object = parse(response);
         if (uid_of(object).empty())  // something on the way answered in its place
           return finish(ports::refused(*command, RefusalCode::kRetry,
                                        "the answer to " + path + " is not an object with a UID"));
         if (uid_of(object) != uid)
           return finish(
               ports::refused(*command, RefusalCode::kGone, "another object has the name now"));
         mirror_status(command, path, status(object));
       });
}

void KubeWriter::mirror_status(const Command& command, const std::string& path, std::string patch) {
  send(command, call_to(http::Method::kPatch, path + "/status", std::move(patch), kJsonPatch),
       [this, command](const auto& response) {
         finish(response.ok() ? ports::done(*command)
                              : mirror_failed(*command, response, RefusalCode::kConflict));
       });
}

void KubeWriter::run(const Command& command, const model::MirrorClaim& spec) {
  mirror(command, claim_path(spec.name), spec.uid.str(), objects::claim_metadata_patch(spec),
         [&spec](const json& claim) { return objects::claim_status_patch(claim, spec); });
}

void KubeWriter::run(const Command& command, const model::MirrorPool& spec) {
  mirror(command, pool_path(spec.name), spec.uid,
         spec.hash.empty() ? std::string() : objects::pool_annotations_patch(spec),
         [&spec](const json& pool) { return objects::pool_status_patch(pool, spec); });
}

void KubeWriter::run(const Command& command, const model::MirrorStatus& spec) {
  const std::string path = status_owner_path(spec);
  if (path.empty())
    return finish(
        ports::refused(*command, RefusalCode::kInvalid, "no status is known of a " + spec.kind));
  mirror(command, path, spec.uid, {},
         [&spec](const json& object) { return objects::status_patch(object, spec); });
}

void KubeWriter::run(const Command& command, const model::SyncNodeClass& spec) {
  const std::string path = class_path(spec.ref);
  if (path.empty())
    return finish(ports::refused(*command, RefusalCode::kInvalid,
                                 "nothing is written to a " + spec.ref.kind));
  send(command, call_to(http::Method::kGet, path), [this, command, path, &spec](const auto& got) {
    if (!got.ok() && got.status != 404) return finish(failed(*command, got, Asked::kRead));
    const json object = got.status == 404 ? json() : parse(got);
    if (got.status == 404 || uid_of(object) != spec.uid)
      return finish(gone_is_done(command->spec)
                        ? ports::done(*command)
                        : ports::refused(*command, RefusalCode::kGone, "the object is gone"));
    auto body = class_patch(object, spec);
    if (!body) return finish(ports::done(*command));
    patch(command, path, std::move(*body), kJsonPatch);
  });
}

}  // namespace karst::kube
