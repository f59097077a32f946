#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/time.h"
#include "daemon/words.h"
#include "engine/replay.h"
#include "events/codec.h"
#include "tools/describe.h"
#include "tools/open_log.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

constexpr std::size_t kTreeEventsMax = 200;   // in one tree
constexpr std::size_t kStoryEventsMax = 200;  // of one object; the latest are kept
constexpr int kTreeDepthMax = 40;

// What is asked about, and which events are about it. Grows while the log is read: an instance
// belongs to the claim whose launch named it.
struct Subject {
  std::string kind, name;         // as asked
  std::set<std::string> streams;  // of the events that count
  std::set<std::string> pod_uids;
  std::set<std::string> claim_uids;
  std::vector<model::Position> story;
  std::uint64_t left_out = 0;  // events before the story

  void keep(model::Position position) {
    story.push_back(position);
    if (story.size() <= kStoryEventsMax) return;
    story.erase(story.begin());
    ++left_out;
  }
};

// The causes of an event: what led to it, then what it rests on.
std::vector<model::Position> causes_of(const events::Envelope& envelope, const events::Body& body) {
  std::vector<model::Position> causes;
  const auto add = [&](model::Position position) {
    if (position.value() != 0 && position < envelope.position &&
        std::find(causes.begin(), causes.end(), position) == causes.end())
      causes.push_back(position);
  };
  add(envelope.causation);
  if (const auto* command = std::get_if<model::Command>(&body))
    for (const model::Position position : command->evidence) add(position);
  if (const auto* outcome = std::get_if<model::Outcome>(&body)) add(outcome->command);
  return causes;
}

class CauseTree {
 public:
  explicit CauseTree(const events::EventLog& log) : log_(log) {}

  // The event with its causes nested in "causes". An event that was told already is not told again.
  base::Result<Json> tree(model::Position position, int depth = 0) {
    auto found = event_at(log_, position);
    if (!found) return base::fail(found.error());
    if (!*found)
      return base::fail(base::Kind::kInvalid,
                        fmt::format("position {} is not in the log", position.value()));
    const events::Event& event = (*found)->event;
    const events::Body body = events::decode_body(event);
    Json node = line(event, body);
    if (!told_.insert(position).second) {
      node["told_above"] = true;
      return node;
    }
    Json causes = Json::array();
    std::uint64_t left_out = 0;
    for (const model::Position cause : causes_of(event.envelope, body)) {
      if (depth >= kTreeDepthMax || told_.size() >= kTreeEventsMax) {
        left_out += told_.contains(cause) ? 0 : 1;
        continue;
      }
      auto nested = tree(cause, depth + 1);
      if (!nested) return nested;
      causes.push_back(std::move(*nested));
    }
    // The root of the chain, should the steps between not have led there.
    const model::Position root = event.envelope.correlation;
    if (root.value() != 0 && root < position && !told_.contains(root) && depth < kTreeDepthMax) {
      auto nested = tree(root, depth + 1);
      if (!nested) return nested;
      causes.push_back(std::move(*nested));
    }
    if (!causes.empty()) node["causes"] = std::move(causes);
    if (left_out > 0) node["causes_left_out"] = left_out;
    return node;
  }

  static Json line(const events::Event& event, const events::Body& body) {
    return {{"position", event.envelope.position.value()},
            {"time", base::format_rfc3339(event.envelope.log_time.value())},
            {"type", std::string(events::event_type_name(event.envelope.type))},
            {"text", describe(body)}};
  }

 private:
  const events::EventLog& log_;
  std::set<model::Position> told_;
};

void print_tree(const Json& node, const std::string& indent) {
  print_line(fmt::format("{}{}  {}  {}{}", indent, node["position"].get<std::uint64_t>(),
                         node["time"].get<std::string>(), node["text"].get<std::string>(),
                         node.contains("told_above") ? "  (as above)" : ""));
  const std::string below = indent.empty() ? "  because " : "  " + indent;
  if (node.contains("causes"))
    for (const Json& cause : node["causes"]) print_tree(cause, below);
  if (node.contains("causes_left_out"))
    print_line(
        fmt::format("{}… {} more, not shown: a tree has at most {} events and {} steps; "
                    "'karst log dump --from {}' shows this event with its causes",
                    below, daemon::counted(node["causes_left_out"].get<std::size_t>(), "cause"),
                    kTreeEventsMax, kTreeDepthMax, node["position"].get<std::uint64_t>()));
}

// Whether a command is worth a tree of its own when it is part of an object's story.
bool is_effect(events::EventType type) {
  return events::is_decision(type) && type != events::EventType::kReadBackRequested &&
         type != events::EventType::kNodeSyncRequested &&
         type != events::EventType::kProvisioningHeld;
}

