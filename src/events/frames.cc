#include "events/frames.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

namespace karst::events {
namespace {

// The format of RocksDB's log files: blocks, in them frames of a checksum (4 bytes), a length (2,
// little-endian), a type (1) and the payload. What is left of a block behind its last frame and
// has no room for a head is padding.
constexpr std::size_t kBlockBytes = 32 << 10;
constexpr std::size_t kFrameHeadBytes = 7;
constexpr unsigned kFirstRecycled = 5, kLastRecycled = 8;

// What no karst wrote in this block, with its place; empty: nothing.
std::string wrong(const std::vector<char>& block, std::size_t size, std::uint64_t begin) {
  std::size_t at = 0;
  while (at + kFrameHeadBytes <= size) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(block[at + i]); };
    const std::size_t length = byte(4) | byte(5) << 8;
    const unsigned type = byte(6);
    const auto place = [&] { return "the frame at byte " + std::to_string(begin + at); };
    if (type >= kFirstRecycled && type <= kLastRecycled)
      return place() + " has the type " + std::to_string(type) + " of a recycled log";
    if (type == 0 && length == 0) return {};  // room that was never written
    if (length > kBlockBytes - kFrameHeadBytes - at)
      return place() + " has " + std::to_string(length) + " bytes, more than its block";
    at += kFrameHeadBytes + length;
  }
  return {};
}

}  // namespace

base::Status Frames::check(const std::string& front, const std::string& ending) {
  std::error_code code;
  std::map<std::string, std::uint64_t> there;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, code)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(front) && name.ends_with(ending)) there[name] = seen_[name];
  }
  std::erase_if(seen_, [&](const auto& seen) {
    return seen.first.starts_with(front) && seen.first.ends_with(ending) &&
           !there.contains(seen.first);
  });
  for (const auto& [name, seen] : there) KARST_TRY(check_file(name));
  return {};
}

base::Status Frames::check_file(const std::string& name) {
  std::ifstream file(folder_ + "/" + name, std::ios::binary);
  std::uint64_t& seen = seen_[name];
  file.seekg(static_cast<std::streamoff>(seen));
  std::vector<char> block(kBlockBytes);
  while (file) {
    file.read(block.data(), kBlockBytes);
    const auto size = static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount()));
    if (const std::string what = wrong(block, size, seen); !what.empty())
      return base::fail(base::Kind::kCorrupt, name + ": " + what);
    if (size < kBlockBytes) break;
    seen += kBlockBytes;
  }
  return {};
}

}  // namespace karst::events
