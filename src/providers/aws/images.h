// Which machine images a node class means: aliases as SSM parameters, selector terms as questions
// to EC2, and from the answers the images with what each needs of a machine. Rules are Karpenter's
// (v1.14). Parameter names are public:
// https://docs.aws.amazon.com/eks/latest/userguide/retrieve-ami-id.html
// https://docs.aws.amazon.com/eks/latest/userguide/eks-ami-id-windows.html Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "providers/aws/node_class_spec.h"
#include "providers/aws/request.h"
#include "providers/aws/resolved.h"

namespace karst::providers::aws {

// What an image of an alias is made for, beside its architecture.
enum class Variant { kAny, kStandard, kNvidia, kNeuron };

// One SSM parameter that holds an image id, and the variants that this image serves.
struct AliasParameter {
  std::string name;
  std::vector<Variant> variants;
};

// Empty without an alias. A family of no alias (Custom) has none.
std::vector<AliasParameter> alias_parameters(const ImageAlias& alias,
                                             std::string_view cluster_version);

// Why this cluster cannot use the alias (reason UnsupportedAlias): al2 from 1.33, windows2025 below
// 1.35.
std::optional<Finding> check_alias(const ImageAlias& alias, std::string_view cluster_version);

// DescribeImages for a list of ids; for a term by tags, name or owner.
Request ask_images(const std::vector<std::string>& ids);
Request ask_images(const SelectorTerm& term);

// What one DescribeImages answer says. An image without a known architecture is left out.
base::Result<std::vector<Image>> read_images(std::string_view xml, std::int64_t now_millis);

// `image` as it serves this variant; Windows gets its build and system.
Image with_variant(Image image, Variant variant, Family family);

// Of images with the same requirements one: not deprecated before deprecated, then the newer, then
// the larger name. Sorted newest first, then by id, and deprecated ones last.
std::vector<Image> choose_images(std::vector<Image> images);

// The first image that such a machine can run; nullptr: none. `labels`: of the instance type.
const Image* image_for(const std::vector<Image>& images, const model::Requirements& labels);

}  // namespace karst::providers::aws
