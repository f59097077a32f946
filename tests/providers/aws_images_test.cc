// Machine images: the parameters of each alias, and which of several is taken.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/time.h"
#include "providers/aws/images.h"
#include "tests/providers/aws_answers.h"

namespace karst::providers::aws {
namespace {

const std::int64_t kNow = *base::parse_rfc3339("2026-08-01T00:00:00Z");

TEST(AwsImages, AliasesAreParametersOfTheirFamilies) {
  struct Case {
    ImageAlias alias;
    std::vector<std::string> names;
  };
  const std::string eks = "/aws/service/eks/optimized-ami/1.30/";
  const std::string rocket = "/aws/service/bottlerocket/aws-k8s-1.30";
  const std::vector<Case> cases = {
      {{"al2", "latest"},
       {eks + "amazon-linux-2/recommended/image_id",
        eks + "amazon-linux-2-arm64/recommended/image_id",
        eks + "amazon-linux-2-gpu/recommended/image_id"}},
      {{"al2", "v20240703"},
       {eks + "amazon-linux-2/amazon-eks-node-1.30-v20240703/image_id",
        eks + "amazon-linux-2-arm64/amazon-eks-arm64-node-1.30-v20240703/image_id",
        eks + "amazon-linux-2-gpu/amazon-eks-gpu-node-1.30-v20240703/image_id"}},
      {{"al2023", "v20240703"},
       {eks + "amazon-linux-2023/x86_64/standard/"
              "amazon-eks-node-al2023-x86_64-standard-1.30-v20240703/image_id",
        eks + "amazon-linux-2023/arm64/standard/"
              "amazon-eks-node-al2023-arm64-standard-1.30-v20240703/image_id",
        eks + "amazon-linux-2023/x86_64/nvidia/amazon-eks-node-al2023-x86_64-nvidia-1.30-v20240703/"
              "image_id",
        eks + "amazon-linux-2023/arm64/nvidia/amazon-eks-node-al2023-arm64-nvidia-1.30-v20240703/"
              "image_id",
        eks + "amazon-linux-2023/x86_64/neuron/amazon-eks-node-al2023-x86_64-neuron-1.30-v20240703/"
              "image_id"}},
      {{"bottlerocket", "v1.20.3"},
       {rocket + "/x86_64/1.20.3/image_id", rocket + "/arm64/1.20.3/image_id",
        rocket + "-nvidia/x86_64/1.20.3/image_id", rocket + "-nvidia/arm64/1.20.3/image_id"}},
      {{"bottlerocket", "latest"},
       {rocket + "/x86_64/latest/image_id", rocket + "/arm64/latest/image_id",
        rocket + "-nvidia/x86_64/latest/image_id", rocket + "-nvidia/arm64/latest/image_id"}},
      {{"windows2022", "latest"},
       {"/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.30/"
        "image_id"}},
      {{"", ""}, {}},
  };
  for (const Case& c : cases) {
    std::vector<std::string> names;
    for (const AliasParameter& one : alias_parameters(c.alias, "1.30")) names.push_back(one.name);
    EXPECT_EQ(c.names, names) << c.alias.family;
  }
}

TEST(AwsImages, OfImagesThatServeTheSameTheBestIsKept) {
  const std::string past = "<deprecationTime>2026-07-31T00:00:00.000Z</deprecationTime>";
  const std::string future = "<deprecationTime>2027-07-31T00:00:00.000Z</deprecationTime>";
  const auto images = read_images(
      set_of("imagesSet", image("ami-1", "x86_64", "2026-01-01T00:00:00.000Z", future) +
                              image("ami-2", "x86_64", "2026-03-01T00:00:00.000Z", past) +
                              image("ami-3", "x86_64", "2026-02-01T00:00:00.000Z") +
                              image("ami-4", "x86_64", "2026-02-01T00:00:00.000Z") +
                              image("ami-5", "arm64", "2026-06-01T00:00:00.000Z", past) +
                              image("ami-6", "i386", "2026-06-01T00:00:00.000Z")),
      kNow);
  ASSERT_TRUE(images);
  const std::vector<Image> chosen = choose_images(*images);
  ASSERT_EQ(2u, chosen.size());
  EXPECT_EQ("ami-4", chosen[0].id) << "not deprecated, newest, largest name";
  EXPECT_EQ("ami-5", chosen[1].id) << "deprecated last";
  EXPECT_TRUE(chosen[1].deprecated);
}

}  // namespace
}  // namespace karst::providers::aws
