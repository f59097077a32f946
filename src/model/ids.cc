#include "model/ids.h"

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "base/sha256.h"

namespace karst::model {

constexpr std::size_t kPoolPartMax = 57;
constexpr std::size_t kHashPartLength = 5;

std::string to_string(const ShapeHash& hash) {
  std::uint8_t bytes[16];
  for (int i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(hash.high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(hash.low >> (56 - 8 * i));
  }
  return base::hex_lower(bytes);
}

std::string to_string(const CommandId& id) {
  return id.log.str() + "-" + std::to_string(id.position.value());
}

ClaimName claim_name_for(const PoolName& pool, const CommandId& id) {
  const auto digest = base::sha256(to_string(id));
  return ClaimName(pool.str().substr(0, kPoolPartMax) + "-" +
                   base::base32_lower(digest).substr(0, kHashPartLength));
}

LaunchToken launch_token(std::string_view cluster_uid, std::span<const LaunchKey> keys) {
  std::vector<LaunchKey> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());
  base::ByteWriter writer;
  writer(std::string(cluster_uid));
  for (const LaunchKey& key : sorted) writer(key.claim, key.attempt);
  return LaunchToken(base::base32_lower(base::sha256(writer.view())));
}

ProviderId machine_of(const ProviderId& id) {
  constexpr std::string_view kScheme = "aws:///";
  const std::string_view text = id.str();
  const std::size_t slash = text.rfind('/');
  if (!text.starts_with(kScheme) || slash < kScheme.size()) return id;
  std::string machine = std::string(kScheme) + "/";
  machine += text.substr(slash + 1);
  return ProviderId(std::move(machine));
}

}  // namespace karst::model
