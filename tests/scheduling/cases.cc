#include "tests/scheduling/cases.h"

#include <gtest/gtest.h>

namespace karst::scheduling::test {
namespace {

std::string pods_line(const std::vector<Share>& pods) {
  std::string line;
  for (const Share& share : pods)
    line += " " + std::to_string(share.group) + "*" + std::to_string(share.count);
  return line;
}

}  // namespace

void expect_case(const Case& test) {
  SCOPED_TRACE(test.name);
  const Answer answer = solve(test.problem);
  EXPECT_EQ("", wrong(test.problem, answer));
  EXPECT_EQ(answer, solve(test.problem));
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

}  // namespace karst::scheduling::test
