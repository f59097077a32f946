// Bugs die: KARST_CHECK is on in every build, says what was believed, and aborts. The log is the
// memory, so a restart is cheap; nothing is caught to go on. Expected failures are values instead
// (result.h).
#pragma once

#include <string_view>

namespace karst::base {

// Prints "file:line: belief broken: EXPR: what" to stderr and aborts. Never returns.
[[noreturn]] void check_failed(const char* file, int line, const char* expression,
                               std::string_view what);

}  // namespace karst::base

#define KARST_CHECK(condition, what)                                     \
  do {                                                                   \
    if (!(condition)) [[unlikely]]                                       \
      ::karst::base::check_failed(__FILE__, __LINE__, #condition, what); \
  } while (false)
