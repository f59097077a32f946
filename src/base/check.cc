#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace karst::base {

void check_failed(const char* file, int line, const char* expression, std::string_view what) {
  std::fprintf(stderr, "%s:%d: belief broken: %s: %.*s\n", file, line, expression,
               static_cast<int>(what.size()), what.data());
  std::fflush(stderr);
  std::abort();
}

}  // namespace karst::base
