// Strong identifiers: the same bytes, types that do not convert into each other, total order,
// hashable.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace karst::base {

// A string that is a name of something. `Tag` is any (incomplete) type.
template <class Tag>
class StrongString {
 public:
  StrongString() = default;
  explicit StrongString(std::string value) : value_(std::move(value)) {}
  explicit StrongString(std::string_view value) : value_(value) {}
  explicit StrongString(const char* value) : value_(value) {}
  const std::string& str() const { return value_; }
  bool empty() const { return value_.empty(); }
  friend auto operator<=>(const StrongString&, const StrongString&) = default;

 private:
  std::string value_;
};

// A number that is a name of something.
template <class Tag, class Number>
class StrongNumber {
 public:
  constexpr StrongNumber() = default;
  constexpr explicit StrongNumber(Number value) : value_(value) {}
  constexpr Number value() const { return value_; }
  friend constexpr auto operator<=>(const StrongNumber&, const StrongNumber&) = default;

 private:
  Number value_ = 0;
};

}  // namespace karst::base

template <class Tag>
struct std::hash<karst::base::StrongString<Tag>> {
  std::size_t operator()(const karst::base::StrongString<Tag>& id) const {
    return std::hash<std::string>{}(id.str());
  }
};
template <class Tag, class Number>
struct std::hash<karst::base::StrongNumber<Tag, Number>> {
  std::size_t operator()(const karst::base::StrongNumber<Tag, Number>& id) const {
    return std::hash<Number>{}(id.value());
  }
};
