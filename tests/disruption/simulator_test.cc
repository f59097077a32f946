// One problem that is kept and asked many times, held against a problem made for each question.
#include "disruption/simulator.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <string>
#include <vector>

#include "tests/disruption/build.h"
#include "tests/sanitized.h"
#include "tests/scheduling/random.h"

namespace karst::disruption::test {
namespace {

using scheduling::test::amounts;
using scheduling::test::chance;
using scheduling::test::in;
using scheduling::test::kGi;
using scheduling::test::one_per_node;
using scheduling::test::pick;

const char* const kApps[] = {"web", "api", "db"};
const char* const kGpu = "example.com/gpu";
const char* const kDriver = "disk.csi";
const std::string kReservation = "example.com/reservation";
constexpr std::int64_t kQuestions = 6;
constexpr int kClusters = kSanitized ? 2 : 40;  // in each of rapidcheck's cases

const std::string& topology_key() {
  static const std::string kKeys[] = {std::string(model::kZoneLabel),
                                      std::string(model::kHostnameLabel),
                                      std::string(model::kCapacityTypeLabel), "rack"};
  return kKeys[static_cast<std::size_t>(chance(2) ? 0 : pick(0, 4))];
}

std::vector<scheduling::InstanceType> random_types() {
  std::vector<scheduling::InstanceType> types = scheduling::test::machines();
  types.push_back(scheduling::test::machine("arm2", 2, 8, 15, "arm64"));
  types.push_back(scheduling::test::machine("gpu8", 8, 32, 300));
  types.back().capacity.set_amount(kGpu, 2);
  types.back().allocatable.set_amount(kGpu, 2);
  // Enough of a size for a spot node to go for a cheaper one.
  for (int i = chance(3) ? 16 : 0; i > 0; --i)
    types.push_back(scheduling::test::machine("s" + std::to_string(i), 2, 8, 20 + i % 5));
  for (scheduling::InstanceType& type : types) {
    if (chance(3)) type.allocatable.cpu_millis -= 100;
    if (chance(3)) type.attach_limits[kDriver] = pick(0, 4);
    for (scheduling::Offering& offering : type.offerings) offering.available = !chance(6);
    if (!chance(8)) continue;
    scheduling::Offering reserved = scheduling::test::offering("a", "reserved", 1);
    reserved.requirements.push_back(in(kReservation, {"r" + std::to_string(pick(0, 2))}));
    reserved.reservation_capacity = pick(0, 3);
    type.offerings.push_back(std::move(reserved));
  }
  return types;
}

Pool random_pool(const std::string& name) {
  Pool pool;
  pool.pool = scheduling::test::pool(name);
  pool.pool.types = random_types();
  pool.ready = !chance(10);
  model::NodePool& spec = pool.pool.pool;
  spec.weight = static_cast<std::int32_t>(pick(0, 3));
  if (chance(2)) spec.consolidate_after_millis = chance(2) ? 0 : pick(1, 2000);
  if (chance(4)) spec.consolidation_policy = model::ConsolidationPolicy::kBalanced;
  if (chance(3)) spec.limits.push_back({"cpu", pick(0, 40) * 1000});
  if (chance(6)) spec.limits.push_back({"memory", pick(0, 100) * kGi});
  if (chance(4)) spec.limits.push_back({"nodes", pick(0, 7)});
  if (chance(6)) spec.taints.push_back({"db", "", model::TaintEffect::kNoSchedule});
  if (chance(8)) spec.taints.push_back({"soft", "", model::TaintEffect::kPreferNoSchedule});
  if (chance(4))
    spec.requirements.push_back(in(std::string(model::kCapacityTypeLabel), {"on-demand"}));
  if (chance(6))
    spec.requirements.push_back(
        {std::string(model::kInstanceTypeLabel), model::Operator::kExists, {}, 3});
  if (chance(3)) model::set_label(spec.template_labels, "rack", chance(2) ? "r1" : "r2");
  if (chance(12)) spec.replicas = 2;
  if (chance(12)) spec.deletion_millis = 1;
  return pool;
}

void random_topology(model::PodShape& shape) {
  const std::string app = kApps[pick(0, 3)];
  if (chance(3)) {
    model::SpreadConstraint spread;
    spread.topology_key = topology_key();
    spread.selector.expressions = {in("app", {app})};
    spread.max_skew = static_cast<std::int32_t>(pick(1, 3));
    spread.schedule_anyway = chance(3);
    spread.min_domains = static_cast<std::int32_t>(chance(5) ? pick(1, 4) : 0);
    spread.ignore_node_affinity = chance(4);
    spread.honor_node_taints = chance(4);
    shape.spread.push_back(spread);
  }
  if (chance(6)) shape.affinity.push_back(one_per_node(app));
  if (chance(5)) {
    model::PodAffinityTerm near;
    near.topology_key = topology_key();
    near.selector.expressions = {in("app", {kApps[pick(0, 3)]})};
    near.anti = chance(2);
    near.preferred_weight = chance(3) ? 10 : 0;
    if (chance(4)) near.namespaces = {"default", "other"};
    if (chance(5)) near.namespace_selector.emplace().expressions = {in("team", {"blue"})};
    shape.affinity.push_back(near);
  }
}

model::PodShape random_shape() {
  model::PodShape shape;
  shape.requests = amounts(pick(0, 30) * 100, pick(0, 4));
  if (chance(10)) shape.requests.set_amount(kGpu, 1);
  if (chance(6)) model::set_label(shape.node_selector, model::kZoneLabel, chance(2) ? "a" : "b");
  if (chance(8))
    shape.required_terms = {{{in(std::string(model::kZoneLabel), {"a"})}, false},
                            {{in(std::string(model::kArchLabel), {"arm64"})}, false}};
  if (chance(8))
    shape.preferred_terms = {{5, {{in(std::string(model::kCapacityTypeLabel), {"spot"})}, false}}};
  if (chance(3)) shape.tolerations.push_back({"db", true, "", {}, {}});
  random_topology(shape);
  if (chance(10)) shape.host_ports = {{"", static_cast<std::int32_t>(pick(80, 82)), "TCP"}};
  if (chance(8)) shape.do_not_disrupt = model::DoNotDisrupt::kForever;
  if (chance(6)) shape.owner_kind = model::OwnerKind::kDaemonSet;
  if (chance(6)) shape.owner_kind = model::OwnerKind::kStatefulSet;
  if (chance(4)) shape.priority = static_cast<std::int32_t>(pick(-2, 3));
  return shape;
}

void add_random_node(World& w) {
  const char* const types[] = {"m1", "m2", "m4", "m8"};
  const std::string pool = chance(8)   ? "nobody's"
                           : chance(2) ? w.pools.front().pool.pool.name.str()
                                       : w.pools.back().pool.pool.name.str();
  const std::size_t at = add_node(w, types[pick(0, 4)], chance(3) ? "spot" : "on-demand", pool);
  Node& node = w.nodes[at];
  scheduling::Node& seen = w.base.nodes[at];
  const std::string zone = chance(4) ? "c" : chance(2) ? "b" : "a";
  for (model::Labels* labels : {&node.labels, &seen.labels}) {
    model::set_label(*labels, model::kZoneLabel, zone);
    if (at % 2 == 0) model::set_label(*labels, "rack", at % 4 == 0 ? "r1" : "r3");
  }
  node.leaving = chance(6);
  node.managed = !chance(10);
  node.initialized = seen.initialized = !chance(6);
  node.initialized_millis = kNow - pick(0, 3000);
  node.last_pod_event_millis = chance(2) ? kNow - pick(0, 3000) : 0;
  if (chance(6)) seen.taints.push_back({"db", "", model::TaintEffect::kNoSchedule});
  if (chance(10)) seen.taints.push_back({"soft", "", model::TaintEffect::kPreferNoSchedule});
  seen.takes_pods = !chance(8);
  seen.stays = chance(4);
  if (chance(4)) seen.attach_limits[kDriver] = pick(0, 3);
  if (chance(6)) seen.volumes.emplace_back(kDriver, "shared");
  if (chance(6)) seen.host_ports.push_back({"", 80, "TCP"});
}

void add_random_pod(World& w, std::size_t node) {
  Pod& pod = add_pod(w, node, 0);
  w.shapes.pop_back();
  pod.shape = static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(w.shapes.size())));
  if (node != kNowhere) w.base.nodes[node].available -= w.shape_of(pod).requests;
  if (chance(5)) pod.namespace_name = "other";
  // Mostly the shape's own application, as replicas are.
  model::set_label(pod.labels, "app", chance(4) ? kApps[pick(0, 3)] : kApps[pod.shape % 3]);
  pod.creation_millis = pick(0, 3);
  pod.start_millis = kNow - 5000;
  pod.unready = chance(8);
  if (chance(8)) pod.deletion_millis = kNow;
  if (chance(20)) pod.terminal = true;
  if (chance(20)) pod.mirror = true;
  if (!chance(8)) return;
  scheduling::Volume volume{kDriver, chance(2) ? "shared" : "", {}};
  if (chance(3)) volume.topology = {{in(std::string(model::kZoneLabel), {"b"})}};
  pod.volumes.push_back(volume);
}

