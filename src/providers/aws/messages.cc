#include "providers/aws/messages.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/time.h"
#include "providers/aws/json_fields.h"
#include "providers/aws/text.h"

namespace karst::providers::aws {
namespace {

using model::InterruptionKind;
using nlohmann::json;

constexpr std::size_t kIdMax = 128;  // of an event's id
constexpr std::string_view kIdCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
constexpr std::size_t kQuotedMax = 80;  // of foreign text in a reason
constexpr std::size_t kDescriptionsMax = 16;

const json& child(const json& object, const char* key) {
  static const json kNone;
  if (!object.is_object()) return kNone;
  const auto at = object.find(key);
  return at != object.end() ? *at : kNone;
}

// Foreign text goes into a log line: printable ASCII only, and short.
std::string shown(std::string_view text) {
  std::string out = "\"";
  for (const char c : text.substr(0, kQuotedMax)) out += c >= ' ' && c <= '~' && c != '"' ? c : '?';
  return out + "\"";
}

// "Sat, 15 Aug 2026 05:00:00 GMT", as AWS Health writes, or RFC 3339.
std::optional<std::int64_t> time_of(const std::string& text) {
  if (const auto millis = base::parse_rfc3339(text)) return millis;
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  constexpr std::string_view kShape = "???, ## ??? #### ##:##:## GMT";
  if (text.size() != kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == '#' ? !digit : kShape[i] != '?' && kShape[i] != text[i]) return std::nullopt;
  }
  const std::size_t month = kMonths.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  const std::string number = std::to_string(month / 3 + 1);
  return base::parse_rfc3339(text.substr(12, 4) + "-" + (number.size() == 1 ? "0" : "") + number +
                             "-" + text.substr(5, 2) + "T" + text.substr(17, 8) + "Z");
}

// What one event means before it is known for whom.
struct Meaning {
  InterruptionKind kind = InterruptionKind::kOther;
  std::int64_t deadline_millis = 0;
  std::vector<std::string> instances;
  std::string reason;