void see_pod(Subject& subject, const events::Event& event, const events::Body& body) {
  if (const auto* seen = std::get_if<events::PodObserved>(&body)) {
    if (seen->pod.namespace_name + "/" + seen->pod.name != subject.name) return;
    subject.pod_uids.insert(seen->pod.uid.str());
    subject.streams.insert("pod/" + seen->pod.uid.str());
    subject.streams.insert("shape/" + to_string(seen->pod.shape));
  }
  if (const auto* nomination = std::get_if<model::Nomination>(&body)) {
    const bool named =
        std::any_of(nomination->pods.begin(), nomination->pods.end(),
                    [&](const model::PodUid& uid) { return subject.pod_uids.contains(uid.str()); });
    if (named) subject.keep(event.envelope.position);
  }
}

void see_machine(Subject& subject, const events::Body& body) {
  const auto adopt = [&](const model::NodeClaim& claim) {
    if (!subject.streams.contains("nodeclaim/" + claim.name.str())) return;
    if (!claim.uid.empty()) subject.claim_uids.insert(claim.uid.str());
    if (!claim.node_name.empty()) subject.streams.insert("node/" + claim.node_name.str());
  };
  if (const auto* seen = std::get_if<events::NodeClaimObserved>(&body)) adopt(seen->claim);
  if (const auto* outcome = std::get_if<model::Outcome>(&body)) {
    if (!outcome->object_uid.empty() &&
        subject.streams.contains("command/" + std::to_string(outcome->command.value())))
      subject.claim_uids.insert(outcome->object_uid);
    for (const model::Instance& instance : outcome->instances)
      if (subject.claim_uids.contains(instance.claim.str()))
        subject.streams.insert("instance/" + instance.provider_id.str());
  }
  if (const auto* node = std::get_if<events::NodeObserved>(&body)) {
    if (subject.streams.contains("instance/" + node->node.provider_id.str()))
      subject.streams.insert("node/" + node->node.name.str());
  }
}

// One order may launch many claims; its stream names the first.
bool orders_for(const Subject& subject, const events::Body& body) {
  const auto* command = std::get_if<model::Command>(&body);
  const auto* launch = command == nullptr ? nullptr : std::get_if<model::Launch>(&command->spec);
  return launch != nullptr &&
         std::any_of(launch->items.begin(), launch->items.end(),
                     [&](const model::LaunchItem& item) {
                       return subject.streams.contains("nodeclaim/" + item.name.str());
                     });
}

void see(Subject& subject, const events::Event& event) {
  using events::EventType;
  const events::Envelope& envelope = event.envelope;
  const bool talk = envelope.type == EventType::kShapeRecorded ||
                    envelope.type == EventType::kRoundClosed ||
                    envelope.type == EventType::kSourceBeat;
  if (talk) return;
  const events::Body body = events::decode_body(event);
  if (subject.kind == "pod")
    see_pod(subject, event, body);
  else
    see_machine(subject, body);
  if (!subject.streams.contains(std::string(envelope.stream)) && !orders_for(subject, body)) return;
  if (std::holds_alternative<model::Nomination>(body) && subject.kind == "pod") return;
  if (envelope.type == EventType::kClaimMirrorRequested ||
      envelope.type == EventType::kPoolMirrorRequested ||
      envelope.type == EventType::kStatusMirrorRequested)
    return;  // nor its outcome
  if (std::holds_alternative<model::Command>(body))
    subject.streams.insert("command/" + std::to_string(envelope.position.value()));
  subject.keep(envelope.position);
}

// Claims name their nodes late: the claim of a node is looked up in the state at the end, or in
// what was logged of the node.
base::Result<std::string> claim_of_node(const events::EventLog& log, const std::string& node) {
  std::string answer;
  projections::ClusterState state;
  const auto status =
      engine::walk(log, model::Position(1), state,
                   [&](const events::Event& event, const projections::ClusterState& now) {
                     if (event.envelope.type != events::EventType::kNodeObserved) return true;
                     if (event.envelope.stream != "node/" + node) return true;
                     const events::Body body = events::decode_body(event);
                     const auto& seen = std::get<events::NodeObserved>(body).node;
                     const projections::ClaimRow* row = now.claim_by_provider_id(seen.provider_id);
                     if (row != nullptr) answer = row->claim.name.str();
                     return answer.empty();
                   });
  if (!status) return base::fail(status.error());
  return answer;
}

// Where a command is in the log, from its id.
base::Result<model::Position> command_place(const events::EventLog& log, const std::string& id) {
  if (base::parse_rfc3339(id))
    return base::fail(base::Kind::kInvalid,
                      fmt::format("command/{}: expected the id of a command, a number", id));
  auto place = parse_place(log, id, "command");
  if (!place) {
    return base::fail(base::Kind::kInvalid,
                      fmt::format("command/{}: expected the id of a command, which is its position "
                                  "in the log, 1 to {}",
                                  id, log.end().value() - 1));
  }
  auto found = event_at(log, *place);
  if (!found) return base::fail(found.error());
  if (*found && std::holds_alternative<model::Command>(events::decode_body((*found)->event)))
    return place;
  return base::fail(
      base::Kind::kInvalid,
      fmt::format("command/{}: no command, at that position is {}; 'karst state commands' lists "
                  "the open ones",
                  id, *found ? events::event_type_name((*found)->event.envelope.type) : "nothing"));
}

