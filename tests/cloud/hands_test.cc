// What every cloud's hands share: the bound of commands in flight, and lists that say nothing
// about what was being changed while they ran.
#include "cloud/hands.h"

#include <gtest/gtest.h>

#include <deque>

#include "ports/outcome.h"
#include "tests/kube/fake_transport.h"

namespace karst::cloud {
namespace {

using testing_kube::FakeClock;
using testing_kube::FakeSink;

struct Actions {
  std::deque<std::pair<std::int64_t, std::function<void()>>> open;
  void run(std::int64_t millis_max) {
    for (std::size_t left = open.size(); left > 0; --left) {
      auto [millis, action] = std::move(open.front());
      open.pop_front();
      if (millis > millis_max)
        open.emplace_back(millis, std::move(action));
      else
        action();
    }
  }
};

class IdleHands final : public Hands {
 public:
  using Hands::List;
  IdleHands(Actions& actions, FakeSink& sink, FakeClock& clock)
      : Hands([&actions](auto millis, auto action) { actions.open.emplace_back(millis, action); },
              sink, clock) {}
  void end(const ports::IssuedCommand& command) { settle(ports::done(command)); }
  std::function<void()> work_of(const Command&) override {
    return [] {};
  }
  void list(std::function<void(List)> complete, std::function<void()>) override {
    asked = std::move(complete);
  }
  std::function<void(List)> asked;
};

struct HandsTest : ::testing::Test {
  ports::IssuedCommand terminate(std::uint64_t position) {
    return {{model::LogId("log"), model::Position(position)}, 1, model::Terminate{}};
  }
  std::size_t lists() { return sink.all<events::ListEnded>().size(); }
  Actions actions;
  FakeClock clock;
  FakeSink sink;
  IdleHands hands{actions, sink, clock};
};

TEST_F(HandsTest, AListBesideATerminationIsTakenAgain) {
  hands.start();
  actions.run(0);
  hands.submit(terminate(1));
  actions.run(0);
  hands.asked({});
  EXPECT_EQ(lists(), 0u) << "it ran beside a termination";
  hands.end(terminate(1));
  actions.run(kListAgainMillis);
  hands.asked({});
  EXPECT_EQ(lists(), 1u);
}

// Terminations follow each other without a pause, each for some other machine.
TEST_F(HandsTest, AListAmongChangesWithoutEndIsToldOfEverythingElse) {
  const auto machine = [](const std::string& id, const std::string& claim) {
    model::Instance one;
    one.provider_id = model::ProviderId("aws:///a/" + id);
    one.claim = model::ClaimUid(claim);
    return one;
  };
  model::Launch launch;
  launch.items = {{model::ClaimUid("ordered"), model::ClaimName("c"), 1}};
  const ports::IssuedCommand order{{model::LogId("log"), model::Position(1)}, 1, launch};
  const auto terminate_one = [](std::uint64_t position) {
    model::Terminate spec;
    spec.provider_id = model::ProviderId("aws:///a/i-" + std::to_string(position));
    return ports::IssuedCommand{{model::LogId("log"), model::Position(position)}, 1, spec};
  };
  hands.submit(order);  // never answered
  std::uint64_t next = 2;
  hands.submit(terminate_one(next));
  hands.start();
  actions.run(0);
  int taken = 0;
  for (const std::int64_t began = clock.now_millis; lists() == 0; ++taken) {
    ASSERT_LE(clock.now_millis - began, 2 * kListBesideMillis);
    hands.submit(terminate_one(next + 1));
    actions.run(0);
    hands.end(terminate_one(next++));
    IdleHands::List all;
    for (const char* id : {"i-1000", "i-2000"}) all.instances.push_back(machine(id, "other"));
    all.instances.push_back(machine("i-1001", "ordered"));
    all.instances.push_back(machine("i-" + std::to_string(next), "ending"));
    hands.asked(std::move(all));
    if (lists() > 0) break;
    ASSERT_EQ(actions.open.size(), 1u);
    clock.now_millis += actions.open.front().first;
    actions.run(kListBesideMillis);
  }
  EXPECT_LE(taken, 8) << "and not every second";
  std::string seen;
  for (const auto& one : sink.all<events::InstanceObserved>())
    seen += one.instance.provider_id.str() + " ";
  EXPECT_EQ(seen, "aws:///a/i-1000 aws:///a/i-2000 ");
  const std::vector<std::string> unsure = sink.all<events::ListEnded>().front().unsure;
  EXPECT_EQ(unsure, (std::vector<std::string>{"ordered", "aws:////i-" + std::to_string(next - 1),
                                              "aws:////i-" + std::to_string(next)}))
      << "what was under way when the list began, and what began since";
  ASSERT_EQ(actions.open.size(), 1u);
  EXPECT_EQ(actions.open.front().first, kInstanceListMillis);
}

TEST_F(HandsTest, WhatIsRefusedForItsNumberHoldsUpNoList) {
  for (std::uint64_t i = 1; i <= ports::kInFlightMax + 1; ++i) hands.submit(terminate(i));
  actions.run(0);
  const auto refused = sink.all<model::Outcome>();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused.front().code, model::RefusalCode::kThrottled);
  EXPECT_EQ(refused.front().command.value(), ports::kInFlightMax + 1);
  for (std::uint64_t i = 1; i <= ports::kInFlightMax; ++i) hands.end(terminate(i));
  hands.start();
  actions.run(0);
  hands.asked({});
  EXPECT_EQ(lists(), 1u);
}

}  // namespace
}  // namespace karst::cloud
