#include "daemon/kill_points.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

#include "events/codec.h"

namespace karst::daemon {
namespace {

constexpr int kEventTypesEnd = 1'000;

bool is_event_type(std::string_view name) {
  if (name.empty()) return false;
  for (int number = 0; number < kEventTypesEnd; ++number)
    if (events::event_type_name(static_cast<events::EventType>(number)) == name) return true;
  return false;
}

bool holds(const KillPoints::Types& types, std::string_view type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

std::vector<std::string> parted(std::string_view types) {
  std::vector<std::string> parts;
  for (std::size_t bar = 0; bar != std::string_view::npos;) {
    bar = types.find('|');
    parts.emplace_back(types.substr(0, bar));
    types.remove_prefix(bar == std::string_view::npos ? types.size() : bar + 1);
  }
  return parts;
}

}  // namespace

base::Result<KillPoints> KillPoints::parse(std::string_view text) {
  KillPoints points;
  if (text.empty()) return points;
  const std::size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  if (const std::size_t sign = name.find('@'); sign != std::string_view::npos) {
    const std::string_view types = name.substr(sign + 1);
    const std::size_t comma = types.find(',');
    const bool two = comma != std::string_view::npos;
    points.types_ = parted(types.substr(two ? comma + 1 : 0));
    if (two) points.first_ = types.substr(0, comma);
    if (!std::all_of(points.types_.begin(), points.types_.end(), is_event_type) ||
        (two && !is_event_type(points.first_)))
      return base::fail(base::Kind::kInvalid, "KARST_KILL_POINT: of the event types in '" +
                                                  std::string(types) + "' one is unknown");
    name = name.substr(0, sign);
  }
  const auto at = std::find(kKillPointNames.begin(), kKillPointNames.end(), name);
  if (at == kKillPointNames.end()) {
    return base::fail(base::Kind::kInvalid, "KARST_KILL_POINT: there is no place '" +
                                                std::string(name) +
                                                "'; 'karst version --kill-points' lists them");
  }
  points.point_ = static_cast<KillPoint>(at - kKillPointNames.begin());
  points.left_ = 1;
  if (colon == std::string_view::npos) return points;
  std::string_view count = text.substr(colon + 1);
  points.stops_ = count.ends_with(":stop");
  if (points.stops_) count.remove_suffix(std::string_view(":stop").size());
  const auto [end, error] =
      std::from_chars(count.data(), count.data() + count.size(), points.left_);
  if (error != std::errc() || end != count.data() + count.size() || points.left_ == 0) {
    return base::fail(base::Kind::kInvalid, "KARST_KILL_POINT: '" + std::string(count) +
                                                "' is no count; NAME:N wants N from 1");
  }
  return points;
}

base::Result<KillPoints> KillPoints::from_environment() {
  const char* text = std::getenv("KARST_KILL_POINT");
  return parse(text == nullptr ? "" : text);
}

void KillPoints::pass(KillPoint point, const Types& types) {
  if (left_ == 0) return;
  if (!first_.empty()) {
    if (holds(types, first_)) first_.clear();
    return;
  }
  if (point != point_) return;
  if (!types_.empty() &&
      std::find_first_of(types.begin(), types.end(), types_.begin(), types_.end()) == types.end())
    return;
  if (--left_ > 0) return;
  if (stops_) {
    kill(getpid(), SIGSTOP);
  } else {
    kill(getpid(), SIGKILL);
    for (;;) pause();  // until the signal is delivered
  }
}

base::Result<model::Position> KillPointLog::append(std::span<const events::Record> records,
                                                   events::Durability durability) {
  const bool answer = !records.empty() && records.back().type == events::EventType::kRoundClosed;
  const KillPoints::Types types = types_of(records);
  points_.pass(answer ? KillPoint::kBeforeAppendAnswer : KillPoint::kBeforeAppendFacts, types);
  auto position = log_.append(records, durability);
  points_.pass(answer ? KillPoint::kAfterAppendAnswer : KillPoint::kAfterAppendFacts, types);
  return position;
}

KillPoints::Types KillPointLog::types_of(std::span<const events::Record> records) const {
  KillPoints::Types types;
  if (!points_.asks_for_types()) return types;
  for (const events::Record& record : records) {
    types.push_back(events::event_type_name(record.type));
    if (record.type != events::EventType::kOutcomeReceived) continue;
    const auto body = events::decode_payload(record.type, record.payload);
    auto cursor = log_.read(std::get<model::Outcome>(body).command);
    if (!cursor) continue;
    const auto command = (*cursor)->next();
    if (command && *command) types.push_back(events::event_type_name((*command)->envelope.type));
  }
  return types;
}

base::Status KillPointSnapshots::put(std::string_view version, const events::Snapshot& snapshot) {
  points_.pass(KillPoint::kBeforeSnapshot);
  auto status = snapshots_.put(version, snapshot);
  points_.pass(KillPoint::kAfterSnapshot);
  return status;
}

}  // namespace karst::daemon
