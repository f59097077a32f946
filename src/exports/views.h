// The three views; rows.h says what they are. Internal to exports.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "events/body.h"
#include "exports/prices.h"
#include "exports/rows.h"
#include "projections/cluster_state.h"
#include "reconcilers/class_types.h"

namespace karst::exports {

// Memory: one row.
class EventRows final : public View {
 public:
  explicit EventRows(Withheld withheld);
  const Table& table() const override;
  bool needs_history() const override { return false; }
  base::Status see(const events::Event& event, bool taken, const projections::ClusterState& before,
                   TableWriter& out) override;

 private:
  Withheld withheld_;
  Row row_;
};

// Memory: what pools can buy, and the prices of the catalogue.
class DecisionRows final : public View {
 public:
  explicit DecisionRows(Withheld withheld);
  const Table& table() const override;
  void begin(const events::Baseline& baseline, const projections::ClusterState& state,
             const Filter& filter) override;
  base::Status see(const events::Event& event, bool taken, const projections::ClusterState& before,
                   TableWriter& out) override;

 private:
  using State = projections::ClusterState;
  bool knows_prices() const;
  bool knows_types() const;
  void learn(const events::Event& event);
  base::Status fill(const events::Event& event, const State& before, TableWriter& out);
  void fill_command(const events::Envelope& envelope, const State& before,
                    const model::Command& command);
  void fill_offers(const events::Envelope& envelope, const model::Launch& launch);
  void fill_ruled_out(const events::Envelope& envelope, const State& before,
                      const model::Command& command);
  void fill_other(const events::Envelope& envelope, const State& before, const events::Body& body);

  Withheld withheld_;
  Row row_;
  Prices prices_;
  reconcilers::ClassTypes class_types_;
  std::string build_, decision_version_, config_;
};

// Memory: what is remembered of each claim.
class ClaimRows final : public View {
 public:
  explicit ClaimRows(Withheld withheld);
  const Table& table() const override;
  void begin(const events::Baseline& baseline, const projections::ClusterState& state,
             const Filter& filter) override;
  base::Status see(const events::Event& event, bool taken, const projections::ClusterState& before,
                   TableWriter& out) override;
  base::Status end(const projections::ClusterState& state, TableWriter& out) override;

 private:
  struct Memo {
    bool taken = false;          // an event of it was
    std::string instance_types;  // that the claim could use, as lp4k writes them
    std::int64_t disruption_millis = 0, interruption_millis = 0;
    std::optional<std::int64_t> disrupted_pods;  // nullopt: decided before the log was trimmed
    std::string disruption_reason, interruption_kind;
    std::int64_t annotation_millis = 0, taint_millis = 0;  // 0: not, or before it was trimmed
    std::string annotation, taint;                         // empty: not
  };
  using State = projections::ClusterState;
  void learn(const events::Event& event, const State& before, const events::Body& body);
  void remember(const State& state, const projections::ClaimRow& claim);
  void removal(const State& before, const model::Command& command, std::int64_t now_millis);
  void tainted(const State& before, const model::Outcome& outcome, std::int64_t now_millis);
  base::Status write(const projections::ClaimRow& claim, std::int64_t deleted_millis,
                     TableWriter& out);

  Row row_;
  std::map<model::ClaimName, Memo> memos_;  // of claims that are not gone
};

}  // namespace karst::exports