World random_cluster() {
  World w;
  w.now = base::LogTime(kNow);
  w.spot_to_spot = chance(2);
  w.pools.push_back(random_pool("default"));
  if (chance(2)) w.pools.push_back(random_pool("other"));
  w.base.namespaces = {{"default", {}}, {"other", {{"team", "blue"}}}};
  scheduling::Options& options = w.base.options;
  options.label_aliases = scheduling::known_label_aliases();
  options.reservation_id_label = kReservation;
  options.instance_types_max = chance(4) ? 3 : 60;
  if (chance(4)) options.preferences = scheduling::PreferencePolicy::kIgnore;
  if (chance(3)) options.min_values = scheduling::MinValuesPolicy::kBestEffort;
  if (chance(3)) options.spread_domains = scheduling::SpreadDomains::kAllPools;
  if (chance(2)) options.reserved = scheduling::ReservedMode::kFallback;
  for (std::int64_t i = pick(0, 3); i > 0; --i) {
    scheduling::Daemon daemon;
    daemon.shape.requests = amounts(pick(0, 4) * 50, 0);
    if (chance(3)) daemon.shape.requests.set_amount(kGpu, 1);
    if (chance(3)) model::set_label(daemon.shape.node_selector, model::kArchLabel, "arm64");
    if (chance(2)) daemon.shape.tolerations.push_back({"db", true, "", {}, {}});
    w.base.daemons.push_back(daemon);
  }
  for (std::int64_t i = pick(1, 7); i > 0; --i) w.shapes.push_back(random_shape());
  if (chance(2))
    w.pod_budgets.push_back({"default", "budget", "", {{in("app", {"db"})}, false}, 0, true, true});
  for (std::int64_t i = pick(1, 8); i > 0; --i) add_random_node(w);
  for (std::int64_t i = pick(0, 26); i > 0; --i)
    add_random_pod(w, chance(8) ? kNowhere
                                : static_cast<std::size_t>(
                                      pick(0, static_cast<std::int64_t>(w.nodes.size()))));
  return w;
}

