// The Merkle tree over the leaves of a log (events/event.h, leaf_bytes): SHA-256 as RFC 6962
// section 2.1 has it. A tree of size N covers the positions 1 to N: the leaf of position P has the
// index P - 1. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/sha256.h"

namespace karst::proof {

using Hash = base::Sha256Digest;

inline constexpr std::size_t kHashSize = 32;
inline constexpr std::uint64_t kTreeSizeMax = std::uint64_t{1} << 62;

Hash leaf_hash(std::string_view leaf);  // SHA-256(0x00 | leaf)
Hash leaf_hash(std::string_view front,  // of a leaf in its two parts
               std::string_view commitment);
Hash node_hash(const Hash& left, const Hash& right);  // SHA-256(0x01 | left | right)
Hash empty_root();                                    // of a tree of no leaves: SHA-256()
Hash event_leaf_hash(std::string_view stored_bytes,   // of a stored event: leaf_bytes, hashed
                     std::string_view log_secret);

using base::as_text;
Hash as_hash(std::string_view bytes);  // REQUIRES: kHashSize bytes

// Bytes of consecutive hashes, such as a part of a tile, reduced to the root of the perfect tree
// over them. REQUIRES: a power of two of hashes, at most 256.
Hash perfect_root(std::string_view hashes);

// A tree that grows, as the roots of its perfect subtrees alone: at most 62 hashes.
class Frontier {
 public:
  void append(const Hash& leaf);
  std::uint64_t size() const { return size_; }
  Hash root() const;

 private:
  std::uint64_t size_ = 0;
  std::vector<Hash> roots_;  // of the perfect subtrees, greatest first: one for each bit of size_
};

// Whether the leaf is the one at `index` in the tree of `size` leaves with `root`, by its path from
// RFC 6962 section 2.1.1 (checked as RFC 9162 section 2.1.3.2 says).
// root_of_path: the root that a path leads to; nothing when it has not the length of such a path.
std::optional<Hash> root_of_path(const Hash& leaf, std::uint64_t index, std::uint64_t size,
                                 std::span<const Hash> path);
bool inclusion_holds(const Hash& leaf, std::uint64_t index, std::uint64_t size,
                     std::span<const Hash> path, const Hash& root);

// Whether the tree of `size` with `root` begins with the leaves of the tree of `old_size` with
// `old_root`, by a proof from RFC 6962 section 2.1.2 (checked as RFC 9162 section 2.1.4.2 says).
// Equal sizes: an empty proof and equal roots. An old size of 0 proves nothing and is refused.
bool consistency_holds(std::uint64_t old_size, const Hash& old_root, std::uint64_t size,
                       const Hash& root, std::span<const Hash> proof);

}  // namespace karst::proof