base::Result<Subject> subject_of(const events::EventLog& log, const std::string& what) {
  Subject subject;
  const std::size_t slash = what.find('/');
  subject.kind = what.substr(0, slash);
  subject.name = slash == std::string::npos ? "" : what.substr(slash + 1);
  const bool known = subject.kind == "pod" || subject.kind == "node" ||
                     subject.kind == "nodeclaim" || subject.kind == "command";
  const bool pod_form = subject.kind != "pod" || subject.name.find('/') != std::string::npos;
  if (!known || subject.name.empty() || !pod_form) {
    return base::fail(base::Kind::kInvalid,
                      fmt::format("'{}': expected pod/NAMESPACE/NAME, node/NAME, nodeclaim/NAME or "
                                  "command/ID",
                                  what));
  }
  if (subject.kind == "command") {
    auto place = command_place(log, subject.name);
    if (!place) return base::fail(place.error());
    subject.streams.insert("command/" + std::to_string(place->value()));
    subject.story.push_back(*place);
  } else if (subject.kind == "nodeclaim") {
    subject.streams.insert(what);
  } else if (subject.kind == "node") {
    subject.streams.insert(what);
    auto claim = claim_of_node(log, subject.name);
    if (!claim) return base::fail(claim.error());
    if (!claim->empty()) subject.streams.insert("nodeclaim/" + *claim);
  }
  return subject;
}

base::Status read_story(const events::EventLog& log, Subject& subject) {
  auto cursor = log.read(model::Position(1));
  if (!cursor) return base::fail(cursor.error());
  Progress progress("reading the log", log.end().value(), Meanwhile::kSilence);
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) return {};
    see(subject, **event);
    progress.at((*event)->envelope.position.value());
  }
}

base::Result<Json> tell(const events::EventLog& log, const Subject& subject) {
  Json story = Json::array();
  CauseTree trees(log);
  for (const model::Position position : subject.story) {
    auto found = event_at(log, position);
    if (!found) return base::fail(found.error());
    if (!*found) continue;
    const events::Event& event = (*found)->event;
    if (subject.kind == "command" || is_effect(event.envelope.type)) {
      auto tree = trees.tree(position);
      if (!tree) return tree;
      story.push_back(std::move(*tree));
    } else {
      story.push_back(CauseTree::line(event, events::decode_body(event)));
    }
  }
  return story;
}

// One sentence on how the pod stands at the end of the log.
std::string pod_standing(const projections::ClusterState& state, const Subject& subject) {
  for (const std::string& uid : subject.pod_uids) {
    const projections::PodRow* row = state.pods().find(uid);
    if (row == nullptr) continue;
    if (row->node != nullptr) return fmt::format("now on node {}", *row->node);
    std::string text = row->provisionable() ? "now waiting for a node" : "now without a node";
    if (!row->expected_claim.empty()) text += ", expected on claim " + row->expected_claim.str();
    if (!row->expected_node.empty()) text += ", expected on node " + row->expected_node.str();
    for (const auto& [key, slot] : state.verdicts().slots())
      if (subject.streams.contains(key.first))
        text += fmt::format("; {}: {}{}{}", key.second, slot.row.verdict.code,
                            slot.row.verdict.args.empty() ? "" : ": ",
                            fmt::join(slot.row.verdict.args, ", "));
    return text;
  }
  return "now gone";
}

}  // namespace

int explain(const ExplainOptions& options) {
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  auto subject = subject_of(**log, options.what);
  if (!subject) return finish(*log, report(subject.error()));
  if (auto status = read_story(**log, *subject); !status) return report(status.error());
  if (subject->story.empty()) {
    return finish(
        *log,
        report({base::Kind::kInvalid,
                fmt::format("{}: the log knows nothing of it; 'karst state' lists what there is",
                            options.what)}));
  }
  auto story = tell(**log, *subject);
  if (!story) return finish(*log, report(story.error()));
  std::string standing;
  if (subject->kind == "pod") {
    projections::ClusterState state;
    auto folded =
        engine::rebuild(**log, nullptr, model::Position((*log)->end().value() - 1), state);
    if (!folded) return report(folded.error());
    standing = pod_standing(state, *subject);
  }
  if (options.format != Format::kTable) {
    Json value{{"subject", options.what}};
    if (!standing.empty()) value["now"] = standing;
    if (subject->left_out > 0) value["events_left_out"] = subject->left_out;
    value["events"] = std::move(*story);
    print_value(value, options.format);
    return finish(*log, kExitDone);
  }
  print_line(options.what + (standing.empty() ? "" : ": " + standing));
  if (subject->left_out > 0)
    print_line(fmt::format("… {} before these, not shown: a story has at most {}",
                           daemon::counted(subject->left_out, "event"), kStoryEventsMax));
  for (const Json& node : *story) print_tree(node, "");
  return finish(*log, kExitDone);
}

}  // namespace karst::tools
