// Choices for the laws: drawn by rapidcheck, so that a failing one shrinks and can be repeated.
#pragma once

#include <rapidcheck.h>

#include <cstdint>

namespace karst::scheduling::test {

inline std::int64_t pick(std::int64_t from, std::int64_t below) {
  return *rc::gen::inRange<std::int64_t>(from, below);
}
inline bool chance(std::int64_t one_in) {
  return pick(0, one_in) == 0;
}

}  // namespace karst::scheduling::test
