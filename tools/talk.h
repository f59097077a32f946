// How the tools talk: exit codes, errors on stderr, tables on stdout, colour and progress on a
// terminal only.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tools/commands.h"

namespace karst::tools {

using Json = nlohmann::ordered_json;

// Part of the command line's contract.
enum ExitCode : int {
  kExitDone = 0,
  kExitNo = 1,  // the answer is no: a difference, an invalid proof
  kExitBadInput = 2,
  kExitDamaged = 3,     // the log is damaged, or of a newer version
  kExitOutOfReach = 4,  // the world is out of reach, or the directory is taken
};
ExitCode exit_code(base::Kind kind);

// "karst: MESSAGE" on stderr; returns the exit code of its kind.
int report(const base::Error& error);

// Around everything that a program does. Before: a standard stream that is closed gets something in
// its place, or the next file opened would take its number, and the output its contents. After:
// output that did not arrive is an error, kExitOutOfReach, unless `code` says something worse; said
// on stderr, but not when a reader simply went away.
void begin_streams();
int end_streams(int code);

bool color_wanted(int descriptor);  // a terminal, and no NO_COLOR

// Rows as an aligned table (columns in capitals), JSON or YAML. Every row has every column.
void print_rows(const std::vector<std::string>& columns, const std::vector<std::vector<Json>>& rows,
                Format format);
// One value: `key: value` lines for a table of one row, JSON or YAML.
void print_value(const Json& value, Format format);
std::string to_yaml(const Json& value);

// Control characters but line ends as "\\x1b" (base/one_line.h), for what may have several lines.
std::string printable(std::string_view text);

// Writes to stdout; false when nobody reads any more.
bool print_line(std::string_view line);
// A line with words from outside in it, of which none ends it.
void say(std::string_view line);
bool print_text(std::string_view text);
// Before anything is written: stdout takes exports::kBufferBytes at a time, for much data. A
// terminal is left as it is.
void widen_output();
// What was written so far goes out now; false as above.
bool flush_output();

// "WHAT 12%" on stderr whenever the per cent change, and nothing unless stderr is a terminal;
// nothing either where lines of data go to that terminal meanwhile.
enum class Meanwhile { kSilence, kData };
class Progress {
 public:
  Progress(std::string what, std::uint64_t all, Meanwhile meanwhile);
  ~Progress();
  void at(std::uint64_t done);

 private:
  std::string what_;
  std::uint64_t all_;
  std::uint64_t shown_ = UINT64_MAX;  // per cent
  bool terminal_;
};

}  // namespace karst::tools
