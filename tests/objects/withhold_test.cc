// User data of node classes: out of the spec, and told apart by its hash.
#include "objects/withhold.h"

#include <gtest/gtest.h>

#include "base/sha256.h"

namespace karst::objects {
namespace {

struct Case {
  const char* name;
  const char* spec;
  const char* text;   // that is taken out
  const char* after;  // HASH: that of the text
};

TEST(Withhold, TakesTheUserDataOutOfASpecAndLeavesTheRest) {
  const Case cases[] = {
      {"alone", R"({"userData":"token=1"})", "token=1",
       R"({"userData":{"bytes":7,"sha256":"HASH"}})"},
      {"among others, in their order",
       R"({"role":"r","tags":{"a":"\"b\""},"userData":"x\ny","z":[1.5]})", "x\ny",
       R"({"role":"r","tags":{"a":"\"b\""},"userData":{"bytes":3,"sha256":"HASH"},"z":[1.5]})"},
      {"only at the top", R"({"tags":{"userData":"t"}})", "", R"({"tags":{"userData":"t"}})"},
      {"empty", R"({"userData":""})", "", R"({"userData":""})"},
      {"withheld already", R"({"userData":{"bytes":1,"sha256":"00"}})", "",
       R"({"userData":{"bytes":1,"sha256":"00"}})"},
      {"no spec", "{}", "", "{}"},
      {"not JSON", "no", "", "no"},
  };
  for (const Case& one : cases) {
    model::NodeClass node_class;
    node_class.spec_json = one.spec;
    EXPECT_EQ(withhold_user_data(node_class), one.text) << one.name;
    std::string after = one.after;
    if (const std::size_t at = after.find("HASH"); at != std::string::npos)
      after.replace(at, 4, base::hex_lower(base::sha256(one.text)));
    EXPECT_EQ(node_class.spec_json, after) << one.name;
  }
}

}  // namespace
}  // namespace karst::objects
