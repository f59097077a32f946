#include "tools/why_not.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "daemon/words.h"
#include "events/codec.h"
#include "reconcilers/ruled_out.h"
#include "tools/describe.h"

namespace karst::tools {
namespace {

base::Result<Json> reasons_of(const ReadLog& log, model::Position created) {
  Json reasons = Json::array();
  const auto state = state_at(log, model::Position(created.value() - 1));
  if (!state && state.error().kind == base::Kind::kGone) return reasons;
  if (!state) return base::fail(state.error());
  // A fold ends early where the log is damaged, which is told at the end.
  if (state->next_position() != created) return reasons;
  auto found = event_at(*log, created);
  if (!found) return base::fail(found.error());
  const auto* provider = providers::find_provider(state->config().provider);
  if (!*found || provider == nullptr) return reasons;
  const events::Event& event = (*found)->event;
  const events::Body body = events::decode_body(event);
  reconcilers::ClassTypes class_types;
  for (const reconcilers::RuledOut& one :
       reconcilers::ruled_out(*state, {event.envelope.log_time, *provider, class_types},
                              std::get<model::Command>(body).spec))
    reasons.push_back({{"why", one.why}, {"instance_types", one.types}});
  return reasons;
}

}  // namespace

base::Result<Json> why_not(const ReadLog& log, const Json& story) {
  const auto created = std::find_if(story.begin(), story.end(), [](const Json& event) {
    return event["type"] == events::event_type_name(events::EventType::kNodeClaimCreateRequested);
  });
  if (created == story.end()) return Json::array();
  const model::Position position((*created)["position"].get<std::uint64_t>());
  if (position <= log->first()) return Json::array();
  return reasons_of(log, position);
}

void print_why_not(const Json& reasons) {
  for (const Json& reason : reasons) {
    const auto types = reason["instance_types"].get<std::vector<std::string>>();
    say(fmt::format("not {}: {} ({})", daemon::counted(types.size(), "other type"),
                    reason["why"].get<std::string>(), daemon::names_list(types)));
  }
}

}  // namespace karst::tools
