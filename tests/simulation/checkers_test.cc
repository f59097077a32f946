// The checkers themselves: each is shown a world or a log in which what it watches for has
// happened, and one in which it has not. (Intent and acknowledgement are shown by the planted
// faults, controls_test.cc.)
#include "tests/simulation/checkers.h"

#include <gtest/gtest.h>

#include "tests/sim/fixture.h"

namespace karst::simulation {
namespace {

using sim::Bench;

std::size_t count_of(const std::vector<Violation>& violations, const std::string& invariant) {
  std::size_t count = 0;
  for (const Violation& violation : violations) count += violation.invariant == invariant;
  return count;
}

std::string make_claim(Bench& bench, const std::string& name) {
  model::CreateNodeClaim create;
  create.claim.name = model::ClaimName(name);
  create.claim.pool = model::PoolName("default");
  create.claim.has_finalizer = true;
  return bench.ask(create).object_uid;
}

CommandLife life_of(model::CommandSpec spec, const std::string& reason, std::int64_t millis) {
  CommandLife life;
  life.command.spec = std::move(spec);
  life.command.reason = reason;
  life.log_millis = millis;
  life.attempts[1] = 1;
  return life;
}

model::DeleteObject deletion_of(const std::string& claim) {
  return {{model::ObjectKind::kNodeClaim, "", claim, "uid"}};
}

TEST(Checkers, TwoInstancesForOneAttempt) {
  Bench bench;
  std::vector<Violation> out;
  bench.ask(sim::order_for("c-1", 1, "t-1"));
  bench.ask(sim::order_for("c-1", 2, "t-2"));
  check_one_instance_per_attempt(bench.world, out);
  EXPECT_EQ(count_of(out, "one-instance"), 0u);
  bench.ask(sim::order_for("c-1", 1, "t-3"));
  check_one_instance_per_attempt(bench.world, out);
  EXPECT_EQ(count_of(out, "one-instance"), 1u);
}

TEST(Checkers, TheNextAttemptWhileOneIsOpen) {
  const struct {
    const char* name;
    std::optional<std::uint64_t> first_ended;
    std::size_t want;
  } cases[] = {{"ended before", 15, 0}, {"ended after", 25, 1}, {"never ended", std::nullopt, 1}};
  for (const auto& one : cases) {
    LogIndex log;
    log.commands[10] = life_of(sim::order_for("c-1", 1, "t-1"), "launch", 0);
    log.commands[10].ended = one.first_ended;
    log.commands[20] = life_of(sim::order_for("c-1", 2, "t-2"), "launch", 0);
    log.launches["c-1"][1] = {10};
    log.launches["c-1"][2] = {20};
    std::vector<Violation> out;
    check_one_open_attempt(log, out);
    EXPECT_EQ(count_of(out, "one-attempt"), one.want) << one.name;
  }
}

TEST(Checkers, AnAttemptOrderedTwice) {
  LogIndex log;
  log.launches["c-1"][1] = {10, 20};
  std::vector<Violation> out;
  check_one_open_attempt(log, out);
  EXPECT_EQ(count_of(out, "one-attempt"), 1u);
}

TEST(Checkers, LimitsCountWhatRunsAndStays) {
  sim::Scenario scenario = sim::plain_scenario();
  scenario.pools[0].limits = {{"cpu", 7'000}, {"nodes", 2}};
  Bench bench(scenario);
  const std::string a = make_claim(bench, "a");
  const std::string b = make_claim(bench, "b");
  bench.ask(sim::order_for(a, 1, "t-a"));
  std::vector<Violation> out;
  check_limits(bench.world, {}, out);
  EXPECT_TRUE(out.empty());
  bench.ask(sim::order_for(b, 1, "t-b"));
  check_limits(bench.world, {}, out);
  EXPECT_EQ(count_of(out, "limits"), 1u) << "8 of 7 cores; 2 nodes of 2 are allowed";
  LogIndex leaving;
  leaving.delete_requests["a"] = 1;  // asked to go before the second order (position 4)
  out.clear();
  check_limits(bench.world, leaving, out);
  EXPECT_TRUE(out.empty());
}

TEST(Checkers, ANoticeThatNobodyHeeds) {
  const struct {
    const char* name;
    std::optional<std::int64_t> given_up;
    std::optional<std::int64_t> start;
    std::size_t want;
  } cases[] = {{"at once", 100'500, std::nullopt, 0},
               {"before", 50'000, std::nullopt, 0},
               {"late", 105'000, std::nullopt, 1},
               {"never", std::nullopt, std::nullopt, 1},
               {"the process was starting", 105'000, 90'000, 0}};
  for (const auto& one : cases) {
    LogIndex log;
    log.notices["kwok://i"] = 100'000;
    log.claim_of["kwok://i"] = "c-1";
    log.answered["kwok://i"] = 1'000;
    log.name_of["c-1"] = "a";
    if (one.given_up) log.given_up["a"] = *one.given_up;
    if (one.start) log.starts = {*one.start};
    std::vector<Violation> out;
    check_interruptions_heeded(log, out);
    EXPECT_EQ(count_of(out, "heeded"), one.want) << one.name;
  }
}

TEST(Checkers, MoreEmptyNodesLeaveThanTheBudgetAllows) {
  for (const auto& [budget, want] :
       {std::pair{"2", 0u}, std::pair{"1", 1u}, std::pair{"50%", 0u}}) {
    sim::Scenario scenario = sim::plain_scenario();
    scenario.pools[0].budgets = {model::Budget{budget, {}, "", 0}};
    Bench bench(scenario);
    make_claim(bench, "a");
    make_claim(bench, "b");
    LogIndex log;
    log.commands[5] = life_of(deletion_of("a"), "empty", bench.world.now());
    log.commands[6] = life_of(deletion_of("b"), "empty", bench.world.now() + 1);
    log.delete_requests = {{"a", 5}, {"b", 6}};
    std::vector<Violation> out;
    check_budgets(bench.world, log, out);
    EXPECT_EQ(count_of(out, "budgets"), want) << budget;
  }
}

TEST(Checkers, OrphansInEveryDirection) {
  Bench bench;
  const std::string uid = make_claim(bench, "a");
  bench.ask(sim::order_for(uid, 1, "t-a"));
  std::vector<Violation> out;
  check_no_orphans(bench.world, out);
  EXPECT_TRUE(out.empty());
  bench.ask(sim::order_for("nobody", 1, "t-b"));
  check_no_orphans(bench.world, out);
  EXPECT_EQ(count_of(out, "orphans"), 1u) << "a machine without a claim";
  bench.ask(sim::order_for(uid, 2, "t-c"));
  out.clear();
  check_no_orphans(bench.world, out);
  EXPECT_EQ(count_of(out, "orphans"), 2u) << "and a claim with two machines";
  bench.ask(model::DeleteObject{{model::ObjectKind::kNodeClaim, "", "a", uid}});
  out.clear();
  check_no_orphans(bench.world, out);
  EXPECT_EQ(count_of(out, "orphans"), 3u) << "and a claim that does not go";
}

TEST(Checkers, CommandsThatDoNotEnd) {
  Bench bench;
  const std::int64_t now = bench.world.now();
  const struct {
    const char* name;
    std::int64_t millis;
    std::optional<std::uint64_t> ended;
    bool blocked;
    std::size_t want;
  } cases[] = {{"long ago", now - 2 * kQuietMillis, 9, false, 0},
               {"open", now - 2 * kQuietMillis, std::nullopt, false, 1},
               {"lately", now - 1, 9, false, 1},
               {"lately, held up by a budget", now - 1, 9, true, 0}};
  for (const auto& one : cases) {
    LogIndex log;
    log.commands[5] = life_of(deletion_of("a"), "empty", one.millis);
    log.commands[5].ended = one.ended;
    log.commands[5].blocked = one.blocked;
    std::vector<Violation> out;
    check_commands_end(bench.world, log, out);
    EXPECT_EQ(count_of(out, "quiet"), one.want) << one.name;
  }
}

TEST(Checkers, PodsThatCouldBePlaced) {
  const struct {
    const char* name;
    std::int64_t cpu_millis;
    std::vector<std::pair<std::string, std::int64_t>> limits;
    std::size_t want;
  } cases[] = {{"fits a machine", 1'000, {}, 1},
               {"fits none", 5'000, {}, 0},
               {"the pool is full", 1'000, {{"cpu", 3'000}}, 0}};
  for (const auto& one : cases) {
    sim::Scenario scenario = sim::plain_scenario();
    scenario.pools[0].limits = one.limits;
    sim::Workload web;
    web.name = "web";
    web.shape = sim::pod_of(one.cpu_millis);
    web.timeline = {{0, 1}};
    scenario.workloads = {web};
    Bench bench(scenario);
    bench.run(5'000);
    std::vector<Violation> out;
    check_pods_bound(bench.world, out);
    EXPECT_EQ(count_of(out, "bound"), one.want) << one.name;
  }
}

TEST(Checkers, MessagesThatStay) {
  sim::Scenario scenario = sim::plain_scenario();
  scenario.interruptions = {{60'000, ""}};
  Bench bench(scenario);
  bench.ask(sim::order_for("c-1", 1, "t-1"));
  bench.run(120'000);
  std::vector<Violation> out;
  check_messages_consumed(bench.world, out);
  EXPECT_EQ(count_of(out, "messages"), 1u);
  for (const ports::Fact& fact : bench.facts.all)
    if (!fact.receipt.empty()) bench.world.queue().acknowledge(fact.receipt);
  out.clear();
  check_messages_consumed(bench.world, out);
  EXPECT_TRUE(out.empty());
}

}  // namespace
}  // namespace karst::simulation
