#include "events/high_water.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/check.h"
#include "base/set_digest.h"
#include "base/sync_folder.h"
#include "base/system_error.h"

namespace karst::events {
namespace {

constexpr std::size_t kSlotSize = 64;
constexpr std::size_t kSlotDistance = 4096;
constexpr std::size_t kFileSize = 2 * kSlotDistance;
constexpr std::string_view kMarkMagic = "karst";

using Slot = std::array<char, kSlotSize>;

struct Parsed {
  std::uint64_t turn = 0;
  std::uint8_t format = 0;
  HighWaterMark mark;
};

void put_number(char* to, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(value >> (8 * i));
}
std::uint64_t get_number(const char* from) {
  std::uint64_t value = 0;
  for (int i = 0; i < 8; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  return value;
}
std::uint64_t checksum(const Slot& slot) {
  return base::hash128(std::string_view(slot.data(), kSlotSize - 8)).low;
}

Slot make_slot(std::uint64_t turn, const HighWaterMark& mark) {
  Slot slot{};
  kMarkMagic.copy(slot.data(), kMarkMagic.size());
  slot[5] = static_cast<char>(kLogFormat);
  put_number(&slot[8], turn);
  put_number(&slot[16], mark.position.value());
  std::memcpy(&slot[24], mark.root.data(), mark.root.size());
  put_number(&slot[56], checksum(slot));
  return slot;
}

std::optional<Parsed> parse_slot(const Slot& slot) {
  if (std::string_view(slot.data(), kMarkMagic.size()) != kMarkMagic) return std::nullopt;
  if (get_number(&slot[56]) != checksum(slot)) return std::nullopt;
  Parsed parsed;
  parsed.format = static_cast<std::uint8_t>(slot[5]);
  parsed.turn = get_number(&slot[8]);
  parsed.mark.position = model::Position(get_number(&slot[16]));
  std::memcpy(parsed.mark.root.data(), &slot[24], parsed.mark.root.size());
  return parsed;
}

tl::unexpected<base::Error> system_error(const std::string& doing, const std::string& path) {
  const int code = errno;
  return base::fail(base::kind_of_errno(code, base::Kind::kCorrupt),
                    doing + " " + path + ": " + std::strerror(code));
}

// The newer whole slot; nullopt when neither is whole.
std::optional<Parsed> newest(int file) {
  std::optional<Parsed> best;
  for (std::size_t i = 0; i < 2; ++i) {
    Slot slot{};
    if (pread(file, slot.data(), kSlotSize, static_cast<off_t>(i * kSlotDistance)) !=
        static_cast<ssize_t>(kSlotSize))
      continue;
    const std::optional<Parsed> parsed = parse_slot(slot);
    if (parsed && (!best || parsed->turn > best->turn)) best = parsed;
  }
  return best;
}

base::Status sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  errno = base::sync_folder(folder);
  return errno == 0 ? base::Status() : system_error("cannot sync", folder);
}

}  // namespace

HighWaterFile::~HighWaterFile() {
  if (file_ >= 0) close(file_);
}

base::Result<std::optional<HighWaterMark>> HighWaterFile::read(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return std::optional<HighWaterMark>();
  if (file < 0) return system_error("cannot open", path);
  const std::optional<Parsed> parsed = newest(file);
  close(file);
  if (!parsed)
    return base::fail(base::Kind::kCorrupt,
                      path +
                          " is damaged: neither of its two slots is whole, so it is not known "
                          "how far the log must reach. Restore the folder from a copy");
  if (parsed->format > kLogFormat)
    return base::fail(base::Kind::kNewer,
                      path + ": the log has format " + std::to_string(parsed->format) +
                          ", this karst reads up to " + std::to_string(kLogFormat) +
                          ": use the karst that wrote it, or a newer one");
  return std::optional<HighWaterMark>(parsed->mark);
}

base::Status HighWaterFile::open(const std::string& path) {
  KARST_CHECK(file_ < 0, "opened once");
  path_ = path;
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) return system_error("cannot open", path);
  if (lseek(file_, 0, SEEK_END) < static_cast<off_t>(kFileSize)) {
    if (const int code = posix_fallocate(file_, 0, static_cast<off_t>(kFileSize)); code != 0) {
      errno = code;
      return system_error("cannot reserve", path);
    }
    if (fsync(file_) != 0) return system_error("cannot sync", path);
    KARST_TRY(sync_folder_of(path));
  }
  const std::optional<Parsed> parsed = newest(file_);
  turn_ = parsed ? parsed->turn : 0;
  return {};
}

base::Status HighWaterFile::write(const HighWaterMark& mark) {
  KARST_CHECK(file_ >= 0, "opened before it is written");
  const Slot slot = make_slot(++turn_, mark);
  const auto at = static_cast<off_t>((turn_ % 2) * kSlotDistance);
  if (pwrite(file_, slot.data(), kSlotSize, at) != static_cast<ssize_t>(kSlotSize))
    return system_error("cannot write", path_);
  if (fdatasync(file_) != 0) return system_error("cannot sync", path_);
  return {};
}

}  // namespace karst::events
