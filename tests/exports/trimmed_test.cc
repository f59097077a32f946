// Exports of a log that was trimmed behind a baseline that this build cannot read. What those of
// others say: tests/tools/trim_exports_test.cc.
#include <gtest/gtest.h>

#include "events/codec.h"
#include "events/memory_log.h"
#include "exports/walk.h"

namespace karst::exports {
namespace {

class Nowhere final : public TableWriter {
 public:
  base::Status row(const Row&) override { return {}; }
  base::Status finish() override { return {}; }
};

class Trimmed : public ::testing::Test {
 protected:
  Trimmed() : log_(model::LogId("abc")) {
    const std::vector<events::Record> beats(300,
                                            events::make_record(events::SourceBeat{"Pod", ""}));
    EXPECT_TRUE(log_.append(beats, events::Durability::kSynced));
    log_.trim({model::Position(events::kTrimTile), "0", "d0", "what it was"});
  }
  base::Result<Walked> walk_of(std::string_view view, const FilterOptions& options = {}) {
    auto filter = Filter::make(options, log_.id());
    std::vector<Output> outputs(1);
    outputs[0] = {make_view(view, {}), std::make_unique<Nowhere>()};
    return walk(log_, *filter, outputs, [](model::Position) {});
  }
  events::MemoryLog log_;
};

TEST_F(Trimmed, ABaselineOfAnotherVersionIsNotTakenForNothing) {
  for (const auto& walked :
       {walk_of("nodeclaims"), walk_of("decisions"), walk_of("events", {"", "", {"node/a"}, {}})}) {
    ASSERT_FALSE(walked);
    EXPECT_EQ(walked.error().kind, base::Kind::kInvalid) << "kGone is a reader that went away";
    EXPECT_NE(walked.error().message.find("projection version 0"), std::string::npos)
        << walked.error().message;
  }
  const auto events = walk_of("events");
  ASSERT_TRUE(events) << events.error().message;
  EXPECT_EQ(events->first, model::Position(events::kTrimTile + 1));
}

}  // namespace
}  // namespace karst::exports
