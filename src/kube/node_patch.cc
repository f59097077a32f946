#include "kube/node_patch.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace karst::kube {
namespace {

using nlohmann::json;

// The value at `pointer`; null when any step is absent.
json at(const json& object, const std::string& pointer) {
  const json::json_pointer path(pointer);
  return object.contains(path) ? object.at(path) : json();
}

std::string text(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

json array_at(const json& object, const std::string& pointer) {
  json value = at(object, pointer);
  return value.is_array() ? value : json::array();
}

std::string pointer_token(std::string_view key) {  // RFC 6901
  std::string out;
  for (const char c : key) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

class Patch {
 public:
  explicit Patch(const json& object) : object_(object) {}

  // Replaces the list at `pointer`, if it is different, under the test that it still is as it was
  // read.
  void replace_list(const std::string& pointer, const json& wanted) {
    const json found = at(object_, pointer);
    if (found == wanted || (found.is_null() && wanted.empty())) return;
    operations_.push_back({{"op", "test"}, {"path", pointer}, {"value", found}});
    operations_.push_back({{"op", "add"}, {"path", pointer}, {"value", wanted}});
  }
  void set_keys(const std::string& pointer, const model::Labels& wanted) {
    const json found = at(object_, pointer);
    if (wanted.empty()) return;
    if (!found.is_object()) {
      json all = json::object();
      for (const auto& [key, value] : wanted) all[key] = value;
      operations_.push_back({{"op", "test"}, {"path", pointer}, {"value", nullptr}});
      operations_.push_back({{"op", "add"}, {"path", pointer}, {"value", std::move(all)}});
      return;
    }
    for (const auto& [key, value] : wanted)
      if (text(found, key.c_str()) != value || !found.contains(key))
        operations_.push_back(
            {{"op", "add"}, {"path", pointer + "/" + pointer_token(key)}, {"value", value}});
  }
  std::optional<std::string> finish() const {
    if (operations_.empty()) return std::nullopt;
    json all =
        json::array({{{"op", "test"}, {"path", "/metadata/uid"}, {"value", uid_of(object_)}}});
    all.insert(all.end(), operations_.begin(), operations_.end());
    return all.dump(-1, ' ', false, json::error_handler_t::replace);
  }

 private:
  const json& object_;
  json operations_ = json::array();
};

bool same_taint(const json& found, const model::Taint& taint) {
  return text(found, "key") == taint.key &&
         text(found, "effect") == model::taint_effect_name(taint.effect);
}

void remove_taint(json& taints, const model::Taint& taint) {
  json kept = json::array();
  for (const json& found : taints)
    if (!same_taint(found, taint)) kept.push_back(found);
  taints = std::move(kept);
}

// A taint is its key and effect; another value is replaced.
void add_taint(json& taints, const model::Taint& taint) {
  for (const json& found : taints)
    if (same_taint(found, taint) && text(found, "value") == taint.value) return;
  remove_taint(taints, taint);
  json object = {{"key", taint.key},
                 {"effect", std::string(model::taint_effect_name(taint.effect))}};
  if (!taint.value.empty()) object["value"] = taint.value;
  taints.push_back(std::move(object));
}

json finalizers_with(const json& object, bool wanted,
                     const std::string& which = std::string(model::kTerminationFinalizer)) {
  json finalizers = array_at(object, "/metadata/finalizers");
  const json ours = which;
  const auto found = std::find(finalizers.begin(), finalizers.end(), ours);
  if (wanted && found == finalizers.end()) finalizers.push_back(ours);
  if (!wanted && found != finalizers.end()) finalizers.erase(found);
  return finalizers;
}

json owners_with(const json& node, const model::SyncNode& command) {
  json owners = array_at(node, "/metadata/ownerReferences");
  for (const json& owner : owners)
    if (text(owner, "uid") == command.owner_uid.str()) return owners;
  owners.push_back({{"apiVersion", "karpenter.sh/v1"},
                    {"kind", "NodeClaim"},
                    {"name", command.owner.str()},
                    {"uid", command.owner_uid.str()},
                    {"blockOwnerDeletion", true}});
  return owners;
}

}  // namespace

std::string uid_of(const json& object) {
  return text(at(object, "/metadata"), "uid");
}

std::string annotation_of(const json& object, std::string_view key) {
  return text(at(object, "/metadata/annotations"), std::string(key).c_str());
}

std::optional<std::string> taint_patch(const json& node, const model::TaintNode& command) {
  json taints = array_at(node, "/spec/taints");
  if (command.add)
    add_taint(taints, command.taint);
  else
    remove_taint(taints, command.taint);
  Patch patch(node);
  patch.replace_list("/spec/taints", taints);
  return patch.finish();
}

std::optional<std::string> sync_patch(const json& node, const model::SyncNode& command) {
  json taints = array_at(node, "/spec/taints");
  for (const model::Taint& taint : command.remove_taints) remove_taint(taints, taint);
  for (const model::Taint& taint : command.add_taints) add_taint(taints, taint);
  Patch patch(node);
  patch.set_keys("/metadata/labels", command.labels);
  patch.set_keys("/metadata/annotations", command.annotations);
  patch.replace_list("/spec/taints", taints);
  if (command.add_finalizer)
    patch.replace_list("/metadata/finalizers", finalizers_with(node, true));
  if (!command.owner_uid.empty())
    patch.replace_list("/metadata/ownerReferences", owners_with(node, command));
  return patch.finish();
}

std::optional<std::string> class_patch(const json& object, const model::SyncNodeClass& command) {
  Patch patch(object);
  if (!command.hash.empty()) {
    const model::NodeClassRef& ref = command.ref;
    patch.set_keys("/metadata/annotations",
                   {{model::class_hash_key(ref.group, ref.kind), command.hash},
                    {model::class_hash_version_key(ref.group, ref.kind), command.hash_version}});
  }
  if (command.add_finalizer || command.remove_finalizer)
    patch.replace_list(
        "/metadata/finalizers",
        finalizers_with(object, command.add_finalizer, model::class_finalizer(command.ref.group)));
  return patch.finish();
}

std::optional<std::string> finalizer_patch(const json& object, bool add) {
  Patch patch(object);
  patch.replace_list("/metadata/finalizers", finalizers_with(object, add));
  return patch.finish();
}

}  // namespace karst::kube
