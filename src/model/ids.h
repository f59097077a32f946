// Identifiers of the domain, and the three derived names that are dear to change: CommandId, claim
// name, launch token (docs/decisions/0003).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/strong_id.h"

namespace karst::model {

using Position =
    base::StrongNumber<struct PositionTag, std::uint64_t>;  // place in the log, from 1; 0 is "none"
using LogId = base::StrongString<struct LogIdTag>;  // 26 base32 characters, drawn once per log

using PodUid = base::StrongString<struct PodUidTag>;
using NodeUid = base::StrongString<struct NodeUidTag>;
using NodeName = base::StrongString<struct NodeNameTag>;
using ClaimUid = base::StrongString<struct ClaimUidTag>;
using ClaimName = base::StrongString<struct ClaimNameTag>;
using PoolName = base::StrongString<struct PoolNameTag>;
using ProviderId =
    base::StrongString<struct ProviderIdTag>;  // spec.providerID, e.g. kwok://default-abcde
using MessageId = base::StrongString<struct MessageIdTag>;  // the queue's own id of a message
using LaunchToken =
    base::StrongString<struct LaunchTokenTag>;  // 52 characters, at most 64 ASCII as EC2 asks

// 128 bits of SHA-256 over a pod shape's canonical bytes.
struct ShapeHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const ShapeHash&, const ShapeHash&) = default;
};
template <class Archive>
void fields(Archive& a, ShapeHash& hash) {
  a(hash.high, hash.low);
}
std::string to_string(const ShapeHash& hash);

// Which command: the log that holds its intent, and where. It goes into the instance tag, the
// Audit-ID header and our annotation.
struct CommandId {
  LogId log;
  Position position;
  friend auto operator<=>(const CommandId&, const CommandId&) = default;
};

// "<log id>-<position in decimal>".
std::string to_string(const CommandId& id);

// Pool name cut to 57 characters, a dash, and 5 characters of base32(SHA-256(command id text)): at
// most 63 characters, the same from any replay of the same log.
ClaimName claim_name_for(const PoolName& pool, const CommandId& id);

// The machine that a provider id names, in one spelling. EC2's messages do not tell the zone:
// "aws:///us-east-1a/i-0123" becomes "aws:////i-0123"; any other id is as it is.
ProviderId machine_of(const ProviderId& id);

struct LaunchKey {
  ClaimUid claim;
  std::uint32_t attempt = 1;
  friend auto operator<=>(const LaunchKey&, const LaunchKey&) = default;
};

// base32(SHA-256(cluster UID, the (claim UID, attempt) pairs, sorted)): the same from any replica
// and any log, so that two leaders that both send collapse into one effect at a cloud that knows
// client tokens.
LaunchToken launch_token(std::string_view cluster_uid, std::span<const LaunchKey> keys);

}  // namespace karst::model
