#include "model/outcome.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace karst::model {
namespace {

// A webhook in another language, an answer in Latin-1: whatever is told stays text, and short.
TEST(Outcome, MessagesAreUtf8WhateverWasTold) {
  for (std::size_t before = kOutcomeMessageMax - 4; before <= kOutcomeMessageMax; ++before)
    for (const std::string behind : {"\xe7\x82\xb9\xe7\x82\xb9", "\xe9\xe9\xe9\xe9\xe9", "plain"}) {
      const std::string message = outcome_message(std::string(before, 'x') + behind);
      EXPECT_LE(message.size(), kOutcomeMessageMax);
      EXPECT_GE(message.size(), kOutcomeMessageMax - 4);
      EXPECT_TRUE(base::is_utf8(message)) << before;
    }
  EXPECT_EQ(outcome_message("caf\xe9"), "caf\xef\xbf\xbd");
}

}  // namespace
}  // namespace karst::model
