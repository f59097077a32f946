// Did you mean …? For messages about a word that is none of those that there are.
#pragma once

#include <string_view>
#include <vector>

namespace karst::base {

// Of `words` the one that was probably meant: the first with the fewest letters that differ, are
// missing or too many, at most two and less than a third of `word`; empty when none is near, and
// for a `word` of more than 64 bytes.
std::string_view nearest(std::string_view word, const std::vector<std::string_view>& words);

}  // namespace karst::base
