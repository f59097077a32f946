#include "model/taint.h"

#include <algorithm>

namespace karst::model {

std::string_view taint_effect_name(TaintEffect effect) {
  switch (effect) {
    case TaintEffect::kNoSchedule:
      return "NoSchedule";
    case TaintEffect::kPreferNoSchedule:
      return "PreferNoSchedule";
    case TaintEffect::kNoExecute:
      return "NoExecute";
  }
  return "?";
}

std::optional<TaintEffect> parse_taint_effect(std::string_view name) {
  for (const auto effect :
       {TaintEffect::kNoSchedule, TaintEffect::kPreferNoSchedule, TaintEffect::kNoExecute})
    if (taint_effect_name(effect) == name) return effect;
  return std::nullopt;
}

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (toleration.effect && *toleration.effect != taint.effect) return false;
  if (toleration.key.empty()) return toleration.exists;
  if (toleration.key != taint.key) return false;
  return toleration.exists || toleration.value == taint.value;
}

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  for (const Toleration& toleration : tolerations)
    if (tolerates(toleration, taint)) return true;
  return false;
}

const Taint* first_untolerated(const std::vector<Taint>& taints,
                               const std::vector<Toleration>& tolerations) {
  for (const Taint& taint : taints)
    if (taint.effect != TaintEffect::kPreferNoSchedule && !tolerates(tolerations, taint))
      return &taint;
  return nullptr;
}

void add_cordon(std::vector<Taint>& taints) {
  const Taint cordon{"node.kubernetes.io/unschedulable", "", TaintEffect::kNoSchedule};
  if (std::find(taints.begin(), taints.end(), cordon) == taints.end()) taints.push_back(cordon);
}

bool is_known_ephemeral(const Taint& taint) {
  if (taint.key == "node.kubernetes.io/not-ready")
    return taint.effect != TaintEffect::kPreferNoSchedule;
  if (taint.key == "node.kubernetes.io/unreachable")
    return taint.effect == TaintEffect::kNoSchedule;
  if (taint.key == "node.cloudprovider.kubernetes.io/uninitialized")
    return taint.effect == TaintEffect::kNoSchedule;
  if (taint.key == kUnregisteredTaintKey) return taint.effect == TaintEffect::kNoExecute;
  return taint.key.starts_with("readiness.k8s.io/");
}

}  // namespace karst::model
