// Makes bytes readable as an event: decode_event wants 8-byte alignment, databases do not promise
// it. One thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace karst::events {

class AlignedCopy {
 public:
  // `bytes` themselves when they are aligned, else a copy that is valid until the next call.
  std::string_view of(std::string_view bytes) {
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % 8 == 0) return bytes;
    const std::size_t words = (bytes.size() + 7) / 8;
    if (words_.size() < words) words_.resize(words);
    char* to = reinterpret_cast<char*>(words_.data());
    bytes.copy(to, bytes.size());
    return {to, bytes.size()};
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace karst::events
