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
constexpr std::size_t kSlots = 2;
constexpr std::size_t kGapSize = kSlotDistance - kSlotSize;  // behind each slot
constexpr std::size_t kFileSize = kSlots * kSlotDistance;
constexpr int kLooks = 3;  // at a slot that its writer may be writing
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

off_t place_of(std::size_t slot) {
  return static_cast<off_t>(slot * kSlotDistance);
}
std::optional<Slot> read_slot(int file, std::size_t number) {
  Slot slot{};
  if (pread(file, slot.data(), kSlotSize, place_of(number)) != static_cast<ssize_t>(kSlotSize))
    return std::nullopt;
  return slot;
}

// The newer whole slot; nullopt when neither is whole.
std::optional<Parsed> newest(int file) {
  std::optional<Parsed> best;
  for (std::size_t i = 0; i < kSlots; ++i) {
    const std::optional<Slot> slot = read_slot(file, i);
    const std::optional<Parsed> parsed = slot ? parse_slot(*slot) : std::nullopt;
    if (parsed && (!best || parsed->turn > best->turn)) best = parsed;
  }
  return best;
}

bool is_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}
bool is_as_written(const Slot& slot) {
  return parse_slot(slot) || is_zero({slot.data(), slot.size()});
}
bool is_gap(int file, std::size_t number) {
  std::string gap(kGapSize, 'x');
  const off_t at = place_of(number) + static_cast<off_t>(kSlotSize);
  return pread(file, gap.data(), gap.size(), at) == static_cast<ssize_t>(gap.size()) &&
         is_zero(gap);
}

std::string oddity_of(int file) {
  if (lseek(file, 0, SEEK_END) != static_cast<off_t>(kFileSize))
    return "has another size than the " + std::to_string(kFileSize) +
           " bytes that it was made with";
  for (std::size_t i = 0; i < kSlots; ++i) {
    const std::optional<Slot> slot = read_slot(file, i);
    if (!slot || !is_as_written(*slot))
      return "has a slot, at byte " + std::to_string(place_of(i)) +
             ", that is neither whole nor empty: a write that a crash tore, or damage since. How "
             "far the log must reach is known from the other slot only";
    if (!is_gap(file, i))
      return "has bytes outside its slots, after byte " +
             std::to_string(place_of(i) + static_cast<off_t>(kSlotSize)) +
             ", that karst did not write: damage, of nothing that is used";
  }
  return "";
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

std::string HighWaterFile::oddity(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  std::string found = oddity_of(file);
  for (int look = 1; look < kLooks && !found.empty(); ++look) found = oddity_of(file);
  close(file);
  return found;
}

// Both slots and the zeros behind them are on stable storage when it returns.
base::Status HighWaterFile::make_room() {
  const auto size = static_cast<off_t>(kFileSize);
  if (const int code = posix_fallocate(file_, 0, size); code != 0) {
    errno = code;
    return system_error("cannot reserve", path_);
  }
  const std::string zeros(kGapSize, '\0');
  for (std::size_t i = 0; i < kSlots; ++i) {
    if (is_gap(file_, i)) continue;
    const off_t at = place_of(i) + static_cast<off_t>(kSlotSize);
    if (pwrite(file_, zeros.data(), zeros.size(), at) != static_cast<ssize_t>(zeros.size()))
      return system_error("cannot write", path_);
  }
  if (ftruncate(file_, size) != 0) return system_error("cannot cut", path_);
  if (fsync(file_) != 0) return system_error("cannot sync", path_);
  return sync_folder_of(path_);
}

base::Status HighWaterFile::open(const std::string& path) {
  KARST_CHECK(file_ < 0, "opened once");
  path_ = path;
  file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file_ < 0) return system_error("cannot open", path);
  if (!oddity_of(file_).empty()) KARST_TRY(make_room());
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
