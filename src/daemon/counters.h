// What is counted of what happened since this process started. Engine thread; a copy goes into each
// View.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/happening.h"
#include "daemon/spread.h"

namespace karst::daemon {

using LabelValues = std::vector<std::string>;  // in the order that metrics.cc names the labels

struct Counters {
  using Counts = std::map<LabelValues, std::uint64_t>;

  std::uint64_t facts = 0;
  std::uint64_t decisions = 0;
  std::uint64_t rounds = 0;
  std::uint64_t failed_appends = 0;
  Counts claims_created;       // reason, pool, whether minValues were relaxed
  Counts claims_terminated;    // pool, capacity type, zone
  Counts claims_disrupted;     // reason, pool, capacity type, consolidation policy, mode
  Counts pods_disrupted;       // the same
  Counts nodes_created;        // pool, zone
  Counts nodes_terminated;     // pool, zone
  Counts launches_refused;     // reason
  Counts interruptions;        // kind
  Counts voluntary_decisions;  // decision, reason, consolidation type
  Counts decisions_by_pool;    // pool, and the same
  Counts called_off;           // consolidation type
  Counts evictions;            // reason
  Counts pods_drained;         // reason, as Karpenter writes it
  Counts cloud_errors;         // method, error
  Counts eviction_requests;    // code
  Counts claim_transitions;    // type, status, reason
  Counts pool_transitions;     // the same
  Counts nodes_drained;        // pool
  Counts unhealthy;            // condition, pool, capacity type, image
  Counts not_sent;             // kind of command
  Counts inputs_refused;       // source
  std::string cloud;           // provider
  std::map<std::string, Histogram> claim_terminations;     // by pool: deletion to gone
  std::map<std::string, Histogram> node_lifetimes;         // by pool
  std::map<std::string, Summary> node_terminations;        // by pool
  std::map<std::string, Histogram> cloud_calls;            // by method
  std::map<std::string, Histogram> instance_terminations;  // by pool
  std::map<LabelValues, Histogram> claim_condition_times;  // type, status: how long it stood
  std::map<LabelValues, Histogram> pool_condition_times;   // the same
  std::map<LabelValues, Histogram> evaluations;            // reason, consolidation type
  Histogram claims_terminated_times{kConditionBounds};     // deletion to gone
  Histogram nodes_terminated_times{kConditionBounds};
  Histogram pods_decided;         // seen to the first decision
  Histogram pods_placed_bound;    // first place to bound
  Histogram pods_placed_started;  // first place to running
  Histogram message_ages;         // of interruptions, when they were taken up
  std::uint64_t messages_deleted = 0;
  Histogram pods_bound;  // creation to bound
  Summary pods_started;  // creation to running
  Histogram scheduling;  // provisioning passes

  void count(const Happening& happening);
  // Of a round: how long it took, if pods were placed in it or removals begun.
  void count_pass(const std::vector<Happening>& happenings, std::int64_t round_millis);

 private:
  void count_condition(const Happening& happening);
};

}  // namespace karst::daemon
