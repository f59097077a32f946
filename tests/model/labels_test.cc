// Labels stay sorted, whatever order they come in.
#include "model/labels.h"

#include <gtest/gtest.h>

namespace karst::model {
namespace {

TEST(Labels, SetFindAndReplace) {
  Labels labels;
  for (const char* key : {"m", "a", "z", "m"}) set_label(labels, key, std::string(key) + "1");
  set_label(labels, "a", "other");
  EXPECT_EQ((Labels{{"a", "other"}, {"m", "m1"}, {"z", "z1"}}), labels);
  EXPECT_EQ("other", label_value(labels, "a"));
  EXPECT_EQ("", label_value(labels, "b"));
  EXPECT_TRUE(has_label(labels, "z"));
  EXPECT_FALSE(has_label(labels, "zz"));
  EXPECT_FALSE(has_label({}, "a"));
}

TEST(Labels, AnEmptyValueIsThere) {
  Labels labels;
  set_label(labels, "a", "");
  EXPECT_TRUE(has_label(labels, "a"));
}

}  // namespace
}  // namespace karst::model
