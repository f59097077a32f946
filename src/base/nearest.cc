#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace karst::base {
namespace {

// How many letters must be put in, left out, changed or swapped with their neighbour.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = std::tolower(static_cast<unsigned char>(a[i - 1])) ==
                        std::tolower(static_cast<unsigned char>(b[j - 1]));
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& words) {
  if (word.size() > 64) return {};
  std::string_view best;
  std::size_t least = std::min<std::size_t>(3, word.size() / 3 + 1);
  for (const std::string_view candidate : words)
    if (const std::size_t steps = distance(word, candidate); steps < least) {
      least = steps;
      best = candidate;
    }
  return best;
}

}  // namespace karst::base
