// The solver on pools, limits, existing nodes, DaemonSets and pods that keep to themselves, as
// tables.
#include <gtest/gtest.h>

#include "tests/scheduling/cases.h"

namespace karst::scheduling::test {
namespace {

TEST(Solve, PoolOrder) {
  expect_cases({
      {"weight first",
       problem({pods(1, 500)}, {weighing(pool("a"), 1), weighing(pool("b"), 10)}),
       {"b m1: 0*1"},
       {},
       {}},
      {"equal weights: name descending",
       problem({pods(1, 500)}, {pool("a"), pool("b")}),
       {"b m1: 0*1"},
       {},
       {}},
      {"the next pool when the first is full",
       problem({pods(10, 1000)}, {limited(weighing(pool("b"), 10), "nodes", 1), pool("a")}),
       {"b m8: 0*8", "a m2: 0*2"},
       {},
       {}},
      {"reasons of both",
       problem({pods(1, 9000)}, {tainted(pool("a"), "x"), pool("b")}),
       {},
       {},
       {"0*1 resources,taint"}},
  });
}

TEST(Solve, Limits) {
  expect_cases({
      {"cpu",
       problem({pods(10, 1000)}, {limited(pool(), "cpu", 4000)}),
       {"default m4: 0*4"},
       {},
       {"0*6 limit"}},
      {"cpu in use counts",
       problem({pods(10, 1000)}, {limited(pool(), "cpu", 8000, 6000)}),
       {"default m2: 0*2"},
       {},
       {"0*8 limit"}},
      {"nodes",
       problem({pods(20, 1000)}, {limited(pool(), "nodes", 3, 1)}),
       {"default m8: 0*8", "default m8: 0*8"},
       {},
       {"0*4 limit"}},
      {"none left",
       problem({pods(1, 1000)}, {limited(pool(), "nodes", 3, 3)}),
       {},
       {},
       {"0*1 limit"}},
      {"above the limit already",
       problem({pods(1, 1000)}, {limited(pool(), "cpu", 1000, 5000)}),
       {},
       {},
       {"0*1 limit"}},
      {"a resource that no type has",
       problem({pods(1, 1000)}, {limited(pool(), "nvidia.com/gpu", 0)}),
       {"default m1: 0*1"},
       {},
       {}},
      {"small limits are used up, not guarded",
       problem({pods(7, 1000)}, {limited(pool(), "cpu", 7000)}),
       {"default m4: 0*4", "default m2: 0*2", "default m1: 0*1"},
       {},
       {}},
      {"a node that may still grow when no other is allowed",
       problem({pods(1, 1000), pods(1, 900)}, {limited(pool(), "nodes", 1)}),
       {"default m2: 0*1 1*1"},
       {},
       {}},
  });
}

TEST(Solve, LimitsAreSharedOutAsFurtherTypes) {
  const Problem tight = problem({pods(1, 1000)}, {limited(pool(), "cpu", 4000)});
  const Answer answer = solve(tight);
  ASSERT_EQ(1u, answer.claims.size());
  EXPECT_EQ((std::vector<std::size_t>{0, 1, 2}), answer.claims[0].types);
  EXPECT_EQ(4000, answer.claims[0].max_capacity.cpu_millis);
}

// Two claims of one CPU each under 8: three more for each, of which only m2 and m4 make use, and
// never more than 8 together.
TEST(Solve, SharingOutNeverOvershoots) {
  for (const std::int64_t limit : {2000, 3000, 5000, 6000, 8000, 11000, 16000}) {
    SCOPED_TRACE(limit);
    const Problem tight = problem({alone(pods(2, 1000), "web")}, {limited(pool(), "cpu", limit)});
    const Answer answer = solve(tight);
    EXPECT_EQ("", wrong(tight, answer));
    EXPECT_EQ(2u, answer.claims.size());
  }
  const Answer answer =
      solve(problem({alone(pods(2, 1000), "web")}, {limited(pool(), "cpu", 8000)}));
  for (const NewClaim& claim : answer.claims) EXPECT_EQ(4000, claim.max_capacity.cpu_millis);
}

TEST(Solve, ExistingNodes) {
  const std::string zone(model::kZoneLabel);
  expect_cases({
      {"before new ones, by name",
       on({node("n2", 1000, 8), node("n1", 2000, 8)}, problem({pods(4, 1000)})),
       {"default m1: 0*1"},
       {"n2: 0*1", "n1: 0*2"},
       {}},
      {"initialized ones first",
       on({node("a", 1000, 8, false), node("b", 1000, 8)}, problem({pods(1, 1000)})),
       {},
       {"b: 0*1"},
       {}},
      {"labels are taken at their word",
       on({node("a", 1000, 8)}, problem({selecting(pods(1, 500), zone, "b")})),
       {"default m1: 0*1"},
       {},
       {}},
      {"a label that a node lacks is not any",
       on({node("a", 1000, 8)},
          problem({selecting(pods(1, 500), std::string(model::kArchLabel), "amd64")})),
       {"default m1: 0*1"},
       {},
       {}},
      {"hostname",
       on({node("n1", 1000, 8), node("n2", 1000, 8)},
          problem({selecting(pods(1, 500), std::string(model::kHostnameLabel), "n2")})),
       {},
       {"n2: 0*1"},
       {}},
      {"any term will do there",
       on({node("n1", 1000, 8)},
          problem({with_term(with_term(pods(1, 500), {in(zone, {"b"})}), {in(zone, {"a"})})})),
       {},
       {"n1: 0*1"},
       {}},
      {"taints",
       [] {
         Node dedicated = node("n1", 4000, 8);
         dedicated.taints = {{"db", "", model::TaintEffect::kNoSchedule}};
         return on({dedicated}, problem({pods(1, 500), tolerating(pods(1, 400), "db")}));
       }(),
       {"default m1: 0*1"},
       {"n1: 1*1"},
       {}},
      {"without any pool",
       on({node("n1", 1000, 8)}, problem({pods(2, 1000)}, {})),
       {},
       {"n1: 0*1"},
       {"0*1 no_pool"}},
  });
}

TEST(Solve, Daemons) {
  PodGroup other_arch = selecting(pods(1, 500), std::string(model::kArchLabel), "arm64");
  PodGroup registered = selecting(pods(1, 500), std::string(model::kInitializedLabel), "true");
  PodGroup large_only = selecting(pods(1, 500), std::string(model::kInstanceTypeLabel), "m4");
  expect_cases({
      {"take room", under(pods(1, 500), problem({pods(1, 700)})), {"default m2: 0*1"}, {}, {}},
      {"not where they do not run",
       under(other_arch, problem({pods(1, 700)})),
       {"default m1: 0*1"},
       {},
       {}},
      {"that wait for a started node",
       under(registered, problem({pods(1, 700)})),
       {"default m2: 0*1"},
       {},
       {}},
      {"that tolerate nothing",
       under(pods(1, 500), problem({tolerating(pods(1, 700), "x")}, {tainted(pool(), "x")})),
       {"default m1: 0*1"},
       {},
       {}},
      {"on one type only",
       under(large_only, problem({pods(1, 3600)})),
       {"default m8: 0*1"},
       {},
       {}},
  });
}

TEST(Solve, RequestsCountTheLeastOverhead) {
  const Answer answer = solve(under(pods(1, 200, 0), problem({pods(2, 300)})));
  ASSERT_EQ(1u, answer.claims.size());
  EXPECT_EQ(800, answer.claims[0].requests.cpu_millis);
  EXPECT_EQ(2 * kGi, answer.claims[0].requests.memory_bytes);
  EXPECT_EQ(3, answer.claims[0].requests.pods);
}

TEST(Solve, OnePerNode) {
  PodGroup elsewhere = app(pods(1, 200), "web");
  elsewhere.namespace_name = "other";
  expect_cases({
      {"hostname anti-affinity",
       problem({alone(pods(3, 500), "web")}),
       {"default m1: 0*1", "default m1: 0*1", "default m1: 0*1"},
       {},
       {}},
      {"one on an existing node",
       on({node("n1", 4000, 8)}, problem({alone(pods(2, 500), "web")})),
       {"default m1: 0*1"},
       {"n1: 0*1"},
       {}},
      {"others ride along",
       problem({alone(pods(2, 500), "web"), app(pods(2, 400), "db")}),
       {"default m1: 0*1 1*1", "default m1: 0*1 1*1"},
       {},
       {}},
      {"both ways: repelled pods stay away",
       problem({alone(pods(1, 500), "web"), app(pods(1, 400), "web")}),
       {"default m1: 0*1", "default m1: 1*1"},
       {},
       {}},
      {"both ways: whoever comes first",
       problem({alone(pods(1, 400), "web"), app(pods(1, 500), "web")}),
       {"default m1: 1*1", "default m1: 0*1"},
       {},
       {}},
      {"another namespace does not matter",
       problem({alone(pods(1, 500), "web"), elsewhere}),
       {"default m1: 0*1 1*1"},
       {},
       {}},
      {"host ports",
       problem({with_port(pods(2, 300), 80)}),
       {"default m1: 0*1", "default m1: 0*1"},
       {},
       {}},
      {"host ports of two groups",
       problem(
           {with_port(pods(1, 300), 80), with_port(pods(1, 200), 80), with_port(pods(1, 100), 81)}),
       {"default m1: 0*1 2*1", "default m1: 1*1"},
       {},
       {}},
      {"host ports on two addresses",
       problem({with_port(pods(1, 300), 80, "10.0.0.1"), with_port(pods(1, 200), 80, "10.0.0.2")}),
       {"default m1: 0*1 1*1"},
       {},
       {}},
      {"host port of a daemon",
       under(with_port(pods(1, 100), 80), problem({with_port(pods(1, 300), 80, "10.0.0.1")})),
       {},
       {},
       {"0*1 host_port"}},
      {"one on an existing node, ports",
       on({node("n1", 4000, 8)}, problem({with_port(pods(2, 500), 80)})),
       {"default m1: 0*1"},
       {"n1: 0*1"},
       {}},
  });
}

}  // namespace
}  // namespace karst::scheduling::test