  static Meaning other(std::string why) {
    Meaning meaning;
    meaning.reason = std::move(why);
    return meaning;
  }
};

Meaning about_instance(const json& detail, InterruptionKind kind, std::int64_t deadline_millis) {
  const std::string id = text_of(detail, "instance-id");
  if (!is_instance_id(id))
    return Meaning::other("detail.instance-id: expected an instance id, found " + shown(id));
  return {kind, deadline_millis, {id}, {}};
}

// Two minutes ahead; a hibernation begins with its warning.
Meaning read_spot(const json& detail, std::int64_t sent_millis) {
  const bool at_once = lower(text_of(detail, "instance-action")) == "hibernate";
  return about_instance(detail, InterruptionKind::kSpotInterruption,
                        sent_millis + (at_once ? 0 : kSpotWarningMillis));
}

Meaning read_rebalance(const json& detail, std::int64_t) {
  return about_instance(detail, InterruptionKind::kRebalanceRecommendation, 0);
}

Meaning read_state_change(const json& detail, std::int64_t sent_millis) {
  const std::string state = lower(text_of(detail, "state"));
  if (state == "stopping" || state == "stopped")  // no end: it costs until it is terminated
    return about_instance(detail, InterruptionKind::kInstanceStopping, 0);
  if (state == "shutting-down" || state == "terminated")
    return about_instance(detail, InterruptionKind::kInstanceTerminated, sent_millis);
  return Meaning::other("detail.state: nothing to do for " + shown(state));
}

// The owner of an interruptible capacity reservation takes it back.
Meaning read_reservation(const json& detail, std::int64_t sent_millis) {
  const auto end = time_of(text_of(detail, "instance-termination-time"));
  return about_instance(detail, InterruptionKind::kReservationInterruption,
                        end.value_or(sent_millis + kSpotWarningMillis));
}

// AWS Health sends an event again when it is over: with statusCode closed, or with such a mark at
// the beginning of its description.
bool is_over(const json& detail) {
  if (lower(text_of(detail, "statusCode")) == "closed") return true;
  const json& descriptions = child(detail, "eventDescription");
  if (!descriptions.is_array()) return false;
  std::size_t read = 0;
  for (const json& description : descriptions) {
    if (++read > kDescriptionsMax) break;
    const std::string text = lower(text_of(description, "latestDescription").substr(0, kQuotedMax));
    if (text.starts_with("[completed]") || text.starts_with("[canceled]") ||
        text.starts_with("[cancelled]"))
      return true;
  }
  return false;
}

// An id, or an ARN that ends in one.
std::string instance_in(const std::string& entity) {
  const std::size_t slash = entity.rfind('/');
  std::string id = slash == std::string::npos ? entity : entity.substr(slash + 1);
  return is_instance_id(id) ? id : std::string();
}

Meaning read_health(const json& detail, std::int64_t) {
  const std::string service = text_of(detail, "service");
  const std::string category = text_of(detail, "eventTypeCategory");
  if (service != "EC2" || category != "scheduledChange")
    return Meaning::other("AWS Health: nothing to do for service " + shown(service) +
                          ", category " + shown(category));
  if (is_over(detail)) return Meaning::other("AWS Health: the event is completed or canceled");
  const json& entities = child(detail, "affectedEntities");
  if (!entities.is_array()) return Meaning::other("detail.affectedEntities: expected a list");
  Meaning meaning{InterruptionKind::kScheduledChange,
                  time_of(text_of(detail, "startTime")).value_or(0),
                  {},
                  {}};
  for (const json& entity : entities)
    if (lower(text_of(entity, "status")) != "resolved")
      if (std::string id = instance_in(text_of(entity, "entityValue")); !id.empty())
        meaning.instances.push_back(std::move(id));
  std::sort(meaning.instances.begin(), meaning.instances.end());
  meaning.instances.erase(std::unique(meaning.instances.begin(), meaning.instances.end()),
                          meaning.instances.end());
  if (meaning.instances.size() > kEntitiesMax) meaning.instances.resize(kEntitiesMax);
  if (meaning.instances.empty())
    return Meaning::other("detail.affectedEntities: it names no instance");
  return meaning;
}

struct EventType {
  std::string_view source;
  std::string_view detail_type;
  Meaning (*read)(const json& detail, std::int64_t sent_millis);
};
constexpr EventType kEventTypes[] = {
    {"aws.ec2", "EC2 Spot Instance Interruption Warning", read_spot},
    {"aws.ec2", "EC2 Instance Rebalance Recommendation", read_rebalance},
    {"aws.ec2", "EC2 Instance State-change Notification", read_state_change},
    {"aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning", read_reservation},
    {"aws.health", "AWS Health Event", read_health},
};

Meaning read_event(const json& event, std::int64_t sent_millis) {
  const std::string source = text_of(event, "source");
  const std::string detail_type = text_of(event, "detail-type");
  const std::string version = text_of(event, "version");
  if (source.empty() || detail_type.empty())
    return Meaning::other("not an event of EventBridge: no source, or no detail-type");
  if (version != "0") return Meaning::other("version: expected \"0\", found " + shown(version));
  const json& detail = child(event, "detail");
  if (!detail.is_object()) return Meaning::other("detail: expected an object");
  for (const EventType& type : kEventTypes)
    if (source == type.source && detail_type == type.detail_type)
      return type.read(detail, sent_millis);
  return Meaning::other("nothing to do for " + shown(detail_type) + " of " + shown(source));
}

// An event may come twice, and is known by its id; for each machine by itself, or what one event,
// or several that share an id, say of others would be taken for known.
std::vector<model::Interruption> as_interruptions(const Meaning& meaning, const std::string& id,
                                                  std::int64_t sent_millis) {
  std::vector<model::Interruption> all;
  const auto add = [&](const std::string& message, const std::string& instance) {
    model::Interruption one;
    one.message = model::MessageId(message);
    one.kind = meaning.kind;
    if (!instance.empty()) one.provider_id = provider_id_of(instance);
    one.deadline_millis = meaning.deadline_millis;
    one.sent_millis = sent_millis;
    one.reason = meaning.reason;
    all.push_back(std::move(one));
  };
  if (meaning.instances.empty()) add(id, "");
  for (const std::string& instance : meaning.instances) add(id + "/" + instance, instance);
  return all;
}

}  // namespace

std::vector<model::Interruption> read_message(const QueueMessage& message) {
  const std::string own_id(message.id.substr(0, kIdMax));
  if (message.body.size() > kMessageBytesMax)
    return as_interruptions(Meaning::other("larger than 1 MiB"), own_id, message.received_millis);
  const json event = json::parse(message.body, nullptr, /*allow_exceptions=*/false);
  if (!event.is_object())
    return as_interruptions(Meaning::other("not a JSON object"), own_id, message.received_millis);
  const std::string event_id = text_of(event, "id");
  const bool usable = !event_id.empty() && event_id.size() <= kIdMax &&
                      event_id.find_first_not_of(kIdCharacters) == std::string::npos;
  const std::int64_t sent =
      base::parse_rfc3339(text_of(event, "time")).value_or(message.received_millis);
  return as_interruptions(read_event(event, sent), usable ? event_id : own_id, sent);
}

model::ProviderId provider_id_of(std::string_view instance) {
  return model::ProviderId("aws:////" + std::string(instance));
}

bool is_instance_id(std::string_view text) {
  constexpr std::size_t kShort = 8;
  constexpr std::size_t kLong = 17;
  if (!text.starts_with("i-")) return false;
  text.remove_prefix(2);
  if (text.size() != kShort && text.size() != kLong) return false;
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace karst::providers::aws
