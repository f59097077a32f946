// A log on disk and its index, side by side.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "index/index.h"
#include "index/reader.h"
#include "tests/events/log_fixture.h"

namespace karst::index {

class IndexTest : public ::testing::Test {
 protected:
  void SetUp() override { open_log(); }
  void open_log() {
    log_.reset();
    auto log = events::RocksLog::open(events::testing::options_for(folder_ / "log"));
    ASSERT_TRUE(log) << log.error().message;
    log_ = std::move(*log);
  }
  void append(std::size_t count, events::Durability durability = events::Durability::kSynced) {
    ASSERT_TRUE(events::testing::append_numbered(*log_, count, durability));
  }
  void append(const events::Body& body) {
    const events::Record record = events::make_record(body);
    ASSERT_TRUE(log_->append({&record, 1}, events::Durability::kSynced));
  }
  std::unique_ptr<Index> open_index() {
    auto index = Index::open(folder_ / "index", *log_, log_->secret(), log_->synced());
    EXPECT_TRUE(index) << index.error().message;
    return index ? std::move(*index) : nullptr;
  }
  // To the synced end, in batches of at most `step` events.
  void fill(Index& index, std::uint64_t step = UINT64_MAX) {
    while (index.through() < log_->synced()) {
      const model::Position last(std::min(
          log_->synced().value(), step == UINT64_MAX ? step : index.through().value() + step));
      const auto status = index.advance(*log_, last);
      ASSERT_TRUE(status) << status.error().message;
    }
  }
  std::vector<std::uint64_t> found(std::string_view stream, std::uint64_t from = 1) {
    const events::testing::TempFolder scratch;
    auto reader = Reader::open(folder_ / "index", *log_, log_->secret(), scratch / "s");
    EXPECT_TRUE(reader) << reader.error().message;
    std::vector<std::uint64_t> positions;
    if (!reader) return positions;
    const auto all = (*reader)->positions(term_of(stream), model::Position(from));
    EXPECT_TRUE(all) << all.error().message;
    if (all)
      for (const model::Position position : *all) positions.push_back(position.value());
    return positions;
  }
  // Every key and value of `streams` and `tiles`.
  std::map<std::string, std::string> contents() {
    auto db = events::RocksDb::open(folder_ / "index", events::Recovery::kUpToDamage,
                                    events::Compactions::kOn, events::Contents::kIndex);
    EXPECT_TRUE(db) << db.error().message;
    std::map<std::string, std::string> all;
    for (const auto family : {events::Family::kStreams, events::Family::kTiles}) {
      const auto it = (*db)->iterate(family);
      for (it->seek({}); it->valid(); it->next())
        all.emplace(std::string(it->key()), std::string(it->value()));
      EXPECT_TRUE(it->status());
    }
    return all;
  }
  events::testing::TempFolder folder_;
  std::unique_ptr<events::RocksLog> log_;
};

}  // namespace karst::index
