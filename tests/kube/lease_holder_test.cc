// How a replica leaves: it stands down, so that nothing is won and told behind its back, and gives
// the lease back at the version that its last renewal made.
#include "kube/lease_holder.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "tests/kube/fake_transport.h"

namespace karst::kube {
namespace {

using nlohmann::json;
using testing_kube::FakeClock;
using testing_kube::FakeSink;
using testing_kube::FakeTransport;

constexpr const char* kThisReplica = "host_1";

// What is to be done at once is done at once, by whoever asks.
class AtOnceTransport final : public FakeTransport {
 public:
  void after(std::int64_t millis, std::function<void()> action) override {
    if (millis > 0) return FakeTransport::after(millis, std::move(action));
    action();
    if (const auto kept = then) kept->set_value();
  }
  std::shared_ptr<std::promise<void>> then;  // kept after each such action
};

std::string held(const std::string& holder, int transitions, const std::string& version) {
  return json{{"metadata", {{"name", "l"}, {"namespace", "n"}, {"resourceVersion", version}}},
              {"spec",
               {{"holderIdentity", holder},
                {"renewTime", "at " + version},
                {"leaseTransitions", transitions},
                {"leaseDurationSeconds", 15}}}}
      .dump();
}

struct LeaseHolderTest : ::testing::Test {
  LeaseHolderTest() {
    LeaseHolder::Told told;
    told.won = [this] { ++won; };
    told.notice = [](bool, const std::string&) {};
    holder.emplace(client, LeaseName{"n", "l", kThisReplica}, sink, clock, std::move(told));
    holder->start(0);
  }
  void lead() {
    transport.answer(200, held("", 3, "7"));
    transport.answer(200, held(kThisReplica, 4, "8"));
  }
  // Does it on another thread, and returns when that waits for an answer.
  template <class Work>
  std::thread beside(Work work) {
    const auto taken_in = std::make_shared<std::promise<void>>();
    transport.then = taken_in;
    std::thread thread(work);
    taken_in->get_future().wait();
    transport.then = nullptr;
    return thread;
  }
  std::thread standing_down() {
    return beside([this] { holder->stand_down(); });
  }
  json given_back() {
    std::thread releasing = beside([this] { holder->release(); });
    const json body = json::parse(transport.answer(200, "{}").body);
    releasing.join();
    return body;
  }
  AtOnceTransport transport;
  Client client{transport, ServerAccess{}, "karst/test"};
  FakeSink sink;
  FakeClock clock;
  int won = 0;
  std::optional<LeaseHolder> holder;
};

TEST_F(LeaseHolderTest, ATermThatIsWonWhileStandingDownIsToldToNobodyAndGivenBack) {
  transport.answer(200, held("", 3, "7"));  // free: the bid goes out
  ASSERT_EQ(transport.open.size(), 1u);
  std::thread leaving = standing_down();
  transport.answer(200, held(kThisReplica, 4, "8"));
  leaving.join();
  EXPECT_EQ(won, 0);
  EXPECT_TRUE(sink.all<events::EpochOpened>().empty());
  EXPECT_TRUE(transport.open.empty());
  const json given = given_back();
  EXPECT_EQ(given["spec"]["holderIdentity"], "");
  EXPECT_EQ(given["metadata"]["resourceVersion"], "8");
}

TEST_F(LeaseHolderTest, TheLeaseIsGivenBackAtTheVersionOfTheRenewalThatWasUnderWay) {
  lead();
  ASSERT_EQ(won, 1);
  transport.advance(kLeaseRetryMillis);  // the renewal goes out
  ASSERT_EQ(transport.open.size(), 1u);
  std::thread leaving = standing_down();
  transport.answer(200, held(kThisReplica, 4, "9"));
  leaving.join();
  EXPECT_GT(holder->send_deadline_monotonic_millis(4), clock.now_millis) << "it lasts until then";
  EXPECT_EQ(given_back()["metadata"]["resourceVersion"], "9");
  EXPECT_EQ(holder->send_deadline_monotonic_millis(4), INT64_MIN);
}

TEST_F(LeaseHolderTest, AfterStandingDownNothingIsAskedAnyMore) {
  lead();
  holder->stand_down();  // nothing is under way: it does not wait
  transport.advance(60'000);
  EXPECT_TRUE(transport.open.empty());
}

TEST_F(LeaseHolderTest, AFirstReadOnTheWayIsNoBid) {
  std::thread leaving = standing_down();
  transport.answer(200, held("", 3, "7"));
  leaving.join();
  EXPECT_TRUE(transport.open.empty());
  holder->release();
  EXPECT_TRUE(transport.open.empty()) << "there is nothing to give back";
}

}  // namespace
}  // namespace karst::kube
