#include "exports/filter.h"

#include <algorithm>
#include <charconv>

#include "base/nearest.h"
#include "base/time.h"
#include "events/codec.h"

namespace karst::exports {
namespace {

using events::EventType;

constexpr std::string_view kGroups[] = {"facts", "commands", "decisions", "outcomes",
                                        "housekeeping"};
constexpr int kEventNumbersMax = 1000;  // above every EventType

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// There are some 70 types: the one that was meant, or where they are told.
std::string unknown_kind(const std::string& word) {
  std::vector<std::string_view> known(std::begin(kGroups), std::end(kGroups));
  std::string groups;
  for (const std::string_view group : kGroups) groups += std::string(group) + ", ";
  for (int number = 1; number < kEventNumbersMax; ++number) {
    const std::string_view name = events::event_type_name(static_cast<EventType>(number));
    if (!name.empty()) known.push_back(name);
  }
  const std::string_view near = base::nearest(word, known);
  return " '" + word + "': is no event type and no group of them" +
         (near.empty() ? "." : "; did you mean " + std::string(near) + "?") + " Expected one of " +
         groups + "or a type such as PodObserved (`karst log stat` lists those of a log)";
}

}  // namespace

bool in_group(EventType type, std::string_view group) {
  const int number = static_cast<int>(type);
  if (group == "facts") return number < 100;
  if (group == "commands") return number >= 100 && number < 150;
  if (group == "decisions") return events::is_decision(type);
  if (group == "outcomes") return number >= 200 && number < 300;
  return group == "housekeeping" && number >= 400;
}

std::string_view group_of(EventType type) {
  for (const std::string_view group : kGroups)
    if (in_group(type, group)) return group;
  return "housekeeping";
}

base::Result<std::set<EventType>> types_of(const std::vector<std::string>& words,
                                           std::string_view option) {
  std::set<EventType> types;
  for (const std::string& word : words) {
    const std::size_t before = types.size();
    const bool group = std::find(std::begin(kGroups), std::end(kGroups), word) != std::end(kGroups);
    bool known = false;
    for (int number = 1; number < kEventNumbersMax; ++number) {
      const auto type = static_cast<EventType>(number);
      const std::string_view name = events::event_type_name(type);
      if (name.empty() || (group ? !in_group(type, word) : name != word)) continue;
      types.insert(type);
      known = true;
    }
    if (!known && types.size() == before)
      return base::fail(base::Kind::kInvalid, std::string(option) + unknown_kind(word));
  }
  return types;
}

base::Result<Filter> Filter::make(const FilterOptions& options, const model::LogId& log,
                                  std::size_t items_max) {
  Filter filter;
  filter.items_max_ = items_max;
  const auto add_text = [&](std::string_view name, std::string_view value) {
    filter.text_ +=
        (filter.text_.empty() ? "" : " ") + std::string(name) + "=" + std::string(value);
  };
  KARST_TRY(filter.add_bound(options.from, "--from", true));
  if (!options.from.empty()) add_text("from", options.from);
  KARST_TRY(filter.add_bound(options.to, "--to", false));
  if (!options.to.empty()) add_text("to", options.to);
  for (const std::string& subject : options.subjects) {
    KARST_TRY(filter.add_subject(subject, log));
    add_text("subject", subject);
  }
  auto types = types_of(options.kinds, "--kind");
  if (!types) return base::fail(types.error());
  filter.types_ = std::move(*types);
  for (const std::string& kind : options.kinds) add_text("kind", kind);
  return filter;
}

base::Status Filter::add_bound(std::string_view text, std::string_view option, bool begin) {
  if (text.empty()) return {};
  if (const auto number = whole_number(text); number && *number >= 1) {
    if (begin)
      first_ = model::Position(*number);
    else
      last_ = model::Position(*number);
    return {};
  }
  const auto time = base::parse_rfc3339(text);
  if (!time)
    return base::fail(base::Kind::kInvalid,
                      std::string(option) + " '" + std::string(text) +
                          "': expected a position (a number from 1) or a time such as "
                          "2026-11-21T10:17:51Z");
  (begin ? from_millis_ : to_millis_) = *time;
  return {};
}

base::Status Filter::add_subject(std::string_view text, const model::LogId& log) {
  has_subjects_ = true;
  const std::size_t slash = text.find('/');
  const std::string_view kind = text.substr(0, slash);
  std::string_view name = slash == std::string_view::npos ? "" : text.substr(slash + 1);
  const bool nested = name.find('/') != std::string_view::npos;
  if (kind == "pod" && nested && !name.ends_with('/')) {
    followed_.pods.insert(std::string(text));
    return {};
  }
  if (kind == "nodepool" && !name.empty() && !nested) {
    followed_.pools.insert(std::string(name));
    followed_.streams.insert(std::string(text));
    return {};
  }
  if ((kind == "node" || kind == "nodeclaim") && !name.empty() && !nested) {
    followed_.streams.insert(std::string(text));
    if (kind == "node") followed_.nodes.insert(std::string(text));
    return {};
  }
  const std::string prefix = log.str() + "-";
  if (kind == "command" && name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (const auto number = whole_number(name); kind == "command" && number && *number >= 1) {
    followed_.positions.insert(*number);
    followed_.streams.insert("command/" + std::to_string(*number));
    return {};
  }
  if (kind == "command")
    return base::fail(base::Kind::kInvalid,
                      "--subject '" + std::string(text) +
                          "': expected command/ID, with the ID of a command of this log: its "
                          "position, a number from 1, or " +
                          prefix + "POSITION; 'karst state commands' lists the open ones");
  return base::fail(base::Kind::kInvalid,
                    "--subject '" + std::string(text) +
                        "': expected pod/NAMESPACE/NAME, node/NAME, nodeclaim/NAME, nodepool/NAME "
                        "or command/ID");
}

model::Position Filter::first_in(const events::EventLog& log) const {
  return has_subjects_ || first_ <= model::Position(1) ? log.first() : first_;
}

bool Filter::in_range(const events::Envelope& envelope) const {
  return envelope.position >= first_ && (!last_ || envelope.position <= *last_) &&
         (!from_millis_ || envelope.log_time.value() >= *from_millis_) &&
         (!to_millis_ || envelope.log_time.value() <= *to_millis_);
}

bool Filter::ends_before(const events::Envelope& envelope) const {
  return (last_ && envelope.position > *last_) ||
         (to_millis_ && envelope.log_time.value() > *to_millis_);
}

bool Filter::takes(const events::Event& event) {
  if (text_.empty()) return true;
  const bool subject = !has_subjects_ || follow(event);
  return subject && in_range(event.envelope) &&
         (types_.empty() || types_.contains(event.envelope.type));
}

// Whether it is about a subject; remembers what later events are known by.
bool Filter::follow(const events::Event& event) {
  seen_ = event.envelope.position;
  switch (event.envelope.type) {  // the many that name no subject are not decoded
    case EventType::kShapeRecorded:
    case EventType::kRoundClosed:
    case EventType::kSourceBeat:
    case EventType::kListStarted:
    case EventType::kListEnded:
    case EventType::kCatalogueObserved:
    case EventType::kPricesObserved:
      return false;
    default:
      break;
  }
  const events::Body body = events::decode_body(event);
  if (!about(event.envelope, body)) return false;
  learn(event.envelope, body);
  return true;
}

bool Filter::about_claim(const model::NodeClaim& claim) const {
  return followed_.pools.contains(claim.pool.str()) ||
         followed_.streams.contains("nodeclaim/" + claim.name.str());
}

bool Filter::about(const events::Envelope& envelope, const events::Body& body) const {
  if (followed_.streams.contains(envelope.stream)) return true;
  if (followed_.positions.contains(envelope.position.value())) return true;
  if (const auto* pod = std::get_if<events::PodObserved>(&body))
    return followed_.pods.contains("pod/" + pod->pod.namespace_name + "/" + pod->pod.name);
  if (const auto* seen = std::get_if<events::NodeClaimObserved>(&body))
    return about_claim(seen->claim);
  if (const auto* nomination = std::get_if<model::Nomination>(&body))
    return std::any_of(
        nomination->pods.begin(), nomination->pods.end(),
        [&](const model::PodUid& uid) { return followed_.uids.contains(uid.str()); });
  if (const auto* instance = std::get_if<events::InstanceObserved>(&body))
    return followed_.uids.contains(instance->instance.claim.str());
  if (const auto* node = std::get_if<events::NodeObserved>(&body))
    return followed_.streams.contains("instance/" + node->node.provider_id.str());
  if (const auto* command = std::get_if<model::Command>(&body)) return about_command(*command);
  if (const auto* outcome = std::get_if<model::Outcome>(&body))
    return followed_.commands.contains(outcome->command);
  if (const auto* attempt = std::get_if<model::AttemptStarted>(&body))
    return followed_.commands.contains(attempt->command);
  const auto* end = std::get_if<model::CommandAbandoned>(&body);
  return end != nullptr && followed_.commands.contains(end->command);
}

bool Filter::about_command(const model::Command& command) const {
  if (const auto* create = std::get_if<model::CreateNodeClaim>(&command.spec))
    return about_claim(create->claim);
  if (const auto* find = std::get_if<model::FindInstances>(&command.spec))
    return followed_.uids.contains(find->claim.str());
  if (const auto* end = std::get_if<model::Terminate>(&command.spec))
    return followed_.uids.contains(end->claim.str());
  const auto* launch = std::get_if<model::Launch>(&command.spec);
  return launch != nullptr &&
         std::any_of(launch->items.begin(), launch->items.end(), [&](const auto& item) {
           return followed_.streams.contains("nodeclaim/" + item.name.str());
         });
}

template <class Items, class Item>
void Filter::add_bounded(Items& items, Item item) {
  if (items.size() < items_max_)
    items.insert(std::move(item));
  else if (!items.contains(item) && full_at_ == model::Position())
    full_at_ = seen_;
}

base::Status Filter::complete() const {
  if (full_at_ == model::Position()) return {};
  return base::fail(base::Kind::kInvalid,
                    text_ + ": from position " + std::to_string(full_at_.value()) +
                        " on something is missing, because more than " +
                        std::to_string(items_max_) +
                        " claims, pods or commands are about it; ask for single claims, or export "
                        "without --subject");
}

// A message of EC2 does not say the zone, so that interruptions have a stream of their own.
void Filter::follow_machine(const model::ProviderId& id) {
  add_bounded(followed_.streams, "instance/" + id.str());
  add_bounded(followed_.streams, "instance/" + model::machine_of(id).str());
}

void Filter::learn(const events::Envelope& envelope, const events::Body& body) {
  if (const auto* pod = std::get_if<events::PodObserved>(&body)) {
    add_bounded(followed_.uids, std::string(pod->pod.uid.str()));
    add_bounded(followed_.streams, "pod/" + pod->pod.uid.str());
  } else if (const auto* seen = std::get_if<events::NodeClaimObserved>(&body)) {
    add_bounded(followed_.streams, "nodeclaim/" + seen->claim.name.str());
    if (!seen->claim.uid.empty()) add_bounded(followed_.uids, std::string(seen->claim.uid.str()));
    if (!seen->claim.provider_id.empty()) follow_machine(seen->claim.provider_id);
    if (!seen->claim.node_name.empty())
      add_bounded(followed_.streams, "node/" + seen->claim.node_name.str());
  } else if (const auto* node = std::get_if<events::NodeObserved>(&body)) {
    add_bounded(followed_.streams, "node/" + node->node.name.str());
  } else if (std::holds_alternative<events::NodeGone>(body)) {
    // Another machine may get its name.
    if (!followed_.nodes.contains(envelope.stream))
      followed_.streams.erase(std::string(envelope.stream));
  } else if (const auto* command = std::get_if<model::Command>(&body)) {
    add_bounded(followed_.commands, envelope.position);
    if (const auto* create = std::get_if<model::CreateNodeClaim>(&command->spec))
      add_bounded(followed_.streams, "nodeclaim/" + create->claim.name.str());
  } else if (const auto* outcome = std::get_if<model::Outcome>(&body)) {
    for (const model::Instance& instance : outcome->instances)
      if (followed_.uids.contains(instance.claim.str())) follow_machine(instance.provider_id);
  }
}

// Objects as if each were observed once more, then the commands that are about them.
void Filter::begin(const projections::ClusterState& state) {
  if (!has_subjects_) return;
  const auto see = [&](const events::Body& body, model::Position position) {
    events::Envelope envelope;
    envelope.position = position;
    const std::string stream = events::stream_of(body);
    envelope.stream = stream;
    if (about(envelope, body)) learn(envelope, body);
  };
  if (!followed_.pods.empty())
    for (const std::string& uid : state.pods().all_uids())
      see(events::PodObserved{state.pods().row_of(uid).to_model()}, {});
  for (const auto& [name, slot] : state.claims().slots()) {
    model::NodeClaim claim = slot.row.claim;
    if (claim.provider_id.empty()) claim.provider_id = slot.row.instance.provider_id;
    if (claim.node_name.empty()) claim.node_name = slot.row.node;
    see(events::NodeClaimObserved{std::move(claim)}, slot.row.position);
  }
  for (const auto& [position, slot] : state.commands().slots()) see(slot.row.command, position);
}

bool Filter::takes_trimmed(const model::NodeClaim& claim, const events::Envelope& last) const {
  return (!has_subjects_ || about_claim(claim)) && in_range(last) &&
         (types_.empty() || types_.contains(EventType::kNodeClaimObserved));
}

}  // namespace karst::exports
