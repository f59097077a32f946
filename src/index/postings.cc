#include "index/postings.h"

#include "events/rocks_db.h"

namespace karst::index {

std::string posting_key(Term term, model::Position block) {
  std::string key;
  key.reserve(kPostingKeyBytes);
  key.append(events::PositionKey(model::Position(term)).view());
  key.append(events::PositionKey(block).view());
  return key;
}

std::optional<model::Position> block_in_key(std::string_view key, Term term) {
  if (key.size() != kPostingKeyBytes) return std::nullopt;
  if (events::parse_position_key(key.substr(0, 8)) != model::Position(term)) return std::nullopt;
  return events::parse_position_key(key.substr(8));
}

void append_offset(std::string& value, std::optional<std::uint16_t> before, std::uint16_t offset) {
  unsigned distance = before ? static_cast<unsigned>(offset - *before) : offset;
  for (; distance >= 0x80; distance >>= 7) value.push_back(static_cast<char>(distance | 0x80));
  value.push_back(static_cast<char>(distance));
}

bool read_offsets(std::string_view value, model::Position block,
                  std::vector<model::Position>& positions) {
  std::uint64_t offset = 0;
  bool first = true;
  while (!value.empty()) {
    std::uint64_t distance = 0;
    int shift = 0;
    for (;; shift += 7) {
      if (value.empty() || shift > 14) return false;
      const auto byte = static_cast<unsigned char>(value.front());
      value.remove_prefix(1);
      distance |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if ((byte & 0x80) == 0) break;
    }
    if (!first && distance == 0) return false;
    offset += distance;
    if (offset >= kBlockEvents) return false;
    positions.push_back(model::Position(block.value() + offset));
    first = false;
  }
  return !first;
}

}  // namespace karst::index
