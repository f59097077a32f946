// Where rows come from: views over the log. A view sees every event from the first at hand, in
// order, and makes rows of those that are taken. Of a trimmed log it begins with the baseline; what
// that does not know either is left empty, never taken from the first event that is left.
//
//   events      one row for each event, with its payload as JSON
//   decisions   one row for each decision: rule, code, inputs, alternatives, prices, versions
//   nodeclaims  one row for each NodeClaim, with the 33 columns of AWS Labs' Log Parser for
//               Karpenter (lp4k, https://github.com/awslabs/LogParserForKarpenter), in its order
//
// Columns and what they mean: docs/export.md. One thread. Memory: what is named at each view.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "events/event.h"
#include "events/event_log.h"
#include "exports/filter.h"
#include "exports/redaction.h"
#include "exports/table.h"
#include "projections/cluster_state.h"

namespace karst::exports {

inline constexpr std::string_view kViews[] = {"events", "decisions", "nodeclaims"};

class View {
 public:
  virtual ~View() = default;
  virtual const Table& table() const = 0;
  // Whether what lies before a row decides what is in it, so that reading begins with the log, and
  // the log is folded.
  virtual bool needs_history() const { return true; }
  // Of a trimmed log, once, before the first event: what it folded to (`state`, which is that of
  // `baseline`).
  virtual void begin(const events::Baseline&, const projections::ClusterState&, const Filter&) {}
  // Writes what `event` completes. `before`: the state right before it; empty for a view that needs
  // no history. Errors: of the writer.
  virtual base::Status see(const events::Event& event, bool taken,
                           const projections::ClusterState& before, TableWriter& out) = 0;
  // After the last event: what is still open.
  virtual base::Status end(const projections::ClusterState&, TableWriter&) { return {}; }
  std::uint64_t rows() const { return rows_; }

 protected:
  std::uint64_t rows_ = 0;
};

// What a payload is withheld with.
struct Withheld {
  Redaction redaction;
  std::string log_secret;
};

// Whether the view's rows hold nothing of what is withheld. `nodeclaims` is made from payloads of
// many events and cannot leave some of them out; the other two leave out what they must.
bool can_withhold(std::string_view name, const Redaction& redaction);

// `name` is one of kViews.
std::unique_ptr<View> make_view(std::string_view name, const Withheld& withheld);

}  // namespace karst::exports
