// Text that must not be seen: key material and tokens. It prints as "[secret]", compares, and wipes
// its bytes when it goes. Whoever needs the text itself says reveal(), which is what a reviewer
// looks for. What is made of it (a signature's headers) is no longer guarded.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>

namespace karst::cloud::aws {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : text_(std::move(other.text_)) { other.wipe(); }
  Secret& operator=(const Secret& other) {
    if (this != &other) {
      wipe();
      text_ = other.text_;
    }
    return *this;
  }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      wipe();
      text_ = std::move(other.text_);
      other.wipe();
    }
    return *this;
  }
  ~Secret() { wipe(); }

  bool empty() const { return text_.empty(); }
  const std::string& reveal() const { return text_; }

  friend bool operator==(const Secret&, const Secret&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Secret&) { return out << "[secret]"; }

 private:
  // Through volatile, or the compiler leaves out writes that nobody reads. The whole capacity, so
  // that a short text kept inside the object goes too.
  void wipe() {
    text_.resize(text_.capacity());
    volatile char* bytes = text_.data();
    for (std::size_t i = 0; i < text_.size(); ++i) bytes[i] = 0;
    text_.clear();
  }

  std::string text_;
};

}  // namespace karst::cloud::aws
