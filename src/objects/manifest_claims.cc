#include "objects/manifest_claims.h"

namespace karst::objects {

std::vector<model::VolumeClaim> claim_templates(const TreeValue& stateful_set) {
  std::vector<model::VolumeClaim> claims;
  const TreeValue* templates = stateful_set.at({"spec", "volumeClaimTemplates"});
  if (templates == nullptr) return claims;
  for (const TreeValue& one : templates->items) {
    model::VolumeClaim claim;
    const TreeValue* name = one.at({"metadata", "name"});
    claim.name = name == nullptr ? "" : name->text;
    if (const TreeValue* storage = one.at({"spec", "storageClassName"}))
      claim.storage_class = storage->text;
    claims.push_back(std::move(claim));
  }
  return claims;
}

std::vector<model::VolumeClaim> ephemeral_claims(const TreeValue& pod) {
  std::vector<model::VolumeClaim> claims;
  const TreeValue* volumes = pod.at({"spec", "volumes"});
  if (volumes == nullptr) return claims;
  for (const TreeValue& volume : volumes->items) {
    if (volume.find("ephemeral") == nullptr) continue;
    model::VolumeClaim claim;
    claim.name = volume.text_of("name");
    if (const TreeValue* storage =
            volume.at({"ephemeral", "volumeClaimTemplate", "spec", "storageClassName"}))
      claim.storage_class = storage->text;
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace karst::objects
