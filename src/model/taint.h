// Taints and tolerations, and Kubernetes' rule of which tolerates which.
// Source: https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace karst::model {

enum class TaintEffect { kNoSchedule = 0, kPreferNoSchedule = 1, kNoExecute = 2 };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kNoSchedule;
  friend auto operator<=>(const Taint&, const Taint&) = default;
};

struct Toleration {
  std::string key;      // empty with `exists`: every key
  bool exists = false;  // operator Exists; otherwise Equal
  std::string value;
  std::optional<TaintEffect> effect;  // none: every effect
  std::optional<std::int64_t> seconds;
  friend auto operator<=>(const Toleration&, const Toleration&) = default;
};

std::string_view taint_effect_name(TaintEffect effect);
std::optional<TaintEffect> parse_taint_effect(std::string_view name);

bool tolerates(const Toleration& toleration, const Taint& taint);
bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

// The first taint with effect NoSchedule or NoExecute that nothing tolerates; nullptr when the pod
// may go there.
const Taint* first_untolerated(const std::vector<Taint>& taints,
                               const std::vector<Toleration>& tolerations);

inline constexpr std::string_view kDisruptedTaintKey =
    "karpenter.sh/disrupted";  // NoSchedule: about to leave
inline constexpr std::string_view kUnregisteredTaintKey =
    "karpenter.sh/unregistered";  // NoExecute: not yet adopted

// Taints that come and go while a node starts (Karpenter 1.14's known ephemeral taints): not-ready,
// unreachable, uninitialized, unregistered, and every key that starts with readiness.k8s.io/.
bool is_known_ephemeral(const Taint& taint);

// The taint of a cordoned node. The kube-scheduler binds to it whoever tolerates that, taint or no
// taint: the node controller is about to set it.
void add_cordon(std::vector<Taint>& taints);

template <class Archive>
void fields(Archive& a, Taint& t) {
  a(t.key, t.value, t.effect);
}
template <class Archive>
void fields(Archive& a, Toleration& t) {
  a(t.key, t.exists, t.value, t.effect, t.seconds);
}

}  // namespace karst::model
