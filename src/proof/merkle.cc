#include "proof/merkle.h"

#include <bit>
#include <cstring>
#include <string>

#include "base/check.h"
#include "events/event.h"

namespace karst::proof {
namespace {
constexpr std::string_view kLeafMark("\0", 1);
}  // namespace

Hash leaf_hash(std::string_view leaf) {
  return base::sha256_of({kLeafMark, leaf});
}

Hash leaf_hash(std::string_view front, std::string_view commitment) {
  return base::sha256_of({kLeafMark, front, commitment});
}

Hash node_hash(const Hash& left, const Hash& right) {
  char bytes[1 + 2 * kHashSize];
  bytes[0] = 1;
  std::memcpy(bytes + 1, left.data(), kHashSize);
  std::memcpy(bytes + 1 + kHashSize, right.data(), kHashSize);
  return base::sha256({bytes, sizeof bytes});
}

Hash empty_root() {
  return base::sha256({});
}

Hash event_leaf_hash(std::string_view stored_bytes, std::string_view log_secret) {
  return leaf_hash(events::leaf_bytes(stored_bytes, log_secret));
}

Hash as_hash(std::string_view bytes) {
  KARST_CHECK(bytes.size() == kHashSize, "a hash has 32 bytes");
  Hash hash;
  std::memcpy(hash.data(), bytes.data(), kHashSize);
  return hash;
}

Hash perfect_root(std::string_view hashes) {
  const std::size_t count = hashes.size() / kHashSize;
  KARST_CHECK(std::has_single_bit(count) && count <= 256 && hashes.size() % kHashSize == 0,
              "a perfect tree of at most 256 hashes");
  Hash row[256];
  std::memcpy(row, hashes.data(), hashes.size());
  for (std::size_t width = count / 2; width > 0; width /= 2)
    for (std::size_t i = 0; i < width; ++i) row[i] = node_hash(row[2 * i], row[2 * i + 1]);
  return row[0];
}

void Frontier::append(const Hash& leaf) {
  KARST_CHECK(size_ < kTreeSizeMax, "trees have at most 2^62 leaves");
  Hash hash = leaf;
  // A carry of the binary counter: two perfect trees of one size become one.
  for (std::uint64_t bits = size_; (bits & 1) != 0; bits >>= 1) {
    hash = node_hash(roots_.back(), hash);
    roots_.pop_back();
  }
  roots_.push_back(hash);
  ++size_;
}

Hash Frontier::root() const {
  if (roots_.empty()) return empty_root();
  Hash hash = roots_.back();
  for (std::size_t i = roots_.size() - 1; i > 0; --i) hash = node_hash(roots_[i - 1], hash);
  return hash;
}

std::optional<Hash> root_of_path(const Hash& leaf, std::uint64_t index, std::uint64_t size,
                                 std::span<const Hash> path) {
  if (index >= size || size > kTreeSizeMax) return std::nullopt;
  std::uint64_t node = index, last = size - 1;
  Hash hash = leaf;
  for (const Hash& sibling : path) {
    if (last == 0) return std::nullopt;
    if ((node & 1) != 0 || node == last) {
      hash = node_hash(sibling, hash);
      // The rightmost node of a level without a sibling stands on several levels.
      while ((node & 1) == 0 && node != 0) node >>= 1, last >>= 1;
    } else {
      hash = node_hash(hash, sibling);
    }
    node >>= 1;
    last >>= 1;
  }
  if (last != 0) return std::nullopt;
  return hash;
}

bool inclusion_holds(const Hash& leaf, std::uint64_t index, std::uint64_t size,
                     std::span<const Hash> path, const Hash& root) {
  return root_of_path(leaf, index, size, path) == root;
}

bool consistency_holds(std::uint64_t old_size, const Hash& old_root, std::uint64_t size,
                       const Hash& root, std::span<const Hash> proof) {
  if (old_size == 0 || old_size > size || size > kTreeSizeMax) return false;
  if (old_size == size) return proof.empty() && old_root == root;
  if (proof.empty()) return false;
  std::uint64_t node = old_size - 1, last = size - 1;
  while ((node & 1) != 0) node >>= 1, last >>= 1;
  // An old tree that is perfect is itself the first hash; the proof does not repeat it.
  const bool perfect = std::has_single_bit(old_size);
  Hash old_hash = perfect ? old_root : proof.front();
  Hash hash = old_hash;
  for (const Hash& next : proof.subspan(perfect ? 0 : 1)) {
    if (last == 0) return false;
    if ((node & 1) != 0 || node == last) {
      old_hash = node_hash(next, old_hash);
      hash = node_hash(next, hash);
      while ((node & 1) == 0 && node != 0) node >>= 1, last >>= 1;
    } else {
      hash = node_hash(hash, next);
    }
    node >>= 1;
    last >>= 1;
  }
  return last == 0 && old_hash == old_root && hash == root;
}

}  // namespace karst::proof
