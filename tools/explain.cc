#include <fmt/format.h>

#include <map>

#include "daemon/words.h"
#include "events/codec.h"
#include "index/about.h"
#include "tools/cause_tree.h"
#include "tools/describe.h"
#include "tools/open_log.h"
#include "tools/talk.h"
#include "tools/why_not.h"

namespace karst::tools {
namespace {

// Whether a command is worth a tree of its own when it is part of an object's story.
bool is_effect(events::EventType type) {
  return events::is_decision(type) && type != events::EventType::kReadBackRequested &&
         type != events::EventType::kNodeSyncRequested &&
         type != events::EventType::kProvisioningHeld;
}

// Without the log; which command is left open.
base::Result<index::Subject> subject_of(const std::string& what) {
  static const std::map<std::string, index::SubjectKind> kKinds = {
      {"pod", index::SubjectKind::kPod},
      {"node", index::SubjectKind::kNode},
      {"nodeclaim", index::SubjectKind::kNodeClaim},
      {"nodepool", index::SubjectKind::kNodePool},
      {"command", index::SubjectKind::kCommand}};
  const std::size_t slash = what.find('/');
  const auto kind = kKinds.find(what.substr(0, slash));
  index::Subject subject;
  subject.name = slash == std::string::npos ? "" : what.substr(slash + 1);
  const bool pod_form = kind == kKinds.end() || kind->second != index::SubjectKind::kPod ||
                        subject.name.find('/') != std::string::npos;
  if (kind == kKinds.end() || subject.name.empty() || !pod_form) {
    return base::fail(base::Kind::kInvalid,
                      fmt::format("'{}': expected pod/NAMESPACE/NAME, node/NAME, nodeclaim/NAME, "
                                  "nodepool/NAME or command/ID",
                                  what));
  }
  subject.kind = kind->second;
  return subject;
}

// Which events are about it: looked up, or found by reading all of them.
base::Result<index::About> find(const ReadLog& log, const std::string& data,
                                const index::Subject& subject) {
  const auto index = open_index(log, data);
  Progress progress(index ? "reading what is not indexed" : "no index, reading the whole log",
                    log->end().value(), Meanwhile::kSilence);
  auto about = index::events_about(
      *log, index.get(), subject, [&](model::Position position) { progress.at(position.value()); });
  if (about && !about->index_given_up.empty())
    fmt::print(stderr, "karst: the log was read instead of its index: {}\n",
               printable(about->index_given_up));
  return about;
}

base::Result<Json> tell(const events::EventLog& log, const index::Subject& subject,
                        const index::About& about) {
  Json story = Json::array();
  CauseTree trees(log);
  for (const model::Position position : about.story) {
    auto found = event_at(log, position);
    if (!found) return base::fail(found.error());
    if (!*found) continue;
    const events::Event& event = (*found)->event;
    const events::EventType type = event.envelope.type;
    // What a pod was expected on, and came to nothing.
    const bool refusal =
        subject.kind == index::SubjectKind::kPod && type == events::EventType::kOutcomeReceived;
    if (subject.kind == index::SubjectKind::kCommand || is_effect(type) || refusal) {
      auto tree = trees.tree(position);
      if (!tree) return tree;
      story.push_back(std::move(*tree));
    } else {
      story.push_back(CauseTree::line(event, events::decode_body(event)));
    }
  }
  return story;
}

// The answer to what the pod's nominations led to, if it was no success.
base::Result<std::string> refusal_text(const events::EventLog& log, const index::About& about) {
  if (about.refusal == model::Position()) return std::string();
  auto found = event_at(log, about.refusal);
  if (!found) return base::fail(found.error());
  return *found ? describe(events::decode_body((*found)->event)) : std::string();
}

base::Result<projections::ClusterState> state_at_end(const ReadLog& log) {
  return state_at(log, model::Position(log->end().value() - 1));
}

bool knows(const projections::ClusterState& state, const index::Subject& subject) {
  switch (subject.kind) {
    case index::SubjectKind::kNode:
      return state.nodes().contains(model::NodeName(subject.name));
    case index::SubjectKind::kNodeClaim:
      return state.claims().contains(model::ClaimName(subject.name));
    case index::SubjectKind::kNodePool:
      return state.pools().contains(model::PoolName(subject.name));
    case index::SubjectKind::kPod:
      for (const std::string& uid : state.pods().all_uids()) {
        const projections::PodRow& pod = state.pods().row_of(uid);
        if (*pod.namespace_name + "/" + pod.name == subject.name) return true;
      }
      return false;
    case index::SubjectKind::kCommand:
      break;
  }
  return false;
}

// Why there is no story.
base::Error untold(const ReadLog& log, const index::Subject& subject, const std::string& what) {
  const auto mark = log.log->trimmed();
  const auto state = mark ? state_at_end(log) : base::fail(base::Kind::kGone, "");
  if (state && knows(*state, subject))
    return {base::Kind::kInvalid,
            fmt::format("{}: it is there, and 'karst state' shows how it stands, but its events "
                        "are before position {}, where this log begins; {}",
                        what, mark->first().value(), events::where_trimmed(*mark))};
  return {base::Kind::kInvalid,
          fmt::format("{}: the log knows nothing of it; 'karst state' lists what there is", what)};
}

// One sentence on how the pod stands at the end of the log.
std::string pod_standing(const projections::ClusterState& state, const index::About& about,
                         const std::string& refusal) {
  for (const std::string& uid : about.pod_uids) {
    const projections::PodRow* row = state.pods().find(uid);
    if (row == nullptr) continue;
    if (row->node != nullptr) return fmt::format("now on node {}", *row->node);
    std::string text = row->provisionable() ? "now waiting for a node" : "now without a node";
    if (!row->expected_claim.empty()) text += ", expected on claim " + row->expected_claim.str();
    if (!row->expected_node.empty()) text += ", expected on node " + row->expected_node.str();
    for (const auto& [key, slot] : state.verdicts().slots())
      if (about.streams.contains(key.first))
        text += fmt::format("; {}: {}{}{}", key.second, slot.row.verdict.code,
                            slot.row.verdict.args.empty() ? "" : ": ",
                            fmt::join(slot.row.verdict.args, ", "));
    return refusal.empty() ? text : text + "; last answer: " + refusal;
  }
  return "now gone";
}

}  // namespace

int explain(const ExplainOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  auto subject = subject_of(options.what);
  if (!subject) return finish(*log, report(subject.error()));
  if (options.ruled_out && subject->kind != index::SubjectKind::kNodeClaim)
    return finish(*log, report({base::Kind::kInvalid,
                                options.what + ": other instance types are ruled out for a claim; "
                                               "--ruled-out goes with nodeclaim/NAME"}));
  record_access(options.data,
                "explain " + options.what + (options.ruled_out ? " --ruled-out" : ""));
  if (subject->kind == index::SubjectKind::kCommand) {
    const auto place = command_place(**log, subject->name);
    if (!place) return finish(*log, report(place.error()));
    subject->command = *place;
  }
  say_trimmed(*log);
  const auto about = find(*log, options.data, *subject);
  if (!about) return report(about.error());
  if (about->story.empty()) return finish(*log, report(untold(*log, *subject, options.what)));
  auto story = tell(**log, *subject, *about);
  if (!story) return finish(*log, report(story.error()));
  std::string standing;
  if (subject->kind == index::SubjectKind::kPod) {
    const auto state = state_at_end(*log);
    if (!state) return report(state.error());
    const auto refusal = refusal_text(**log, *about);
    if (!refusal) return report(refusal.error());
    standing = pod_standing(*state, *about, *refusal);
  }
  const auto reasons =
      options.ruled_out ? why_not(*log, about->created) : base::Result<WhyNot>(WhyNot());
  if (!reasons) return report(reasons.error());
  if (options.format != Format::kTable) {
    Json value{{"subject", options.what}};
    if (!standing.empty()) value["now"] = standing;
    if (about->left_out > 0) value["events_left_out"] = about->left_out;
    value["events"] = std::move(*story);
    if (options.ruled_out)
      value["ruled_out"] = reasons->unknown.empty() ? reasons->reasons : Json();
    if (!reasons->unknown.empty()) value["ruled_out_unknown"] = reasons->unknown;
    print_value(value, options.format);
    return finish(*log, kExitDone);
  }
  say(options.what + (standing.empty() ? "" : ": " + standing));
  if (about->left_out > 0)
    print_line(fmt::format("… {} before these, not shown: a story has at most {}",
                           daemon::counted(about->left_out, "event"), index::kStoryEventsMax));
  for (const Json& node : *story) print_tree(node, "");
  if (options.ruled_out) print_why_not(*reasons);
  return finish(*log, kExitDone);
}

}  // namespace karst::tools
