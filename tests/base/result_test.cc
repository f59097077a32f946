// Errors as values, and bugs that abort.
#include "base/result.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace karst::base {
namespace {

Status refuse(bool yes) {
  if (yes) return fail(Kind::kGone, "node n1 is gone");
  return {};
}

Result<int> through(bool yes) {
  KARST_TRY(refuse(yes));
  return 7;
}

TEST(Result, TryPassesErrorsOn) {
  EXPECT_EQ(7, through(false).value());
  const auto failed = through(true);
  ASSERT_FALSE(failed);
  EXPECT_EQ(Kind::kGone, failed.error().kind);
  EXPECT_EQ("pod p: node n1 is gone", failed.error().with_context("pod p").message);
}

TEST(Result, EveryKindHasAName) {
  for (int i = 0; i <= static_cast<int>(Kind::kNewer); ++i)
    EXPECT_NE("?", kind_name(static_cast<Kind>(i))) << i;
}

TEST(CheckDeathTest, SaysWhatWasBelieved) {
  KARST_CHECK(true, "never said");
  EXPECT_DEATH(KARST_CHECK(1 + 1 == 3, "sums are small"),
               "result_test.cc:[0-9]+: belief broken: 1 \\+ 1 == 3: sums are small");
}

}  // namespace
}  // namespace karst::base
