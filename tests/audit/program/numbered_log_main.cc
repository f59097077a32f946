// A log as large as its tree has to be: karst_numbered_log DIR COUNT adds COUNT small events to the
// log in DIR, which is made where there is none. For what depends on the size of a tree alone.
#include <algorithm>
#include <cstdio>
#include <string>

#include "tests/events/log_fixture.h"

using namespace karst;

int main(int argc, char** argv) {
  constexpr std::uint64_t kBatchMax = 5'000;
  if (argc != 3) {
    std::fprintf(stderr, "usage: karst_numbered_log DIR COUNT\n");
    return 2;
  }
  auto log = events::RocksLog::open(events::testing::options_for(argv[1]));
  if (!log) {
    std::fprintf(stderr, "%s\n", log.error().message.c_str());
    return 1;
  }
  for (std::uint64_t left = std::stoull(argv[2]); left > 0;) {
    const std::uint64_t count = std::min(left, kBatchMax);
    const auto done = events::testing::append_numbered(**log, count, events::Durability::kBuffered);
    if (!done) {
      std::fprintf(stderr, "%s\n", done.error().message.c_str());
      return 1;
    }
    left -= count;
  }
  return 0;
}
