// Placing and dealing out allocate by claim and by row, never by pod: ten times the pods on as many
// claims take no more of the heap. Counted where C++ asks for memory: this program's operator new.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "tests/scheduling/cases.h"

namespace {
thread_local std::int64_t allocations = 0;

void* counted(std::size_t bytes) noexcept {
  ++allocations;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
}  // namespace

// All the forms that one object without an alignment of its own comes in. Not inlined: the compiler
// knows new and delete as a pair, and malloc and free as another.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const place = counted(bytes);
  if (place == nullptr) throw std::bad_alloc();
  return place;
}
[[gnu::noinline]] void* operator new(std::size_t bytes,
                                     const std::nothrow_t& /*nothrow*/) noexcept {
  return counted(bytes);
}
[[gnu::noinline]] void operator delete(void* place) noexcept {
  std::free(place);
}
[[gnu::noinline]] void operator delete(void* place, std::size_t /*bytes*/) noexcept {
  std::free(place);
}
[[gnu::noinline]] void operator delete(void* place, const std::nothrow_t& /*nothrow*/) noexcept {
  std::free(place);
}

namespace karst::scheduling::test {
namespace {

struct Tally {
  std::int64_t allocations = 0;
  std::int64_t pods = 0;
  std::size_t hosts = 0;  // that pods are on
};

Tally solved(const Problem& problem) {
  const std::int64_t before = allocations;
  const Answer answer = solve(problem);
  const std::int64_t after = allocations;
  return {after - before, placed(answer), answer.claims.size() + answer.placements.size()};
}

// Machines take as many pods as have room.
Pool roomy() {
  Pool pool = by_the_cpu(40);
  std::vector<InstanceType> types = pool.types.items();
  for (InstanceType& type : types) type.capacity.pods = type.allocatable.pods = 1'000'000;
  pool.types = types;
  return pool;
}

model::SpreadConstraint over(const std::string& key, int skew) {
  model::SpreadConstraint spread;
  spread.topology_key = key;
  spread.max_skew = skew;
  spread.selector.expressions = {in("app", {"web"})};
  return spread;
}

struct Kind {
  const char* name;
  std::vector<model::SpreadConstraint> spreads;
  bool has_nodes = false;
};

// 500 pods for each of so many `parts`, or `times` as many of which each is as much smaller.
Problem parted(const Kind& kind, std::int64_t parts, std::int64_t times) {
  std::vector<PodGroup> groups = {asking(200 * parts * times, 400 / times, 800 / times),
                                  asking(300 * parts * times, 200 / times, 200 / times)};
  for (PodGroup& group : groups) {
    group.labels = {{"app", "web"}};
    group.shape.spread = kind.spreads;
  }
  Problem result = problem(groups, {roomy()});
  if (!kind.has_nodes) return result;
  const Answer bought = solve(result);
  for (const char* name : {"node-1", "node-2"})
    result.nodes.push_back(node_of(result, bought.claims.front(), name));
  return result;
}

TEST(Allocations, ByClaimAndByRowNotByPod) {
  const Kind kinds[] = {{"without ties", {}},
                        {"over zones", {over(kZone, 1)}},
                        {"over hosts", {over(kHost, 1'000'000)}},
                        {"over both", {over(kZone, 1), over(kHost, 1'000'000)}},
                        {"onto nodes", {}, true},
                        {"onto nodes, over zones", {over(kZone, 2'000)}, true}};
  // Both sides of how many pods are dealt out in more ways (scheduling/refill.h, kEvenPodsMax).
  for (const auto& [parts, times] : {std::pair{1, 4}, std::pair{20, 10}})
    for (const Kind& kind : kinds) {
      solved(parted(kind, parts, 1));  // what is made once a program
      const Tally few = solved(parted(kind, parts, 1)), many = solved(parted(kind, parts, times));
      ASSERT_EQ(few.pods, 500 * parts) << kind.name;
      ASSERT_EQ(many.pods, few.pods * times) << kind.name;
      ASSERT_LE(many.hosts, few.hosts + 3) << kind.name;
      // What lists take that double as they grow, and a claim or two.
      EXPECT_LT(many.allocations - few.allocations, (many.pods - few.pods) / 10)
          << kind.name << ", " << many.pods << " pods";
    }
}

}  // namespace
}  // namespace karst::scheduling::test
