#include "tools/cause_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/time.h"
#include "daemon/words.h"
#include "events/codec.h"
#include "tools/describe.h"
#include "tools/open_log.h"

namespace karst::tools {
namespace {

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

}  // namespace

base::Result<Json> CauseTree::tree(model::Position position, int depth) {
  if (position < log_.first())
    return Json{{"position", position.value()},
                {"time", ""},
                {"type", "trimmed"},
                {"text", "was trimmed: the archive has it"}};
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

Json CauseTree::line(const events::Event& event, const events::Body& body) {
  return {{"position", event.envelope.position.value()},
          {"time", base::format_rfc3339(event.envelope.log_time.value())},
          {"type", std::string(events::event_type_name(event.envelope.type))},
          {"text", describe(body)}};
}

void print_tree(const Json& node, const std::string& indent) {
  say(fmt::format("{}{}  {}  {}{}", indent, node["position"].get<std::uint64_t>(),
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

}  // namespace karst::tools
