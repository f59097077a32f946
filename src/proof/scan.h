// Reads text of one known form from its beginning: literals, whole numbers, words up to a quote.
// Pure. After the first thing that is not as expected, everything answers empty and ok() is false.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/base64.h"
#include "proof/merkle.h"

namespace karst::proof {

class Scan {
 public:
  explicit Scan(std::string_view text) : rest_(text) {}

  bool ok() const { return ok_; }
  std::string_view rest() const { return rest_; }

  // Whether it is next; takes it then.
  bool next(std::string_view literal) {
    if (!ok_ || !rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }
  void expect(std::string_view literal) { ok_ = next(literal); }
  std::string_view word() {  // and the quote that ends it
    const std::size_t end = rest_.find('"');
    if (!ok_ || end == rest_.npos) return fail();
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return word;
  }
  std::string base64() {
    auto bytes = base::decode_base64(word());
    if (!bytes) ok_ = false;
    return ok_ ? *std::move(bytes) : "";
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (!ok_ || error != std::errc()) ok_ = false;
    if (!ok_) return 0;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  // ["…","…"], at most 62: a tree is no higher.
  std::vector<Hash> hashes() {
    std::vector<Hash> out;
    expect("[");
    while (ok_ && !next("]") && out.size() < kTreeHeightMax) {
      if (!out.empty()) expect(",");
      expect("\"");
      const std::string bytes = base64();
      if (bytes.size() != kHashSize) ok_ = false;
      if (ok_) out.push_back(as_hash(bytes));
    }
    return out;
  }

 private:
  static constexpr std::size_t kTreeHeightMax = 64;
  std::string_view fail() {
    ok_ = false;
    return {};
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace karst::proof
