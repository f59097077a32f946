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
