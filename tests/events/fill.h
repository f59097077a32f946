// Bodies of every event type, and their members as canonical bytes for comparison. Made by walking
// the structs through base/bytes.h's `fields` or tests/events/parts.h; a struct of which a member
// is left out fails the test.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "events/body.h"

namespace karst::events::testing {

// One of every event type, with all members at their defaults.
std::vector<Body> default_bodies();
// Every member has a value of its own that is not its default.
std::vector<Body> full_bodies();
// Anything at all, extremes and empties often.
std::vector<Body> random_bodies(std::uint64_t seed);

std::string canonical(Body body);

// A copy of bytes that starts at an address with the alignment that stored events have.
class Aligned {
 public:
  explicit Aligned(std::string_view bytes)
      : words_((bytes.size() + 7) / 8 + 1), size_(bytes.size()) {
    bytes.copy(data(), bytes.size());
  }
  char* data() { return reinterpret_cast<char*>(words_.data()); }
  std::string_view view() const { return {reinterpret_cast<const char*>(words_.data()), size_}; }
  std::string_view first(std::size_t count) const { return view().substr(0, count); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

}  // namespace karst::events::testing
