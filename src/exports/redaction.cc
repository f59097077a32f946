#include "exports/redaction.h"

#include <algorithm>
#include <iterator>

#include "base/sha256.h"
#include "exports/filter.h"

namespace karst::exports {
namespace {

constexpr std::size_t kCommitmentBytes = 32;

const std::vector<std::string>& preset(std::string_view word) {
  static const std::vector<std::string> kWorkloads = {
      "ShapeRecorded", "PodObserved", "PodGone", "DaemonSetObserved", "DaemonSetGone",
      "VolumeClaimObserved", "PersistentVolumeObserved", "VolumeAttachmentObserved",
      "NamespaceObserved", "DisruptionBudgetObserved", "CapacityBufferObserved",
      "PodTemplateObserved", "WorkloadObserved", "ObjectGone", "EvictRequested", "OutcomeReceived",
      "VerdictReached", "PodsNominated", "StatusMirrorRequested",
      // Whoever read the trail asked for names; what was refused is named.
      "AccessRecorded", "InputRefused"};
  static const std::vector<std::string> kAll = {"facts", "decisions", "outcomes", "housekeeping"};
  static const std::vector<std::string> kNone;
  if (word == "workloads") return kWorkloads;
  if (word == "all") return kAll;
  return kNone;
}

// Streams whose last part is a uid, a hash, a number, or a name of ours or of the fleet.
bool shows_no_name(std::string_view kind) {
  static constexpr std::string_view kKinds[] = {"node",    "nodeclaim", "nodepool",    "nodeclass",
                                                "pod",     "shape",     "daemonset",   "command",
                                                "source",  "log",       "round",       "instance",
                                                "message", "catalogue", "provisioning"};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

}  // namespace

std::string shown_stream(const events::Envelope& envelope, const Redaction& redaction,
                         std::string_view log_secret) {
  const std::string_view stream = envelope.stream;
  const std::string_view kind = stream.substr(0, stream.find('/'));
  if (!redaction.withholds(envelope.type) || shows_no_name(kind)) return std::string(stream);
  base::Sha256 hash;
  const auto digest = hash.update("stream").update(log_secret).update(stream).finish();
  return std::string(kind) + "/" + base::hex_lower(digest).substr(0, 16);
}

base::Result<Redaction> Redaction::make(const std::vector<std::string>& words) {
  Redaction redaction;
  for (const std::string& word : words) {
    const std::vector<std::string>& of_preset = preset(word);
    auto types =
        types_of(of_preset.empty() ? std::vector<std::string>{word} : of_preset, "--redact");
    if (!types)
      return base::fail(base::Kind::kInvalid, types.error().message + "; or workloads, all");
    redaction.types_.insert(types->begin(), types->end());
    redaction.text_ += (redaction.text_.empty() ? "" : " ") + word;
  }
  return redaction;
}

std::string payload_commitment(std::string_view raw, std::string_view log_secret) {
  const std::string leaf = events::leaf_bytes(raw, log_secret);
  return leaf.substr(leaf.size() - kCommitmentBytes);
}

std::string payload_commitment_hex(std::string_view raw, std::string_view log_secret) {
  const std::string bytes = payload_commitment(raw, log_secret);
  return base::hex_lower({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

}  // namespace karst::exports
