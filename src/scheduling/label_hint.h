// Which label was probably meant by one that nobody knows. Pure.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace karst::scheduling {

// ` (typo of "topology.kubernetes.io/zone"?)` after a text that says `label "zone" does not have
// known values`, as Karpenter ends it; nothing when no known label is near: one that is
// the same after the slash, that holds the word, or that differs in less than a fifth of its
// letters. Of several the first of these, then the shortest.
std::string label_hint(std::string_view text, const std::set<std::string, std::less<>>& known);

}  // namespace karst::scheduling
