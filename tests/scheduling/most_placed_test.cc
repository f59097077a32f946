// The exhaustive twin of scarce problems: few nodes, pools with limits. Every way to put a few pods
// on nodes and claims is looked at; no way places more of them than the solver does.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

#include "tests/scheduling/cases.h"
#include "tests/scheduling/random.h"

namespace karst::scheduling::test {
namespace {

// Pods of CPU alone, with a zone, a toleration, a port or a dislike of their like.
Problem scarce_problem() {
  std::vector<PodGroup> groups;
  for (std::int64_t left = 6; left > 0 && (groups.empty() || !chance(5));) {
    PodGroup group = pods(pick(1, std::min<std::int64_t>(left, 3) + 1), pick(1, 10) * 500, 0);
    left -= group.count;
    if (chance(4)) group = selecting(std::move(group), kZone, chance(2) ? "a" : "b");
    if (chance(4)) group = tolerating(std::move(group), "db");
    if (chance(8)) group = with_port(std::move(group), 80);
    if (chance(6)) group = alone(std::move(group), "web");
    groups.push_back(std::move(group));
  }
  Problem one = problem(std::move(groups), {});
  for (std::int64_t i = pick(0, 4); i > 0; --i) {
    Node next = node("n" + std::to_string(i), pick(1, 10) * 500, 64);
    if (chance(2)) model::set_label(next.labels, kZone, "b");
    if (chance(4)) next.taints = {{"db", "yes", model::TaintEffect::kNoSchedule}};
    one.nodes.push_back(std::move(next));
  }
  for (std::int64_t i = one.nodes.empty() ? pick(1, 3) : pick(0, 3); i > 0; --i) {
    Pool next = limited(pool("p" + std::to_string(i)), "cpu", pick(1, 12) * 1000);
    if (chance(3)) next = limited(std::move(next), "nodes", pick(1, 3));
    if (chance(4)) next = tainted(std::move(next), "db");
    if (chance(4)) next = requiring(std::move(next), in(kZone, {"b"}));
    if (chance(3)) next = weighing(std::move(next), 10);
    one.pools.push_back(std::move(next));
  }
  return one;
}

class BruteForce {
 public:
  explicit BruteForce(const Problem& problem) : problem_(problem) {
    for (std::size_t group = 0; group < problem.pods.size(); ++group)
      pods_.insert(pods_.end(), static_cast<std::size_t>(problem.pods[group].count), group);
    for (std::size_t i = 0; i < problem.nodes.size(); ++i) places_.push_back({true, i, {}});
  }
  std::int64_t most() {
    visit(0, 0);
    return most_;
  }

 private:
  struct Place {
    bool is_node = false;
    std::size_t index = 0;  // of the node, or of the pool
    std::vector<std::size_t> pods;
  };

  void visit(std::size_t at, std::int64_t placed) {
    most_ = std::max(most_, placed);
    if (placed + static_cast<std::int64_t>(pods_.size() - at) <= most_) return;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      places_[i].pods.push_back(pods_[at]);
      if (holds(places_[i]) && within_limits()) visit(at + 1, placed + 1);
      places_[i].pods.pop_back();
    }
    for (std::size_t pool = 0; pool < problem_.pools.size(); ++pool) {
      places_.push_back({false, pool, {pods_[at]}});
      if (holds(places_.back()) && within_limits()) visit(at + 1, placed + 1);
      places_.pop_back();
    }
    visit(at + 1, placed);
  }

  std::int64_t cpu_of(const Place& place) const {
    std::int64_t sum = 0;
    for (const std::size_t group : place.pods)
      sum += problem_.pods[group].shape.requests.cpu_millis;
    return sum;
  }
  // The smallest machine's; 0: none holds them.
  std::int64_t capacity(const Place& place) const {
    for (const std::int64_t cpu : {1000, 2000, 4000, 8000})
      if (cpu_of(place) <= cpu) return cpu;
    return 0;
  }

  bool holds(const Place& place) const {
    if (place.is_node ? cpu_of(place) > problem_.nodes[place.index].available.cpu_millis
                      : capacity(place) == 0)
      return false;
    const auto& taints = place.is_node ? problem_.nodes[place.index].taints
                                       : problem_.pools[place.index].pool.taints;
    std::string zone;
    if (place.is_node)
      zone = model::label_value(problem_.nodes[place.index].labels, kZone);
    else if (!problem_.pools[place.index].pool.requirements.empty())
      zone = "b";
    int ports = 0;
    int loners = 0;
    for (const std::size_t group : place.pods) {
      const model::PodShape& shape = problem_.pods[group].shape;
      ports += shape.host_ports.empty() ? 0 : 1;
      loners += shape.affinity.empty() ? 0 : 1;
      if (!taints.empty() && shape.tolerations.empty()) return false;
      if (shape.node_selector.empty()) continue;
      const std::string& wanted = shape.node_selector[0].second;
      if (!zone.empty() && zone != wanted) return false;
      zone = wanted;
    }
    return ports <= 1 && loners <= 1;
  }

  bool within_limits() const {
    for (std::size_t pool = 0; pool < problem_.pools.size(); ++pool) {
      std::int64_t cpu = 0;
      std::int64_t nodes = 0;
      for (const Place& place : places_) {
        if (place.is_node || place.index != pool) continue;
        cpu += capacity(place);
        ++nodes;
      }
      for (const auto& [name, limit] : problem_.pools[pool].pool.limits)
        if ((name == "cpu" ? cpu : nodes) > limit) return false;
    }
    return true;
  }

  const Problem& problem_;
  std::vector<std::size_t> pods_;
  std::vector<Place> places_;
  std::int64_t most_ = 0;
};

TEST(MostPlaced, NoWayPlacesMoreOfAFewPods) {
  EXPECT_TRUE(rc::check("most", [] {
    const Problem problem = scarce_problem();
    const Answer answer = solve(problem);
    RC_LOG() << describe(problem, answer);
    RC_ASSERT(wrong(problem, answer) == "");
    RC_ASSERT(placed(answer) == BruteForce(problem).most());
    RC_TAG(answer.unplaced.empty() ? "all placed" : "some left");
  }));
}

}  // namespace
}  // namespace karst::scheduling::test
