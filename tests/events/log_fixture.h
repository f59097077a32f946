// Folders that go away, and logs with known contents.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "events/codec.h"
#include "events/rocks_log.h"

namespace karst::events::testing {

class TempFolder {
 public:
  TempFolder() {
    // In memory where there is such a place: these tests open hundreds of logs, and no test can
    // pull the plug.
    const std::filesystem::path memory = "/dev/shm";
    const bool usable = access(memory.c_str(), W_OK) == 0;
    std::string name =
        (usable ? memory : std::filesystem::temp_directory_path()) / "karst-test-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline RocksLogOptions options_for(const std::string& path) {
  RocksLogOptions options;
  options.path = path;
  options.now = base::WallTime(1'000);
  options.ballast_bytes = 0;
  return options;
}

// The log of that folder in the place of `log`, which is closed first.
inline void open_again(const std::string& path, std::unique_ptr<EventLog>& log) {
  log.reset();
  auto opened = RocksLog::open(options_for(path));
  ASSERT_TRUE(opened) << opened.error().message;
  log = std::move(*opened);
}

inline std::string padded_version(std::uint64_t position, std::size_t padding) {
  std::string version = std::to_string(position);
  if (padding > 0) version += '.';
  std::mt19937 noise(static_cast<unsigned>(position));  // does not compress away
  while (version.size() < padding) version += static_cast<char>('a' + noise() % 26);
  return version;
}

// The record that belongs at a position: a reader can tell whether it is the right one.
inline Record record_for(std::uint64_t position, std::size_t padding = 0) {
  Record record = make_record(SourceBeat{"Pod", padded_version(position, padding)});
  record.log_time = base::LogTime(static_cast<std::int64_t>(position) * 10);
  return record;
}

// Appends `count` such records as one batch.
inline base::Result<model::Position> append_numbered(EventLog& log, std::size_t count,
                                                     Durability durability,
                                                     std::size_t padding = 0) {
  std::vector<Record> records;
  for (std::size_t i = 0; i < count; ++i)
    records.push_back(record_for(log.end().value() + i, padding));
  return log.append(records, durability);
}

// Reads everything. Returns the last position, or the error, and how far it got then (`sound`);
// checks that numbered events are what they were.
inline base::Result<std::uint64_t> read_all(const EventLog& log, std::uint64_t from = 1,
                                            std::uint64_t* sound = nullptr) {
  auto cursor = log.read(model::Position(from));
  if (!cursor) return base::fail(cursor.error());
  std::uint64_t last = from - 1;
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) return last;
    EXPECT_EQ((*event)->envelope.position.value(), last + 1);
    last = (*event)->envelope.position.value();
    if (sound != nullptr) *sound = last;
    if ((*event)->envelope.type != EventType::kSourceBeat) continue;
    const Body body = decode_body(**event);
    const std::string& version = std::get<SourceBeat>(body).version;
    EXPECT_EQ(version.substr(0, version.find('.')), std::to_string(last));
  }
}

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
inline void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}
inline void copy_folder(const std::string& from, const std::string& to) {
  std::filesystem::remove_all(to);
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}
// The files of a folder with this extension, by name.
inline std::vector<std::string> files_with(const std::string& folder,
                                           const std::string& extension) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// Runs `body` in a process of its own: what it returned, 99 when an expectation failed there, 98
// when it died.
template <class Function>
int run_in_child(Function&& body) {
  const pid_t child = fork();
  if (child == 0) {
    const int code = body();
    fflush(stdout);
    _exit(::testing::Test::HasFailure() ? 99 : code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

}  // namespace karst::events::testing
