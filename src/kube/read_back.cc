#include "kube/read_back.h"

#include <algorithm>

#include "objects/cluster.h"
#include "objects/pod.h"

namespace karst::kube {
namespace {

const model::Taint kDisrupted{std::string(model::kDisruptedTaintKey), "",
                              model::TaintEffect::kNoSchedule};

}  // namespace

base::Result<model::NodeReadBack> read_back_node(std::string_view body, const model::NodeUid& uid) {
  objects::Parser parser;
  const auto parsed = parser.parse(body, objects::kListBytesMax);
  if (!parsed) return base::fail(parsed.error());
  const auto node = objects::reduce_node(*parsed);
  if (!node) return base::fail(node.error());
  model::NodeReadBack read_back;
  read_back.exists = node->uid == uid;
  read_back.tainted =
      std::any_of(node->taints.begin(), node->taints.end(),
                  [](const model::Taint& taint) { return taint.key == model::kDisruptedTaintKey; });
  return read_back;
}

base::Result<std::vector<model::ReadBackPod>> read_back_pods(std::string_view body) {
  objects::Parser parser;
  const auto parsed = parser.parse(body, objects::kListBytesMax);
  if (!parsed) return base::fail(parsed.error());
  std::string_view more;
  if (!parsed->at_pointer("/metadata/continue").get_string().get(more) && !more.empty())
    return base::fail(base::Kind::kInvalid, "the list of pods is not complete");
  std::vector<model::ReadBackPod> pods;
  simdjson::dom::element items;
  if ((*parsed)["items"].get(items))
    return base::fail(base::Kind::kInvalid, "the answer is no list of pods");
  if (items.is_null()) return pods;
  simdjson::dom::array array;
  if (items.get_array().get(array))
    return base::fail(base::Kind::kInvalid, "the answer is no list of pods");
  for (const simdjson::dom::element item : array) {
    auto reduced = objects::reduce_pod(item);
    if (!reduced) {
      auto instead = objects::pod_in_place_of(item);
      if (!instead) return base::fail(reduced.error().with_context("a pod of the list"));
      reduced = std::move(*instead);
    }
    const bool leaves = !reduced->pod.terminal() && !reduced->mirror &&
                        !model::tolerates(reduced->shape.tolerations, kDisrupted);
    pods.push_back({reduced->pod.uid, reduced->pod.namespace_name, reduced->pod.name, leaves,
                    reduced->shape.owner_kind == model::OwnerKind::kDaemonSet,
                    reduced->shape.do_not_disrupt != model::DoNotDisrupt::kNo});
  }
  return pods;
}

}  // namespace karst::kube
