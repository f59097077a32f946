// Reconcilers: state and time in, plan out. Pure functions: no clock, no I/O, no floats, no
// unordered iteration, no memory of their own. They see each other: the engine applies each plan
// before it calls the next one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "events/body.h"
#include "model/command.h"
#include "projections/cluster_state.h"
#include "providers/provider.h"
#include "reconcilers/class_types.h"

namespace karst::reconcilers {

inline constexpr std::size_t kDecisionsPerPlanMax = 2'000;  // the rest waits for the next round

struct Decision {
  events::Body body;            // Command, AttemptStarted, CommandAbandoned, Verdict or Nomination
  model::Position causation;    // the event that led to it; 0: a timer
  model::Position correlation;  // the root of the chain; 0: the causation, or itself
};

// What a reconciler wants. Positions are assigned as decisions are added, so a command knows its id
// at once.
class Plan {
 public:
  Plan(const projections::ClusterState& state, std::string_view rule)
      : state_(state), rule_(rule), next_(state.next_position()) {}

  // The id that the next added decision will have.
  model::CommandId next_id() const { return {state_.log_id(), next_}; }
  bool full() const { return decisions_.size() >= kDecisionsPerPlanMax; }

  // Adds a command with this reconciler's name as its rule; returns its id. REQUIRES: !full().
  // `evidence`: the most telling event first; it becomes the causation. `root`: the correlation, 0
  // for that event.
  model::CommandId command(model::CommandSpec spec, std::string_view reason,
                           std::vector<model::Position> evidence, model::Position root = {});
  // Adds the verdict unless the state knows the same one about (subject, rule) already.
  void verdict(std::string subject, std::string_view code, std::vector<std::string> args,
               model::Position causation);
  void nominate(model::Nomination nomination, model::Position causation);
  void hold_provisioning(base::LogTime until);
  void attempt(model::Position command, std::uint32_t attempt);
  void abandon(model::Position command, std::string_view reason, model::Position causation);
  // Asks for a round at that time; the earliest wish counts.
  void wake_at(base::LogTime time) {
    if (!wake_at_ || time < *wake_at_) wake_at_ = time;
  }

  const std::vector<Decision>& decisions() const { return decisions_; }
  std::vector<Decision> take_decisions() { return std::move(decisions_); }
  std::optional<base::LogTime> earliest_wake() const { return wake_at_; }

 private:
  void add(events::Body body, model::Position causation, model::Position correlation = {});

  const projections::ClusterState& state_;
  std::string rule_;
  model::Position next_;
  std::vector<Decision> decisions_;
  std::optional<base::LogTime> wake_at_;
};

struct Context {
  base::LogTime now;
  const providers::Provider& provider;
  ClassTypes& class_types;  // saves time, and changes no answer
};

// The reason of a command that a shadow ends.
inline constexpr std::string_view kNotSent = "not_sent";

// Whether a shadow sends it: a question that changes nothing, and without whose answer there is
// nothing to decide about.
inline bool asks_only(const model::CommandSpec& spec) {
  return std::holds_alternative<model::ResolveNodeClass>(spec);
}

struct Reconciler {
  std::string_view name;
  void (*reconcile)(const projections::ClusterState& state, const Context& context, Plan& plan);
  // Whether it decides in a shadow too. What carries decisions out step by step does not: the
  // claims there are another product's, and the first step is never taken.
  bool in_shadow = false;
};

// In the order in which they decide; reconciler.cc says why this order.
std::span<const Reconciler> reconcilers();

}  // namespace karst::reconcilers
