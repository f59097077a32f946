#include "tests/tools/story.h"

#include <gtest/gtest.h>

#include <sstream>

#include "events/high_water.h"
#include "events/rocks_db.h"
#include "events/rocks_log.h"

namespace karst::tests {

namespace {

std::uint64_t events_in(const std::string& data) {
  const TempFolder scratch;
  const auto log = events::RocksLog::open_reader(data, scratch / "reader");
  return log ? (*log)->end().value() - 1 : 0;
}

}  // namespace

void run_embedded(const std::string& data, Runs wanted, const Environment& environment) {
  for (; wanted.span <= kLongestSpan; wanted.span *= 2) {
    std::filesystem::remove_all(data);
    for (int run = 0; run < wanted.runs; ++run) {
      const Ended ended =
          karst({"run", "--embedded", "--data", data, "--speed", std::to_string(wanted.speed),
                 "--for", std::to_string(wanted.span.count()) + "ms", "--listen", "127.0.0.1:0"},
                environment);
      ASSERT_EQ(ended.code, 0) << ended.err;
    }
    if (events_in(data) > wanted.events) return;
  }
  FAIL() << data << " has " << events_in(data) << " events, not more than " << wanted.events;
}

const std::string& story() {
  static const TempFolder folder;
  static const std::string data = [] {
    const std::string path = folder / "data";
    run_embedded(path, {.span = std::chrono::milliseconds(2500), .speed = 40, .events = 300});
    return path;
  }();
  return data;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string word; in >> word;) all.push_back(word == "''" ? "" : word);
  return all;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

std::vector<events::Record> records_of(const std::string& data) {
  const TempFolder scratch;
  std::vector<events::Record> records;
  const auto log = events::RocksLog::open_reader(data, scratch / "reader");
  if (!log) {
    ADD_FAILURE() << log.error().message;
    return records;
  }
  const auto cursor = (*log)->read(model::Position(1));
  for (auto event = (*cursor)->next(); event && *event; event = (*cursor)->next()) {
    const events::Envelope& envelope = (*event)->envelope;
    records.push_back({envelope.log_time, envelope.wall_time, envelope.causation,
                       envelope.correlation, envelope.type, std::string(envelope.stream),
                       std::string((*event)->payload)});
  }
  return records;
}

void rewrite(const std::string& data, const std::vector<events::Record>& records) {
  const std::size_t before = records_of(data).size();
  auto db = events::RocksDb::open(data, events::Recovery::kTornTail, events::Compactions::kOn);
  ASSERT_TRUE(db) << db.error().message;
  std::string stored;
  for (std::size_t i = 0; i < std::max(before, records.size()); ++i) {
    const model::Position position(i + 1);
    const events::PositionKey key(position);
    if (i >= records.size()) {
      (*db)->remove(events::Family::kEvents, key.view());
      continue;
    }
    stored = events::encode_event(position, records[i]);
    (*db)->put(events::Family::kEvents, key.view(), stored, {});
  }
  ASSERT_TRUE((*db)->write(events::RocksDb::Sync::kYes));
  events::HighWaterFile mark;
  ASSERT_TRUE(mark.open(data + "/high-water"));
  ASSERT_TRUE(mark.write({model::Position(records.size()), base::sha256(stored)}));
}

void copy_of_another_history(const std::string& data, const std::string& copy) {
  std::filesystem::copy(data, copy, std::filesystem::copy_options::recursive);
  std::vector<events::Record> records = records_of(copy);
  for (std::size_t i = records.size() / 2; i < records.size(); ++i)
    records[i].wall_time = base::WallTime(records[i].wall_time.value() + 1);
  rewrite(copy, records);
}

}  // namespace karst::tests
