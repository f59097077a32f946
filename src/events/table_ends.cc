#include "events/table_ends.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

namespace karst::events {
namespace {

// RocksDB's format of block-based tables: at the end a footer of the checksum's type (1 byte), the
// places of the meta-index and the index (varints, then padding), a version (4) and a magic number
// (8). A block ends with the number of its restarts (4, little-endian), whose highest bit says that
// there is a hash index.
constexpr std::size_t kFooterBytes = 53;
constexpr std::string_view kTableMagic = "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88";
constexpr std::uint64_t kBlockBytesMax = 1 << 20;  // of a meta-index; ours have some 200
constexpr std::string_view kProperties = "rocksdb.properties";

struct Place {
  std::uint64_t offset = 0, size = 0;
};

std::optional<std::uint64_t> take_number(std::string_view& bytes) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    number |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return number;
  }
  return std::nullopt;
}

std::optional<Place> take_place(std::string_view bytes) {
  const auto offset = take_number(bytes), size = take_number(bytes);
  if (!offset || !size) return std::nullopt;
  return Place{*offset, *size};
}

std::string read_at(std::ifstream& file, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  file.clear();
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return bytes;
}

// In a meta-index, whose keys are whole.
std::optional<Place> find_properties(std::string_view block) {
  while (!block.empty()) {
    const auto shared = take_number(block), own = take_number(block), value = take_number(block);
    if (!shared || !own || !value || *own > block.size() || *value > block.size() - *own) break;
    if (*shared == 0 && block.substr(0, *own) == kProperties)
      return take_place(block.substr(*own, *value));
    block.remove_prefix(*own + *value);
  }
  return std::nullopt;
}

bool claims_hash_index(const std::string& path) {
  std::error_code code;
  const std::uint64_t bytes = std::filesystem::file_size(path, code);
  if (code || bytes < kFooterBytes) return false;
  std::ifstream file(path, std::ios::binary);
  const std::string footer = read_at(file, bytes - kFooterBytes, kFooterBytes);
  if (!footer.ends_with(kTableMagic)) return false;
  const auto meta_index = take_place(std::string_view(footer).substr(1));
  if (!meta_index || meta_index->size > kBlockBytesMax) return false;
  const auto properties = find_properties(read_at(file, meta_index->offset, meta_index->size));
  if (!properties || properties->size < 4 || properties->offset > bytes ||
      properties->size > bytes - properties->offset)
    return false;
  const std::string last = read_at(file, properties->offset + properties->size - 1, 1);
  return !last.empty() && static_cast<unsigned char>(last[0]) >= 0x80;
}

}  // namespace

base::Status check_table_ends(const std::string& folder) {
  std::error_code code;
  for (const auto& entry : std::filesystem::directory_iterator(folder, code))
    if (entry.path().extension() == ".sst" && claims_hash_index(entry.path()))
      return base::fail(base::Kind::kCorrupt,
                        std::string(entry.path().filename()) +
                            ": the block of its properties claims to have a hash index");
  return {};
}

}  // namespace karst::events
