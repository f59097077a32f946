// What became of a command's attempt: done, refused or unclear, and what the world answered.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/cloud.h"
#include "model/ids.h"

namespace karst::model {

enum class OutcomeKind { kDone = 0, kRefused = 1, kUnclear = 2 };
std::string_view outcome_kind_name(OutcomeKind kind);

// How the caller must react to a refusal. Same meaning as base::Kind, fixed numbers because they
// reach the log.
enum class RefusalCode {
  kNone = 0,
  kRetry = 1,
  kCapacity = 2,
  kGone = 3,
  kConflict = 4,
  kDenied = 5,
  kInvalid = 6,
  kThrottled = 7,
  kBlocked = 8
};
std::string_view refusal_code_name(RefusalCode code);

struct ReadBackPod {
  PodUid uid;
  std::string namespace_name;
  std::string name;
  bool drainable = true;  // must leave before the node does: not terminal, no mirror pod, does not
                          // tolerate karpenter.sh/disrupted
  bool daemon = false;
  bool do_not_disrupt = false;
  friend bool operator==(const ReadBackPod&, const ReadBackPod&) = default;
};

struct NodeReadBack {
  bool exists = false;
  bool tainted = false;  // carries karpenter.sh/disrupted
  std::vector<ReadBackPod> pods;
  friend bool operator==(const NodeReadBack&, const NodeReadBack&) = default;
};

inline constexpr std::size_t kOutcomeMessageMax = 512;
// What somebody else says, as an outcome may hold it: UTF-8, whatever it was.
std::string outcome_message(std::string_view told);
inline constexpr std::size_t kResolutionBytesMax = 512 * 1024;

struct Outcome {
  Position command;
  std::uint32_t attempt = 1;
  OutcomeKind kind = OutcomeKind::kDone;
  RefusalCode code = RefusalCode::kNone;
  std::string message;     // UTF-8, at most kOutcomeMessageMax bytes; never a secret
  std::string object_uid;  // of a created object
  std::vector<Instance>
      instances;  // launched or found; done and none: absent; with kGone: not known (yet, if young)
  // Offers for which there was no capacity. One that names a capacity type alone: all of that.
  std::vector<Offer> exhausted;
  std::optional<NodeReadBack> read_back;
  std::string resolution;  // of a node class, at most kResolutionBytesMax
  std::string reason;  // of a launch's refusal, as condition Launched has it; empty: LaunchFailed
  std::vector<std::string> full_subnets;  // ids; of a launch, those without an address left
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

template <class Archive>
void fields(Archive& a, ReadBackPod& p) {
  a(p.uid, p.namespace_name, p.name, p.drainable, p.daemon, p.do_not_disrupt);
}
template <class Archive>
void fields(Archive& a, NodeReadBack& r) {
  a(r.exists, r.tainted, r.pods);
}

}  // namespace karst::model
