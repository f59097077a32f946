#include "ports/withheld_texts.h"

#include <algorithm>

#include "base/sha256.h"

namespace karst::ports {

void WithheldTexts::keep(std::string text) {
  std::string hash = base::hex_lower(base::sha256(text));
  const std::lock_guard lock(mutex_);
  Kept& kept = kept_[std::move(hash)];
  if (kept.brought == 0) {
    bytes_ += text.size();
    kept.text = std::move(text);
  }
  kept.brought = ++brought_;
  while (bytes_ > kWithheldBytesMax && kept_.size() > 1) {
    const auto oldest = std::min_element(kept_.begin(), kept_.end(), [](auto& a, auto& b) {
      return a.second.brought < b.second.brought;
    });
    bytes_ -= oldest->second.text.size();
    kept_.erase(oldest);
  }
}

std::optional<std::string> WithheldTexts::find(std::string_view sha256_hex) const {
  const std::lock_guard lock(mutex_);
  const auto at = kept_.find(sha256_hex);
  if (at == kept_.end()) return std::nullopt;
  return at->second.text;
}

}  // namespace karst::ports
