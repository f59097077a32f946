#include "providers/aws/late_user_data.h"

#include "base/base64.h"
#include "providers/aws/json_fields.h"

namespace karst::providers::aws {
namespace {

constexpr const char* kData = "LaunchTemplateData";
constexpr const char* kUserData = "UserData";

template <class Fields, class Input>
void plain_fields(Fields field, Input& in) {
  field("clusterName", in.cluster.name);
  field("endpoint", in.cluster.endpoint);
  field("ca", in.cluster.ca);
  field("dns", in.cluster.dns_ip);
  field("cidr", in.cluster.service_cidr);
  field("ipv6", in.cluster.ipv6);
  field("kubelet", in.kubelet_json);
  field("raid", in.raid);
  field("aliasVersion", in.alias_version);
  field("maxPods", in.max_pods);
}

Tree to_tree(const UserDataInput& input) {
  Tree out = {{"family", static_cast<int>(input.family)}};
  plain_fields(WritingFields(out), input);
  out["labels"] = Tree::object();
  for (const auto& [key, value] : input.labels) out["labels"][key] = value;
  out["taints"] = Tree::array();
  for (const model::Taint& taint : input.taints)
    out["taints"].push_back({taint.key, taint.value, model::taint_effect_name(taint.effect)});
  return out;
}

bool read_taint(const Tree& one, model::Taint& taint) {
  if (!one.is_array() || one.size() != 3) return false;
  for (const Tree& part : one)
    if (!part.is_string()) return false;
  const auto effect = model::parse_taint_effect(one[2].get<std::string>());
  if (!effect) return false;
  taint = {one[0].get<std::string>(), one[1].get<std::string>(), *effect};
  return true;
}

base::Result<UserDataInput> read(const Tree& from) {
  UserDataInput input;
  bool ok = true;
  std::int64_t family = -1;
  ReadingFields(from, ok)("family", family);
  plain_fields(ReadingFields(from, ok), input);
  ok = ok && family >= 0 && family <= static_cast<int>(Family::kWindows2025) &&
       from.contains("labels") && from["labels"].is_object() && from.contains("taints") &&
       from["taints"].is_array();
  if (ok) {
    input.family = static_cast<Family>(family);
    for (const auto& [key, value] : from["labels"].items())
      if (value.is_string()) model::set_label(input.labels, key, value.get<std::string>());
    for (const Tree& one : from["taints"]) ok = read_taint(one, input.taints.emplace_back()) && ok;
  }
  if (!ok) return base::fail(base::Kind::kInvalid, "a launch order's bytes: its user data");
  return input;
}

const Tree* lacking(const Request& launch_template) {
  const Tree& all = launch_template.parameters;
  if (!all.is_object() || !all.contains(kData) || !all[kData].is_object()) return nullptr;
  const auto at = all[kData].find(kUserData);
  return at == all[kData].end() || !at->is_object() ? nullptr : &*at;
}

}  // namespace

base::Result<Tree> late_user_data(const UserDataInput& input, const WithheldText& custom) {
  auto without = user_data(input);
  if (!without) return base::fail(std::move(without.error()));
  Tree out = to_tree(input);
  out["custom"] = {{"bytes", custom.bytes}, {"sha256", custom.sha256}};
  out["without"] = std::move(*without);
  return out;
}

std::string lacking_text(const Request& launch_template) {
  const Tree* const late = lacking(launch_template);
  if (late == nullptr || !late->contains("custom")) return {};
  const Tree& custom = (*late)["custom"];
  const bool told = custom.is_object() && custom.contains("sha256") && custom["sha256"].is_string();
  return told ? custom["sha256"].get<std::string>() : std::string();
}

base::Status complete(Request& launch_template, std::string_view custom) {
  const Tree* const late = lacking(launch_template);
  if (late == nullptr)
    return base::fail(base::Kind::kInvalid, "a launch order's bytes: no user data is lacking");
  auto input = read(*late);
  if (!input) return base::fail(std::move(input.error()));
  input->custom = custom;
  const auto whole = user_data(*input);
  if (!whole) return base::fail(whole.error());
  launch_template.parameters[kData][kUserData] = base::encode_base64(*whole);
  return {};
}

}  // namespace karst::providers::aws
