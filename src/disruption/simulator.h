// simulate(), asked many times of one cluster: the same answers, word for word, from one problem
// that is prepared when the first question comes (scheduling/without_nodes.h). A question costs
// what its pods and one look at the nodes cost. Two kinds of question are made a problem of their
// own all the same: those whose answer tells of a pod kept off a pool by spreads or affinities,
// because that text lists places that the solver has met on its way; and those about a node that is
// leaving already, whose pods move whatever is asked. Pure; owned by one thread.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "disruption/moving.h"
#include "disruption/simulation.h"
#include "disruption/world.h"
#include "scheduling/without_nodes.h"

namespace karst::disruption {

class Simulator {
 public:
  // The world stays where and as it is while this lives.
  explicit Simulator(const World& world) : world_(world) {}
  Simulator(const Simulator&) = delete;
  Simulator& operator=(const Simulator&) = delete;

  const World& world() const { return world_; }
  // As simulate() answers.
  Simulation simulate(const std::vector<Candidate>& candidates, Purpose purpose);

  // How many questions were made a problem of their own.
  std::size_t made_anew() const { return made_anew_; }

 private:
  // Pods that are alike but for their age and whose they are.
  using Key = std::tuple<std::size_t, std::string, model::Labels, std::vector<scheduling::Volume>>;

  void prepare();
  void add_pod(std::size_t at, scheduling::Problem& problem, std::map<Key, std::size_t>& groups);
  const std::vector<std::size_t>& movers(std::size_t node);
  scheduling::WithoutNodesQuestion question(const std::vector<Candidate>& candidates,
                                            Purpose purpose, std::vector<Moving>& moving);
  Simulation make_anew(const std::vector<Candidate>& candidates, Purpose purpose);

  const World& world_;
  std::unique_ptr<scheduling::WithoutNodes> asked_;  // nullptr: nobody asked yet
  std::vector<const Pool*> pools_;                   // by index into its problem's
  std::vector<std::size_t> pool_of_;                 // by node: index into pools_, or kNowhere
  std::vector<std::size_t> group_of_;  // by pod: index into its problem's pods, or kNowhere
  std::vector<std::size_t> bound_of_;  // by pod: index into its problem's bound, or kNowhere
  std::vector<std::size_t> always_;    // pods that move whatever is asked
  std::vector<std::vector<std::size_t>> pods_on_;  // by node: those that may move
  // By node: those of them that do, once they were asked for.
  std::vector<std::optional<std::vector<std::size_t>>> movers_;
  std::size_t made_anew_ = 0;
};

}  // namespace karst::disruption
