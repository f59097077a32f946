#include "providers/aws/images.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/time.h"
#include "model/labels.h"
#include "providers/aws/xml.h"

namespace karst::providers::aws {
namespace {

constexpr std::string_view kGpuCount = "karpenter.k8s.aws/instance-gpu-count";
constexpr std::string_view kAcceleratorCount = "karpenter.k8s.aws/instance-accelerator-count";
constexpr std::string_view kWindowsBuild = "node.kubernetes.io/windows-build";
constexpr std::string_view kEks = "/aws/service/eks/optimized-ami/";

std::vector<AliasParameter> al2(const std::string& version, const std::string& pinned) {
  const auto name = [&](const std::string& suffix, const std::string& node) {
    const std::string image =
        pinned.empty() ? std::string("recommended") : "amazon-eks-" + node + version + "-" + pinned;
    return std::string(kEks) + version + "/amazon-linux-2" + suffix + "/" + image + "/image_id";
  };
  return {{name("", "node-"), {Variant::kStandard}},
          {name("-arm64", "arm64-node-"), {Variant::kStandard}},
          {name("-gpu", "gpu-node-"), {Variant::kNvidia, Variant::kNeuron}}};
}

std::vector<AliasParameter> al2023(const std::string& version, const std::string& pinned) {
  struct Row {
    const char* arch;
    const char* variant;
    Variant serves;
  };
  constexpr Row kRows[] = {{"x86_64", "standard", Variant::kStandard},
                           {"arm64", "standard", Variant::kStandard},
                           {"x86_64", "nvidia", Variant::kNvidia},
                           {"arm64", "nvidia", Variant::kNvidia},
                           {"x86_64", "neuron", Variant::kNeuron}};
  std::vector<AliasParameter> parameters;
  for (const Row& row : kRows) {
    const std::string kind = std::string(row.arch) + "/" + row.variant;
    const std::string image = pinned.empty() ? std::string("recommended")
                                             : std::string("amazon-eks-node-al2023-") + row.arch +
                                                   "-" + row.variant + "-" + version + "-" + pinned;
    parameters.push_back(
        {std::string(kEks) + version + "/amazon-linux-2023/" + kind + "/" + image + "/image_id",
         {row.serves}});
  }
  return parameters;
}

std::vector<AliasParameter> bottlerocket(const std::string& version, std::string pinned) {
  if (pinned.starts_with('v')) pinned.erase(0, 1);
  if (pinned.empty()) pinned = "latest";
  const auto name = [&](const char* suffix, const char* arch) {
    return "/aws/service/bottlerocket/aws-k8s-" + version + suffix + "/" + arch + "/" + pinned +
           "/image_id";
  };
  return {{name("", "x86_64"), {Variant::kStandard, Variant::kNeuron}},
          {name("", "arm64"), {Variant::kStandard}},
          {name("-nvidia", "x86_64"), {Variant::kNvidia}},
          {name("-nvidia", "arm64"), {Variant::kNvidia}}};
}

// The minor number of "1.34"; 0 when it is none.
int minor_of(std::string_view version) {
  const std::size_t dot = version.find('.');
  if (dot == std::string_view::npos) return 0;
  version.remove_prefix(dot + 1);
  int minor = 0;
  std::from_chars(version.data(), version.data() + version.size(), minor);
  return minor;
}

model::RequirementSpec is(std::string_view key, std::string_view value) {
  return {std::string(key), model::Operator::kIn, {std::string(value)}, 0};
}

std::string_view architecture(const std::string& of_ec2) {
  if (of_ec2 == "x86_64") return "amd64";
  return of_ec2 == "arm64" ? "arm64" : "";
}

bool is_better(const Image& a, const Image& b) {
  if (a.deprecated != b.deprecated) return !a.deprecated;
  return std::tie(a.created, a.name) > std::tie(b.created, b.name);
}

Request base_question() {
  Request request{"ec2", "DescribeImages", Tree::object()};
  request.parameters["IncludeDeprecated"] = "true";
  request.parameters["MaxResults"] = "1000";
  add_filter(request, "state", {"available"});
  return request;
}

}  // namespace

std::vector<AliasParameter> alias_parameters(const ImageAlias& alias,
                                             std::string_view cluster_version) {
  const std::string version(cluster_version);
  const std::string pinned = alias.version == "latest" ? std::string() : alias.version;
  if (alias.family == "al2") return al2(version, pinned);
  if (alias.family == "al2023") return al2023(version, pinned);
  if (alias.family == "bottlerocket") return bottlerocket(version, pinned);
  if (alias.family.starts_with("windows"))
    return {{"/aws/service/ami-windows-latest/Windows_Server-" + alias.family.substr(7) +
                 "-English-Core-EKS_Optimized-" + version + "/image_id",
             {Variant::kAny}}};
  return {};
}

std::optional<Finding> check_alias(const ImageAlias& alias, std::string_view cluster_version) {
  constexpr int kAl2Ends = 33;
  constexpr int kWindows2025Begins = 35;
  const int minor = minor_of(cluster_version);
  const bool too_new = alias.family == "al2" && minor >= kAl2Ends;
  const bool too_old = alias.family == "windows2025" && minor < kWindows2025Begins;
  if (!too_new && !too_old) return std::nullopt;
  return Finding{"UnsupportedAlias", "alias " + alias.family +
                                         ": there are no images for Kubernetes " +
                                         std::string(cluster_version) +
                                         (too_new ? "; use al2023" : "; it begins with 1.35")};
}

Request ask_images(const std::vector<std::string>& ids) {
  Request request = base_question();
  add_filter(request, "image-id", ids);
  return request;
}

Request ask_images(const SelectorTerm& term) {
  Request request = base_question();
  if (!term.name.empty()) add_filter(request, "name", {term.name});
  for (const auto& [key, value] : term.tags)
    value == "*" ? add_filter(request, "tag-key", {key})
                 : add_filter(request, "tag:" + key, {value});
  if (!term.owner.empty())
    request.parameters["Owner"] = {term.owner};
  else if (!term.name.empty())
    request.parameters["Owner"] = {"self", "amazon"};
  return request;
}

base::Result<std::vector<Image>> read_images(std::string_view xml, std::int64_t now_millis) {
  const auto document = read_xml(xml);
  if (!document) return base::fail(document.error());
  std::vector<Image> images;
  each_item(document->document_element(), "imagesSet", [&](const pugi::xml_node& item) {
    const std::string_view arch = architecture(text_at(item, "architecture"));
    const std::string state = text_at(item, "imageState");
    if (arch.empty() || (!state.empty() && state != "available")) return;
    Image image{text_at(item, "imageId"),
                text_at(item, "name"),
                text_at(item, "creationDate"),
                false,
                {is(model::kArchLabel, arch)}};
    const auto end = base::parse_rfc3339(text_at(item, "deprecationTime"));
    image.deprecated = end && *end < now_millis;
    images.push_back(std::move(image));
  });
  return images;
}

Image with_variant(Image image, Variant variant, Family family) {
  const auto absent = [&](std::string_view key) {
    image.requirements.push_back({std::string(key), model::Operator::kDoesNotExist, {}, 0});
  };
  const auto present = [&](std::string_view key) {
    image.requirements.push_back({std::string(key), model::Operator::kExists, {}, 0});
  };
  if (variant == Variant::kStandard) absent(kGpuCount), absent(kAcceleratorCount);
  if (variant == Variant::kNvidia) present(kGpuCount);
  if (variant == Variant::kNeuron) present(kAcceleratorCount);
  if (is_windows(family)) {
    image.requirements.push_back(is(model::kOsLabel, "windows"));
    image.requirements.push_back(is(kWindowsBuild, windows_build(family)));
  }
  std::sort(image.requirements.begin(), image.requirements.end());
  return image;
}

std::vector<Image> choose_images(std::vector<Image> images) {
  std::map<std::vector<model::RequirementSpec>, Image> chosen;
  for (Image& image : images) {
    const auto [at, first] = chosen.try_emplace(image.requirements, image);
    if (!first && is_better(image, at->second)) at->second = std::move(image);
  }
  std::vector<Image> out;
  for (auto& [requirements, image] : chosen) out.push_back(std::move(image));
  std::stable_sort(out.begin(), out.end(), [](const Image& a, const Image& b) {
    if (a.deprecated != b.deprecated) return b.deprecated;
    if (a.created != b.created) return a.created > b.created;
    return a.id < b.id;
  });
  return out;
}

const Image* image_for(const std::vector<Image>& images, const model::Requirements& labels) {
  for (const Image& image : images)
    if (labels.incompatible(model::Requirements(image.requirements), {}).empty()) return &image;
  return nullptr;
}

}  // namespace karst::providers::aws
