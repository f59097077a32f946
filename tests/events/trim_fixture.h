// Trims logs whose events mean nothing: the baseline is any bytes.
#pragma once

#include <functional>
#include <string>

#include "proof/merkle.h"
#include "tests/events/log_fixture.h"

namespace karst::events::testing {

using AfterStep = std::function<void(const std::string& step)>;

inline void keep_leaves_before(RocksLog& log, std::uint64_t first) {
  auto cursor = log.read(log.first());
  ASSERT_TRUE(cursor) << cursor.error().message;
  std::string leaves;
  for (std::uint64_t position = log.first().value(); position < first; ++position) {
    const auto event = (*cursor)->next();
    ASSERT_TRUE(event && *event);
    leaves += proof::as_text(proof::event_leaf_hash((*event)->raw, log.secret()));
    if (position % kTrimTile != 0) continue;
    ASSERT_TRUE(log.keep_leaves(position / kTrimTile - 1, leaves));
    leaves.clear();
  }
}

inline Baseline baseline_before(std::uint64_t first, std::size_t size = 100) {
  return {model::Position(first - 1), "1", "decisions-1", std::string(size, 's')};
}

// All steps but the last one, which only gives back space.
inline void trim_log(RocksLog& log, std::uint64_t first, const AfterStep& after = {},
                     std::size_t baseline_bytes = 100) {
  const auto step = [&](const std::string& name) {
    if (after) after(name);
  };
  keep_leaves_before(log, first);
  step("leaves");
  const auto note = log.keep_baseline(baseline_before(first, baseline_bytes));
  ASSERT_TRUE(note) << note.error().message;
  step("baseline");
  Record record = make_record(told_of(*note));
  const auto told = log.append({&record, 1}, Durability::kSynced);
  ASSERT_TRUE(told) << told.error().message;
  step("told");
  const auto trimmed = log.trim({*note, *told, base::WallTime(1'800'000'000'000), "/archive"});
  ASSERT_TRUE(trimmed) << trimmed.error().message;
  step("trimmed");
}

}  // namespace karst::events::testing
