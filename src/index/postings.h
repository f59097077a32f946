// The bytes of `streams`. The positions of a term are kept in blocks of 4,096 positions:
//   term, 8 bytes big-endian | first position of the block, 8 bytes big-endian
//     → offsets in the block, rising, each as a varint of its distance to the one before
// so the events of one stream lie side by side, whatever the length of the log
// (docs/decisions/0016). The last block grows: its keys are written again. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/terms.h"
#include "model/ids.h"

namespace karst::index {

inline constexpr std::uint64_t kBlockEvents = 4096;
inline constexpr std::size_t kPostingKeyBytes = 16;

inline model::Position block_of(model::Position position) {
  return model::Position(position.value() - position.value() % kBlockEvents);
}

std::string posting_key(Term term, model::Position block);
// nullopt when the key is another term's, or no key.
std::optional<model::Position> block_in_key(std::string_view key, Term term);

// Appends the varint of `offset`, which comes after `before` (nullopt: it is the first).
void append_offset(std::string& value, std::optional<std::uint16_t> before, std::uint16_t offset);
// Appends the positions to `positions`. False: the bytes are no offsets of a block.
bool read_offsets(std::string_view value, model::Position block,
                  std::vector<model::Position>& positions);

}  // namespace karst::index
