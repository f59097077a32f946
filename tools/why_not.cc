#include "tools/why_not.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "daemon/words.h"
#include "events/codec.h"
#include "reconcilers/ruled_out.h"
#include "tools/describe.h"

namespace karst::tools {
namespace {

WhyNot unknown(std::string why) {
  return {Json::array(), std::move(why)};
}

WhyNot asked(const projections::ClusterState& state, const events::Event& event) {
  const auto* provider = providers::find_provider(state.config().provider);
  if (provider == nullptr)
    return unknown("this build has no provider \"" + state.config().provider + "\"");
  const events::Body body = events::decode_body(event);
  reconcilers::ClassTypes class_types;
  WhyNot known;
  for (const reconcilers::RuledOut& one :
       reconcilers::ruled_out(state, {event.envelope.log_time, *provider, class_types},
                              std::get<model::Command>(body).spec))
    known.reasons.push_back({{"why", one.why}, {"instance_types", one.types}});
  return known;
}

}  // namespace

base::Result<WhyNot> why_not(const ReadLog& log, model::Position created) {
  if (created == model::Position())
    return unknown(
        "the log has no command that made it: it was made by others, or before position " +
        std::to_string(log->first().value()) + ", where this log begins");
  const auto state = state_at(log, model::Position(created.value() - 1));
  if (!state && state.error().kind == base::Kind::kGone) return unknown(state.error().message);
  if (!state) return base::fail(state.error());
  auto found = event_at(*log, created);
  if (!found) return base::fail(found.error());
  // A fold ends early where the log is damaged, which is told at the end.
  if (!*found || state->next_position() != created)
    return unknown("the log is damaged before position " + std::to_string(created.value()));
  return asked(*state, (*found)->event);
}

void print_why_not(const WhyNot& known) {
  if (!known.unknown.empty()) return say("what was ruled out is not known: " + known.unknown);
  if (known.reasons.empty()) say("no type that is sold was ruled out");
  for (const Json& reason : known.reasons) {
    const auto types = reason["instance_types"].get<std::vector<std::string>>();
    say(fmt::format("not {}: {} ({})", daemon::counted(types.size(), "other type"),
                    reason["why"].get<std::string>(), daemon::names_list(types)));
  }
}

}  // namespace karst::tools
