// Texts that must not come into the log. The observer of the API server keeps one here and puts its
// SHA-256 and length into the fact; the hands that send it take it out by that hash. They are in
// memory alone: after a start the first list brings them again. Any thread.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace karst::ports {

inline constexpr std::size_t kWithheldBytesMax = std::size_t{64} << 20;

class WithheldTexts {
 public:
  // Keeps a text; one that is there already is as good as new. Beyond kWithheldBytesMax in all,
  // those that were not brought for the longest go, the newest stays.
  void keep(std::string text);
  // By its SHA-256 in lower-case hex. nullopt: nobody has brought it, or it went.
  std::optional<std::string> find(std::string_view sha256_hex) const;

 private:
  struct Kept {
    std::string text;
    std::size_t brought = 0;  // counts keep()
  };
  mutable std::mutex mutex_;
  std::map<std::string, Kept, std::less<>> kept_;  // by hash
  std::size_t bytes_ = 0;
  std::size_t brought_ = 0;
};

}  // namespace karst::ports
