// A log with a story in it, made once for all tests of the program, and ways to spoil copies of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "events/codec.h"
#include "tests/tools/program.h"

namespace karst::tests {

// The log in `data`, made by this many runs of the embedded cluster, with more than `events` in it.
// A busy machine writes fewer in the same time: each run takes `span` of real time, and if that
// was not enough the log is made anew with twice the span, up to kLongestSpan.
struct Runs {
  std::chrono::milliseconds span{};
  int speed = 1;
  int runs = 1;
  std::uint64_t events = 0;
};
inline constexpr std::chrono::seconds kLongestSpan{60};
void run_embedded(const std::string& data, Runs wanted, const Environment& environment = {});

// The data folder of about 100 simulated seconds. Nobody writes there any more.
const std::string& story();

std::vector<std::string> words(const std::string& text);
std::vector<std::string> lines_of(const std::string& text);

// Every event, as a record; the first one is that of position 1.
std::vector<events::Record> records_of(const std::string& data);

// Writes the log in `data` anew with these records, as if they had always been there: positions
// from 1, and a high-water mark that fits.
void rewrite(const std::string& data, const std::vector<events::Record>& records);

// A copy of `data` that went on with another history under the same id: its events from the middle
// on are other ones. Its index and its signed head are still those of `data`.
void copy_of_another_history(const std::string& data, const std::string& copy);

}  // namespace karst::tests
