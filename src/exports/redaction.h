// Which payloads an export withholds. What remains of a withheld event is its envelope and the
// commitment to its payload, SHA-256(salt | payload), from which its Merkle leaf follows
// (events/event.h): proofs hold as before, and who is later given payload and salt can check that
// it was this one. Names that are part of a stream belong to the leaf, and a trail has them: those
// of namespaces, claims, budgets, workloads and buffers ("namespace/NAME") too. Tables and
// CloudEvents show those of withheld events as shown_stream does; names of nodes, claims, pools and
// node classes stay.
//
// Words that `--redact` takes: names of event types, groups (filter.h), and
//   workloads   what tells which workloads run: pods, their shapes, owners, namespaces, budgets,
//               buffers, volumes, decisions about single pods, objects that were refused, and
//               who read the trail with which words
//   all         every payload
// Plain values; const calls from any thread.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/event.h"

namespace karst::exports {

class Redaction {
 public:
  Redaction() = default;  // withholds nothing
  // Errors: kInvalid names the word, and what there is.
  static base::Result<Redaction> make(const std::vector<std::string>& words);

  bool withholds(events::EventType type) const { return types_.contains(type); }
  bool none() const { return types_.empty(); }
  // What was asked for, as one line: "workloads NodeObserved".
  const std::string& text() const { return text_; }

 private:
  std::set<events::EventType> types_;
  std::string text_;
};

// The stream as tables show it: of a withheld event that a name of the cluster's users is in, the
// name is 16 hex digits of SHA-256("stream" | the log's secret | stream), the same for the same.
std::string shown_stream(const events::Envelope& envelope, const Redaction& redaction,
                         std::string_view log_secret);

// SHA-256(salt | payload) of a stored event, 32 bytes. REQUIRES: `raw` passed decode_event.
std::string payload_commitment(std::string_view raw, std::string_view log_secret);
// As lower-case hex.
std::string payload_commitment_hex(std::string_view raw, std::string_view log_secret);

}  // namespace karst::exports
