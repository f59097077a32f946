// Claims are compared with their pool and their class by hashes, and those by one recipe only. When
// the recipe has changed, or another product's was in use, nothing has drifted: claims take over
// the new hash. As Karpenter does it (v1.14). Internal to reconcilers.
#pragma once

#include <string>
#include <string_view>

#include "reconcilers/queries.h"

namespace karst::reconcilers {

struct HashVersion {
  std::string_view hash_key;  // of the annotations
  std::string_view version_key;
  std::string_view version;
  std::string_view hash;
};

// Asks for the annotations of a claim whose version is another; a claim that is known to have
// drifted keeps its hash. True when there is nothing to ask for.
bool migrate_claim(const ClusterState& state, const Context& context, Plan& plan,
                   const ClaimRow& row, const HashVersion& to);

}  // namespace karst::reconcilers
