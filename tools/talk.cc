#include "tools/talk.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/one_line.h"
#include "base/system_error.h"
#include "exports/byte_sink.h"

namespace karst::tools {
namespace {

// Names from the world may hold bytes that are no text: they are shown, never fatal.
std::string dumped(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string cell_text(const Json& value) {
  if (value.is_string()) return base::one_line(value.get<std::string>());
  if (value.is_null()) return "";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  return dumped(value);
}

void append_yaml(std::string& out, const Json& value, std::size_t indent) {
  const std::string blanks(indent, ' ');
  const auto nested = [&](const Json& inner) {
    if (inner.is_structured() && !inner.empty()) {
      out += '\n';
      append_yaml(out, inner, indent + 2);
    } else {
      out += ' ' + dumped(inner) + '\n';
    }
  };
  if (value.is_array()) {
    for (const Json& item : value) {
      out += blanks + "-";
      nested(item);
    }
  } else if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      out += blanks + dumped(Json(key)) + ":";
      nested(item);
    }
  } else {
    out += blanks + dumped(value) + '\n';
  }
}

Json rows_json(const std::vector<std::string>& columns,
               const std::vector<std::vector<Json>>& rows) {
  Json all = Json::array();
  for (const std::vector<Json>& row : rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < columns.size(); ++i) object[columns[i]] = row[i];
    all.push_back(std::move(object));
  }
  return all;
}

// Columns are as wide as their widest cell; characters beyond ASCII count as their bytes.
std::string table_text(const std::vector<std::string>& columns,
                       const std::vector<std::vector<Json>>& rows) {
  std::vector<std::vector<std::string>> cells(1);
  for (std::string name : columns) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return c == '_' ? '-' : std::toupper(c); });
    cells[0].push_back(std::move(name));
  }
  for (const std::vector<Json>& row : rows) {
    cells.emplace_back();
    for (const Json& value : row) cells.back().push_back(cell_text(value));
  }
  std::vector<std::size_t> widths(columns.size(), 0);
  for (const auto& row : cells)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : cells) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}   ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

// Why the first write to stdout failed: stdio remembers that one did, and not why.
int& lost_because() {
  static int reason = 0;
  return reason;
}

// What a person does about output that was not written.
std::string_view instead_of(int reason) {
  const bool full = base::kind_of_errno(reason, base::Kind::kDenied) == base::Kind::kFull;
  return full ? "free some space there, or send the output elsewhere" : "send the output elsewhere";
}

}  // namespace

ExitCode exit_code(base::Kind kind) {
  switch (kind) {
    case base::Kind::kCorrupt:
    case base::Kind::kNewer:
      return kExitDamaged;
    case base::Kind::kTaken:
    case base::Kind::kRetry:
    case base::Kind::kUnclear:
    case base::Kind::kDenied:
    case base::Kind::kFull:
      return kExitOutOfReach;
    case base::Kind::kInvalid:
    case base::Kind::kGone:
    case base::Kind::kConflict:
    case base::Kind::kCapacity:
      return kExitBadInput;
  }
  return kExitBadInput;
}

int report(const base::Error& error) {
  fmt::print(stderr, "karst: {}\n", printable(error.message));
  return exit_code(error.kind);
}

void begin_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free number is this one. Writing to what is open for reading fails, as it should.
    const int flags = descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    if (open("/dev/null", flags | O_CLOEXEC) != descriptor) std::abort();
  }
  std::signal(SIGPIPE, SIG_IGN);
}

int end_streams(int code) {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  const bool reader_went = poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
  const bool lost = std::ferror(stdout) != 0;
  errno = 0;
  const bool closed = std::fclose(stdout) == 0;
  if (closed && !lost) return code;
  const int reason = lost_because() != 0 ? lost_because() : errno;
  if (!reader_went)
    report({base::Kind::kDenied,
            fmt::format("the output could not be written to its end: stdout{}{}; what arrived is "
                        "not whole: {}",
                        reason == 0 ? "" : ": ", reason == 0 ? "" : std::strerror(reason),
                        instead_of(reason))});
  return code == kExitDone ? kExitOutOfReach : code;
}

bool color_wanted(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  return isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0');
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
    shown += base::one_line(text.substr(0, end)) + "\n";
    text.remove_prefix(end + 1);
  }
  return shown + base::one_line(text);
}

bool print_text(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return true;
  if (lost_because() == 0) lost_because() = errno;
  return false;
}

void widen_output() {
  static char buffer[exports::kBufferBytes];  // without one the size would be ignored
  if (isatty(STDOUT_FILENO) == 0) std::setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
}

bool flush_output() {
  if (std::fflush(stdout) == 0) return true;
  if (lost_because() == 0) lost_because() = errno;
  return false;
}

void say(std::string_view line) {
  print_line(base::one_line(line));
}

bool print_line(std::string_view line) {
  return print_text(line) && print_text("\n");
}

std::string to_yaml(const Json& value) {
  std::string out;
  if (value.is_structured() && value.empty()) return dumped(value) + "\n";
  append_yaml(out, value, 0);
  return out;
}

void print_rows(const std::vector<std::string>& columns, const std::vector<std::vector<Json>>& rows,
                Format format) {
  if (format != Format::kTable) return print_value(rows_json(columns, rows), format);
  print_text(table_text(columns, rows));
}

void print_value(const Json& value, Format format) {
  if (format == Format::kYaml) {
    print_text(to_yaml(value));
  } else if (format == Format::kJson) {
    print_line(dumped(value, 2));
  } else {
    std::size_t width = 0;
    for (const auto& [key, item] : value.items()) width = std::max(width, key.size());
    for (const auto& [key, item] : value.items())
      print_line(fmt::format("{:<{}}  {}", key, width, cell_text(item)));
  }
}

Progress::Progress(std::string what, std::uint64_t all, Meanwhile meanwhile)
    : what_(std::move(what)),
      all_(all),
      terminal_(isatty(STDERR_FILENO) == 1 &&
                (meanwhile == Meanwhile::kSilence || isatty(STDOUT_FILENO) != 1)) {}

Progress::~Progress() {
  if (terminal_ && shown_ != UINT64_MAX) fmt::print(stderr, "\r\x1b[K");
}

void Progress::at(std::uint64_t done) {
  if (!terminal_ || all_ == 0) return;
  const std::uint64_t percent = std::min<std::uint64_t>(100, done * 100 / all_);
  if (percent == shown_) return;
  shown_ = percent;
  fmt::print(stderr, "\r{} {}%", what_, percent);
  std::fflush(stderr);
}

}  // namespace karst::tools
