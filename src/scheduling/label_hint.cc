#include "scheduling/label_hint.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace karst::scheduling {
namespace {

constexpr std::size_t kWordMin = 3;  // shorter ones are in nearly every label
constexpr std::size_t kWordMax = 128;

// How many letters must be put in, left out or changed.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

std::string_view after_slash(std::string_view key) {
  return key.substr(key.find('/') == key.npos ? 0 : key.find('/') + 1);
}

// 0 is nearest; 3 is not near. And how many letters are wrong.
std::pair<int, std::size_t> farness(std::string_view key, std::string_view known) {
  if (after_slash(known) == after_slash(key)) return {0, 0};
  if (known.find(key) != known.npos) return {1, 0};
  const std::size_t wrong = distance(key, known);
  return {wrong < known.size() / 5 ? 2 : 3, wrong};
}

}  // namespace

std::string label_hint(std::string_view text, const std::set<std::string, std::less<>>& known) {
  constexpr std::string_view kBefore = "label \"";
  constexpr std::string_view kAfter = "\" does not have known values";
  const std::size_t from = text.find(kBefore);
  if (from == text.npos || !text.ends_with(kAfter)) return {};
  std::string_view key = text.substr(from + kBefore.size());
  key.remove_suffix(kAfter.size());
  if (key.find('"') != key.npos || key.size() < kWordMin || key.size() > kWordMax) return {};
  if (known.contains(key)) return {};  // it is the demand that no value meets
  using Rank = std::tuple<std::pair<int, std::size_t>, std::size_t, std::string_view>;
  Rank best{{3, 0}, 0, ""};
  for (const std::string& one : known)
    best = std::min(best, Rank(farness(key, one), one.size(), one));
  return std::get<0>(best).first == 3 ? ""
                                      : " (typo of \"" + std::string(std::get<2>(best)) + "\"?)";
}

}  // namespace karst::scheduling
