// Result<T>: a value or an Error (error.h). [[nodiscard]]: dropping one is a compile error. It is
// tl::expected to the letter, so that the day this becomes std::expected is a change of this file
// alone.
#pragma once

#include <tl/expected.hpp>

#include "base/error.h"

namespace karst::base {

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
  Result(tl::expected<T, Error> other) : tl::expected<T, Error>(std::move(other)) {}
};

using Status = Result<void>;

inline tl::unexpected<Error> fail(Kind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}
inline tl::unexpected<Error> fail(Error error) {
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace karst::base

// Returns the error of `expression` from the enclosing function, if it is one.
#define KARST_TRY(expression)                                         \
  do {                                                                \
    if (auto karst_status = (expression); !karst_status) [[unlikely]] \
      return ::karst::base::fail(std::move(karst_status.error()));    \
  } while (false)
