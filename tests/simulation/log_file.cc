#include "tests/simulation/log_file.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

namespace karst::simulation {

namespace {

void put(std::ofstream& file, std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  file.write(reinterpret_cast<const char*>(&size), sizeof size);
  file.write(bytes.data(), static_cast<std::streamsize>(size));
}

// The words are aligned as decode_event asks; `size` is the number of bytes.
bool get(std::ifstream& file, std::vector<std::uint64_t>& words, std::uint64_t& size) {
  if (!file.read(reinterpret_cast<char*>(&size), sizeof size)) return false;
  words.assign((size + 7) / 8, 0);
  return static_cast<bool>(
      file.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(size)));
}

}  // namespace

events::Record record_of(const events::Event& event) {
  events::Record record;
  record.log_time = event.envelope.log_time;
  record.wall_time = event.envelope.wall_time;
  record.causation = event.envelope.causation;
  record.correlation = event.envelope.correlation;
  record.type = event.envelope.type;
  record.stream = std::string(event.envelope.stream);
  record.payload = std::string(event.payload);
  return record;
}

bool save_log(const sim::DiskLog& log, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  put(file, log.id().str());
  for (std::uint64_t i = 1; i < log.end().value(); ++i) put(file, log.stored(model::Position(i)));
  return static_cast<bool>(file.flush());
}

std::unique_ptr<sim::DiskLog> load_log(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint64_t> words;
  std::uint64_t size = 0;
  if (!get(file, words, size)) return nullptr;
  const model::LogId id(std::string_view(reinterpret_cast<const char*>(words.data()), size));
  std::unique_ptr<sim::DiskLog> log;
  std::vector<events::Record> records;
  for (std::uint64_t position = 1; get(file, words, size); ++position) {
    const auto event = events::decode_event(
        model::Position(position),
        {reinterpret_cast<const char*>(words.data()), static_cast<std::size_t>(size)});
    if (!event) return nullptr;
    if (position == 1)
      log = std::make_unique<sim::DiskLog>(id, event->envelope.log_time.value());
    else
      records.push_back(record_of(*event));
  }
  if (log && !log->append(records, events::Durability::kSynced)) return nullptr;
  return log;
}

}  // namespace karst::simulation
