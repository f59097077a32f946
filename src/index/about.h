// Which events are about one pod, node, NodeClaim, NodePool or command. What is about it grows
// while the log is read: a pod's name leads to its uid, a claim's launch to its instance and node,
// a node to its machine, a command to its outcome. Of what a pod's nominations led to (claims to
// create and to launch) only what went wrong is about the pod: refusals, what got no answer,
// further attempts. The answer is the same with an index and without one, which costs a walk over
// the whole log (two for a pod that was nominated, up to four for a node).
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "events/event_log.h"
#include "index/reader.h"

namespace karst::index {

inline constexpr std::size_t kStoryEventsMax = 200;  // the latest are kept

enum class SubjectKind { kPod, kNode, kNodeClaim, kNodePool, kCommand };

struct Subject {
  SubjectKind kind = SubjectKind::kPod;
  std::string name;         // of a pod "NAMESPACE/NAME"
  model::Position command;  // of a command
};

struct About {
  std::vector<model::Position> story;  // rising, at most kStoryEventsMax
  std::uint64_t left_out = 0;          // events before the story
  std::set<std::string> streams;       // of the events that count
  std::set<std::string> pod_uids;
  // Of a claim: the first command that makes it, also where the story has left it out; else 0.
  model::Position created;
  // The latest answer to what the pod's nominations led to, if it was no success; else 0.
  model::Position refusal;
  std::uint64_t events_read = 0;
  std::string index_given_up;  // why the log was scanned although there is an index; may be empty
};

// `index` may be nullptr. `progress` (may be empty) hears where a walk over the log is. Errors:
// those of the log's cursors.
base::Result<About> events_about(const events::EventLog& log, const Reader* index,
                                 const Subject& subject,
                                 const std::function<void(model::Position)>& progress);

}  // namespace karst::index
