// Long values are kept in pieces: RocksDB holds each row in memory whole. Internal to the log's
// stores.
#pragma once

#include <cstddef>
#include <cstdint>

namespace karst::events {

inline constexpr std::size_t kPieceBytes = 1 << 20;
inline constexpr std::size_t kPiecesMax = 4096;  // of one value

inline std::uint32_t pieces_of(std::uint64_t size) {
  return static_cast<std::uint32_t>((size + kPieceBytes - 1) / kPieceBytes);
}

}  // namespace karst::events
