// Keeping credentials fresh, over a fake transport and clock.
#include <gtest/gtest.h>

#include "cloud/aws/credentials.h"
#include "tests/kube/fake_transport.h"

namespace karst::cloud::aws {
namespace {

using testing_kube::FakeClock;
using testing_kube::FakeTransport;

struct AwsKeeperTest : ::testing::Test {
  void get() {
    keeper.get([this](base::Result<CredentialKeeper::Current> got) {
      answers.push_back(got ? (*got)->access_key_id : "error: " + got.error().message);
      if (got) last = *got;
    });
  }
  void give(const std::string& id, std::int64_t seconds) {
    Credentials keys;
    keys.access_key_id = id;
    keys.secret_access_key = Secret("canary");
    keys.source = "test";
    keys.expires_wall_millis = clock.wall().value() + seconds * 1000;
    answer(std::move(keys));
  }
  void answer(base::Result<Credentials> result) {
    ASSERT_FALSE(asked.empty());
    const Fetched done = std::move(asked.back());
    asked.pop_back();
    done(std::move(result));
  }
  void pass(std::int64_t seconds) {
    for (std::int64_t i = 0; i < seconds; ++i) {
      clock.now_millis += 1000;
      transport.advance(1000);
    }
  }
  std::vector<std::string> take() { return std::exchange(answers, {}); }
  using Strings = std::vector<std::string>;

  FakeTransport transport;
  FakeClock clock;
  ServerTime time{clock};
  std::vector<Fetched> asked;
  Strings answers, notices;
  CredentialKeeper::Current last;
  CredentialKeeper keeper{transport,
                          clock,
                          time,
                          [this](Fetched done) { asked.push_back(std::move(done)); },
                          30'000,
                          [this](bool works, const std::string& line) {
                            notices.push_back((works ? "+" : "-") + line);
                          }};
};

TEST_F(AwsKeeperTest, OneRenewalServesAllWhoWait) {
  get(), get(), get();
  EXPECT_EQ(asked.size(), 1u);
  give("A", 3600);
  EXPECT_EQ(take(), (Strings{"A", "A", "A"}));
  get();
  EXPECT_EQ(take(), Strings{"A"});
  EXPECT_TRUE(asked.empty());
}

TEST_F(AwsKeeperTest, TheyAreRenewedAheadOfTheirEndByTheJitter) {
  get();
  give("A", 3600);
  pass(3600 - 330 - 1);
  EXPECT_TRUE(asked.empty());
  pass(1);
  ASSERT_EQ(asked.size(), 1u);
  get();
  EXPECT_EQ(take(), (Strings{"A", "A"}));  // the old ones serve meanwhile
  give("B", 3600);
  get();
  EXPECT_EQ(take(), Strings{"B"});
  pass(3600 - 331);
  EXPECT_TRUE(asked.empty());
}

TEST_F(AwsKeeperTest, ShortLivesAreRenewedAtTheirHalf) {
  get();
  give("A", 100);
  pass(49);
  EXPECT_TRUE(asked.empty());
  pass(1);
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(AwsKeeperTest, OldOnesStayInUseWhileRenewingFailsAndAreTriedWithGrowingGaps) {
  get();
  give("A", 600);
  pass(300);
  answer(base::fail(base::Kind::kRetry, "STS is down"));
  get();
  EXPECT_EQ(take(), (Strings{"A", "A"}));
  EXPECT_EQ(notices,
            Strings{"-AWS credentials cannot be had, the old ones stay in use: STS is down"});
  int attempts = 0;
  for (int second = 0; second < 250; ++second) {
    pass(1);
    if (asked.empty()) continue;
    ++attempts;
    answer(base::fail(base::Kind::kRetry, "STS is down"));
  }
  EXPECT_EQ(attempts, 6);  // after 5, 10, 20, 40, 60, 60 seconds
  EXPECT_EQ(notices.size(), 1u);
  pass(50);  // they are over
  get();
  ASSERT_FALSE(asked.empty());
  EXPECT_TRUE(take().empty());
  answer(base::fail(base::Kind::kRetry, "STS is down"));
  EXPECT_EQ(take(), Strings{"error: STS is down"});
  get();  // too soon to ask again
  EXPECT_EQ(take(), Strings{"error: STS is down"});
  pass(60);
  get();
  give("B", 3600);
  EXPECT_EQ(take(), Strings{"B"});
  EXPECT_EQ(notices.back(), "+AWS credentials are renewed again: test");
}

TEST_F(AwsKeeperTest, RefusedOnesAreRenewedAtOnceButNotOverAndOver) {
  get();
  give("A", 3600);
  take();
  pass(10);
  keeper.refused(last);
  ASSERT_EQ(asked.size(), 1u);
  get();
  EXPECT_TRUE(take().empty());  // nobody signs with what was just refused
  const auto old = last;
  give("B", 3600);
  EXPECT_EQ(take(), Strings{"B"});
  keeper.refused(old);   // of a call that was under way
  keeper.refused(last);  // just renewed
  EXPECT_TRUE(asked.empty());
  pass(6);
  keeper.refused(last);
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(AwsKeeperTest, WhatIsOverAtOnceIsAMatterOfTheClock) {
  get();
  give("A", 5);
  EXPECT_EQ(take(), Strings{"error: test gives credentials that are over already, or this "
                            "machine's clock is wrong; let NTP set it"});
}

TEST_F(AwsKeeperTest, ForTheirEndTheServicesTimeCounts) {
  get();
  give("A", 3600);
  take();
  http::Response response;
  response.headers = {{"date", "Thu, 01 Jan 1970 02:00:00 GMT"}};  // 6200 s ahead of our clock
  EXPECT_EQ(time.observe(response), 6'200'000);
  get();
  EXPECT_EQ(asked.size(), 1u);
  response.headers = {{"date", "Thu, 01 Jan 1970 00:16:50 GMT"}};
  EXPECT_EQ(time.observe(response), 10'000);
  EXPECT_EQ(time.offset_millis(), 0);
}

}  // namespace
}  // namespace karst::cloud::aws