std::vector<Candidate> random_candidates(const World& w) {
  std::vector<Candidate> candidates;
  const std::int64_t one_in = pick(1, 5);
  for (std::size_t node = 0; node < w.nodes.size(); ++node)
    if (pool_of(w, w.nodes[node]) != nullptr && (!w.nodes[node].leaving || chance(4)) &&
        chance(one_in))
      candidates.push_back(make_candidate(w, node));
  return candidates;
}

std::string shown(const World& w, const Simulation& simulation) {
  std::string text = simulation.refusal.code + " " + simulation.refusal.text + "\n";
  for (const Replacement& one : simulation.claims) {
    text += " " + std::to_string(one.pool - w.pools.data());
    for (const model::RequirementSpec& spec : one.requirements) {
      text += " " + spec.key + "/" + std::to_string(static_cast<int>(spec.op));
      for (const std::string& value : spec.values) text += "," + value;
      text += ">" + std::to_string(spec.min_values);
    }
    for (const std::size_t type : one.types) text += " " + std::to_string(type);
    text += "\n";
  }
  return text;
}

// What kinds of answers there were.
struct Seen {
  int nothing_new = 0, one_claim = 0, several = 0, refused = 0, refused_by_kept = 0, anew = 0;
};

void note(const Simulation& simulation, bool anew, Seen& seen) {
  if (anew) ++seen.anew;
  if (!simulation.refusal.none()) {
    ++seen.refused;
    if (!anew && simulation.refusal.code == "not_all_placed") ++seen.refused_by_kept;
  } else {
    ++(simulation.claims.empty()       ? seen.nothing_new
       : simulation.claims.size() == 1 ? seen.one_claim
                                       : seen.several);
  }
}

void ask(const World& w, Seen& seen) {
  Simulator simulator(w);
  for (std::int64_t number = 0; number < kQuestions; ++number) {
    const std::vector<Candidate> candidates = random_candidates(w);
    const Purpose purpose = chance(3) ? Purpose::kDrift : Purpose::kConsolidation;
    const std::size_t before = simulator.made_anew();
    const Simulation answer = simulator.simulate(candidates, purpose);
    RC_ASSERT(shown(w, answer) == shown(w, simulate(w, candidates, purpose)));
    note(answer, simulator.made_anew() > before, seen);
  }
}

TEST(Simulator, AnswersLikeAProblemMadeForTheQuestion) {
  Seen seen;
  EXPECT_TRUE(rc::check("asked many times", [&seen] {
    for (int i = 0; i < kClusters; ++i) ask(random_cluster(), seen);
  }));
  // The law was about something.
  for (const int count : {seen.nothing_new, seen.one_claim, seen.several, seen.refused_by_kept})
    EXPECT_GE(count, kSanitized ? 0 : 10);
  EXPECT_GE(seen.anew, kSanitized ? 0 : 1);
}

}  // namespace
}  // namespace karst::disruption::test
