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
  // Puts another value in the place of the list's element, or takes the element out if `wanted` is
  // null, under the test that it is still there; the rest of the list may change.
  void change_element(const std::string& list, std::size_t index, const json& found,
                      const json& wanted) {
    const std::string pointer = list + "/" + std::to_string(index);
    operations_.push_back({{"op", "test"}, {"path", pointer}, {"value", found}});
    if (wanted.is_null())
      operations_.push_back({{"op", "remove"}, {"path", pointer}});
    else
      operations_.push_back({{"op", "replace"}, {"path", pointer}, {"value", wanted}});
  }
  // At the end. No list: it is made, under the test that there still is none.
  void append(const std::string& list, const json& elements) {
    if (elements.empty()) return;
    if (!at(object_, list).is_array()) {
      operations_.push_back({{"op", "test"}, {"path", list}, {"value", nullptr}});
      operations_.push_back({{"op", "add"}, {"path", list}, {"value", elements}});
      return;
    }
    for (const json& element : elements)
      operations_.push_back({{"op", "add"}, {"path", list + "/-"}, {"value", element}});
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

bool any_is(const std::vector<model::Taint>& taints, const json& found) {
  return std::any_of(taints.begin(), taints.end(),
                     [&](const model::Taint& taint) { return same_taint(found, taint); });
}

json taint_object(const model::Taint& taint) {
  json object = {{"key", taint.key},
                 {"effect", std::string(model::taint_effect_name(taint.effect))}};
  if (!taint.value.empty()) object["value"] = taint.value;
  return object;
}

// A taint is its key and effect; another value is replaced. Each operation is about one taint: the
// list has many writers, and none of the others' is lost or stands in the way of ours. Somebody who
// adds the same taint meanwhile makes the API server refuse the second one (422, Duplicate value).
void change_taints(Patch& patch, const json& node, const std::vector<model::Taint>& add,
                   const std::vector<model::Taint>& remove) {
  const std::string list = "/spec/taints";
  const json taints = array_at(node, list);
  json missing = json::array();
  for (auto taint = add.begin(); taint != add.end(); ++taint) {
    const json wanted = taint_object(*taint);
    if (any_is({std::next(taint), add.end()}, wanted)) continue;  // the last one's value counts
    bool there = false;
    for (std::size_t i = 0; i < taints.size(); ++i) {
      if (!same_taint(taints[i], *taint) || any_is(remove, taints[i])) continue;
      there = true;
      if (text(taints[i], "value") != taint->value)
        patch.change_element(list, i, taints[i], wanted);
    }
    if (!there) missing.push_back(wanted);
  }
  // From the end: what is taken out moves those behind it.
  for (std::size_t i = taints.size(); i-- > 0;)
    if (any_is(remove, taints[i])) patch.change_element(list, i, taints[i], json());
  patch.append(list, missing);
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
  Patch patch(node);
  if (command.add)
    change_taints(patch, node, {command.taint}, {});
  else
    change_taints(patch, node, {}, {command.taint});
  return patch.finish();
}

std::optional<std::string> sync_patch(const json& node, const model::SyncNode& command) {
  Patch patch(node);
  patch.set_keys("/metadata/labels", command.labels);
  patch.set_keys("/metadata/annotations", command.annotations);
  // Taints are given once: the owner of a startup taint may have taken it away since an earlier
  // attempt, of which only the answer was lost.
  const bool registered =
      text(at(node, "/metadata/labels"), std::string(model::kRegisteredLabel).c_str()) == "true";
  change_taints(patch, node, registered ? std::vector<model::Taint>() : command.add_taints,
                command.remove_taints);
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
