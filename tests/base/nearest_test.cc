#include "base/nearest.h"

#include <gtest/gtest.h>

namespace karst::base {
namespace {

TEST(Nearest, IsWhatWasProbablyMeant) {
  const std::vector<std::string_view> words = {"nodeSelector", "nodeName", "tolerations", "image"};
  EXPECT_EQ(nearest("nodeselector", words), "nodeSelector");
  EXPECT_EQ(nearest("nodeSlector", words), "nodeSelector");
  EXPECT_EQ(nearest("toleratoins", words), "tolerations");
  EXPECT_EQ(nearest("iamge", words), "image");
  EXPECT_EQ(nearest("command", words), "");
  EXPECT_EQ(nearest("", words), "");
}

}  // namespace
}  // namespace karst::base
