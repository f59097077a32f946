// The pod table against a plain map of what was observed: every path into it (fresh, refreshed in
// place, moved between indexes, gone, expected) must leave the same rows, indexes and digest as a
// table that was told only the last state.
#include "projections/pod_table.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <string>

namespace karst::projections {
namespace {

model::PodShape shape_of_cpu(std::int64_t cpu_millis) {
  model::PodShape shape;
  shape.requests.cpu_millis = cpu_millis;
  shape.requests.pods = 1;
  shape.owner_kind = model::OwnerKind::kReplicaSet;
  return shape;
}

const model::PodShape kShapes[] = {shape_of_cpu(100), shape_of_cpu(200)};
const model::ShapeHash kHashes[] = {model::hash_of(kShapes[0]), model::hash_of(kShapes[1])};

const model::PodShape* find_shape(const model::ShapeHash& hash) {
  return hash == kHashes[0] ? &kShapes[0] : hash == kHashes[1] ? &kShapes[1] : nullptr;
}

const PodRow& observe(PodTable& table, const model::Pod& pod, std::uint64_t at) {
  std::string scratch;
  const events::PodView view = events::view_pod(pod, scratch);
  if (!table.refresh(view, model::Position(at)))
    table.observe(view, find_shape(pod.shape), model::Position(at),
                  base::LogTime(static_cast<std::int64_t>(at)));
  return table.row_of(pod.uid.str());
}

model::Pod pod_of(int number, int node, int shape, bool ready, model::PodPhase phase) {
  model::Pod pod;
  pod.uid = model::PodUid("uid-" + std::to_string(number));
  pod.namespace_name = "default";
  pod.name = "web-" + std::to_string(number);
  pod.shape = kHashes[shape];
  pod.labels = {{"app", "web"}};
  if (node > 0) pod.node = model::NodeName("node-" + std::to_string(node));
  pod.phase = phase;
  pod.ready = ready;
  pod.unschedulable = node == 0;
  return pod;
}

PodTable saved_and_loaded(const PodTable& table) {
  base::ByteWriter writer;
  table.save(writer);
  PodTable loaded;
  base::ByteReader reader(writer.view());
  RC_ASSERT(loaded.load(reader, find_shape));
  return loaded;
}

TEST(PodTable, AnyWayToAStateIsTheSameState) {
  EXPECT_TRUE(rc::check([] {
    PodTable table;
    std::map<std::string, model::Pod> truth;
    const int steps = *rc::gen::inRange(1, 60);
    for (int step = 1; step <= steps; ++step) {
      const auto at = static_cast<std::uint64_t>(step);
      const int number = *rc::gen::inRange(0, 6);
      const std::string uid = "uid-" + std::to_string(number);
      const int action = *rc::gen::inRange(0, 10);
      if (action == 0) {
        RC_ASSERT(table.erase(uid) == (truth.erase(uid) == 1));
      } else if (action == 1) {
        RC_ASSERT(table.expect(uid, model::ClaimName("claim-a"), {}, base::LogTime(step)) ==
                  truth.contains(uid));
      } else {
        const model::Pod pod = pod_of(number, *rc::gen::inRange(0, 3), *rc::gen::inRange(0, 2),
                                      *rc::gen::arbitrary<bool>(),
                                      static_cast<model::PodPhase>(*rc::gen::inRange(0, 4)));
        truth[uid] = pod;
        RC_ASSERT(observe(table, pod, at).to_model() == pod);
      }
    }
    const PodTable loaded = saved_and_loaded(table);
    RC_ASSERT(loaded.digest() == table.digest());
    RC_ASSERT(table.size() == truth.size());
    for (int node = 0; node < 3; ++node) {
      const std::string name = "node-" + std::to_string(node);
      const NodePods* kept = table.on(name);
      const NodePods* fresh = loaded.on(name);
      RC_ASSERT((kept == nullptr) == (fresh == nullptr));
      if (kept == nullptr) continue;
      RC_ASSERT(kept->requests == fresh->requests);
      RC_ASSERT(kept->reschedulable == fresh->reschedulable);
      RC_ASSERT(kept->slots.size() == fresh->slots.size());
    }
    RC_ASSERT(table.pending() == loaded.pending());
    RC_ASSERT(table.newest_pending() == loaded.newest_pending());
    RC_ASSERT(table.expected_on_claim("claim-a").size() ==
              loaded.expected_on_claim("claim-a").size());
  }));
}

TEST(PodTable, ARefreshChangesTheDigestAsAnObservationDoes) {
  PodTable refreshed, observed;
  const model::Pod before = pod_of(1, 1, 0, false, model::PodPhase::kRunning);
  const model::Pod after = pod_of(1, 1, 0, true, model::PodPhase::kRunning);
  observe(refreshed, before, 1);
  observe(observed, before, 1);
  std::string scratch;
  ASSERT_TRUE(refreshed.refresh(events::view_pod(after, scratch), model::Position(2)));
  observed.observe(events::view_pod(after, scratch), &kShapes[0], model::Position(2),
                   base::LogTime(2));
  EXPECT_EQ(refreshed.digest(), observed.digest());
  EXPECT_TRUE(refreshed.row_of("uid-1").ready);
}

TEST(PodTable, WhatARefreshMustNotTake) {
  struct Row {
    const char* name;
    model::Pod pod;
  };
  const model::Pod known = pod_of(1, 1, 0, true, model::PodPhase::kRunning);
  model::Pod labelled = known;
  labelled.labels = {{"app", "db"}};
  model::Pod leaving = known;
  leaving.deletion_millis = 5;
  model::Pod nominated = known;
  nominated.nominated_node = model::NodeName("node-2");
  const Row rows[] = {
      {"another pod", pod_of(2, 1, 0, true, model::PodPhase::kRunning)},
      {"another node", pod_of(1, 2, 0, true, model::PodPhase::kRunning)},
      {"no node", pod_of(1, 0, 0, true, model::PodPhase::kRunning)},
      {"another shape", pod_of(1, 1, 1, true, model::PodPhase::kRunning)},
      {"ended", pod_of(1, 1, 0, true, model::PodPhase::kSucceeded)},
      {"other labels", labelled},
      {"being deleted", leaving},
      {"nominated elsewhere", nominated},
  };
  for (const Row& row : rows) {
    PodTable table;
    observe(table, known, 1);
    const base::Hash128 digest = table.digest();
    std::string scratch;
    EXPECT_FALSE(table.refresh(events::view_pod(row.pod, scratch), model::Position(2))) << row.name;
    EXPECT_EQ(table.digest(), digest) << row.name;
  }
}

// 300,000 uids have some ten pairs with equal short hashes, which share a chain.
TEST(PodTable, PodsWithEqualShortHashesAreKeptApart) {
  constexpr int kPods = 300'000;
  PodTable table;
  for (int number = 0; number < kPods; ++number)
    observe(table, pod_of(number, 1 + number % 3000, 0, true, model::PodPhase::kRunning), 1);
  ASSERT_EQ(table.size(), std::size_t{kPods});
  int shared = 0;
  for (int number = 0; number < kPods; ++number) {
    const PodRow* row = table.find("uid-" + std::to_string(number));
    ASSERT_NE(row, nullptr) << number;
    ASSERT_EQ(row->name, "web-" + std::to_string(number));
    shared += row->next_of_hash == PodRow::kNoSlot ? 0 : 1;
  }
  EXPECT_GT(shared, 0);
  for (int number = 0; number < kPods; number += 2)
    ASSERT_TRUE(table.erase("uid-" + std::to_string(number)));
  for (int number = 0; number < kPods; ++number)
    ASSERT_EQ(table.find("uid-" + std::to_string(number)) == nullptr, number % 2 == 0) << number;
  for (int number = 1; number < kPods; number += 2) table.erase("uid-" + std::to_string(number));
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.digest(), base::Hash128{});
}

}  // namespace
}  // namespace karst::projections
