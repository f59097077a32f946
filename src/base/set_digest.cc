#include "base/set_digest.h"

#include <xxhash.h>

namespace karst::base {

Hash128 hash128(std::string_view bytes, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.low64, hash.high64};
}

std::size_t FastHash::operator()(std::string_view text) const {
  return XXH3_64bits(text.data(), text.size());
}

}  // namespace karst::base
