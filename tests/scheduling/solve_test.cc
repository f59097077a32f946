// The solver's behaviour as a table: what goes where, at what price, and what is said about the
// rest.
#include <gtest/gtest.h>

#include "scheduling/problem.h"
#include "tests/scheduling/build.h"

namespace karst::scheduling::test {
namespace {

struct Case {
  const char* name;
  Problem problem;
  std::vector<std::string>
      claims;  // "pool type: group*count …" in order, the type being the cheapest
  std::vector<std::string> on_nodes;
  std::vector<std::string> unplaced;  // "group*count code[,code]"
};

std::string pods_line(const std::vector<Share>& pods) {
  std::string line;
  for (const Share& share : pods)
    line += " " + std::to_string(share.group) + "*" + std::to_string(share.count);
  return line;
}

void expect_case(const Case& test) {
  SCOPED_TRACE(test.name);
  const Answer answer = solve(test.problem);
  EXPECT_EQ("", wrong(test.problem, answer));
  std::vector<std::string> claims, on_nodes, unplaced;
  for (const NewClaim& claim : answer.claims)
    claims.push_back(test.problem.pools[claim.pool].pool.name.str() + " " +
                     claim.offers.front().instance_type + ":" + pods_line(claim.pods));
  for (const NodePlacement& placement : answer.placements)
    on_nodes.push_back(test.problem.nodes[placement.node].name + ":" + pods_line(placement.pods));
  for (const Unplaced& left : answer.unplaced) {
    std::string codes;
    for (const PoolReason& reason : left.reasons) codes += (codes.empty() ? "" : ",") + reason.code;
    unplaced.push_back(std::to_string(left.group) + "*" + std::to_string(left.count) + " " + codes);
  }
  EXPECT_EQ(test.claims, claims) << describe(test.problem, answer);
  EXPECT_EQ(test.on_nodes, on_nodes) << describe(test.problem, answer);
  EXPECT_EQ(test.unplaced, unplaced) << describe(test.problem, answer);
}

TEST(Solve, PacksNewClaims) {
  const std::vector<Case> cases = {
      {"nothing to do", problem({}), {}, {}, {}},
      {"one pod gets the smallest type", problem({pods(1, 500)}), {"default m1: 0*1"}, {}, {}},
      {"a group fills a node exactly", problem({pods(4, 1000)}), {"default m4: 0*4"}, {}, {}},
      {"too large for any type", problem({pods(2, 9000)}), {}, {}, {"0*2 resources"}},
      {"small pods ride along",
       problem({pods(1, 3000), pods(2, 500)}),
       {"default m4: 0*1 1*2"},
       {},
       {}},
      {"no pools", problem({pods(1, 100)}, {}), {}, {}, {"0*1 no_pool"}},
  };
  for (const Case& test : cases) expect_case(test);
}

}  // namespace
}  // namespace karst::scheduling::test
