// Leader election: what is asked and when, by table; and many runs of several replicas against one
// lease, with lost, slow and late messages, stops, and clocks that start anywhere and run at
// different rates: no two of them ever lead at once.
#include "kube/lease_protocol.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <vector>

namespace karst::kube {
namespace {

using nlohmann::json;
using Kind = LeaseProtocol::Request::Kind;

constexpr const char* kMe = "host_1";

std::string lease(const std::string& holder, const std::string& renewed, int transitions,
                  const std::string& version = "7", int seconds = 15) {
  return json{
      {"apiVersion", "coordination.k8s.io/v1"},
      {"kind", "Lease"},
      {"metadata", {{"name", "l"}, {"namespace", "n"}, {"resourceVersion", version}, {"uid", "u"}}},
      {"spec",
       {{"holderIdentity", holder},
        {"renewTime", renewed},
        {"leaseTransitions", transitions},
        {"leaseDurationSeconds", seconds},
        {"strategy", "kept"}}}}
      .dump();
}

struct LeaseProtocolTest : ::testing::Test {
  LeaseProtocol::Answer ok(const std::string& body, int status = 200) {
    kept = body;
    return {status, kept, {}};
  }
  // Wins a free lease at 0 ms: the write is sent at 0 and answered at 100.
  void win() {
    protocol.start({0, 0});
    const auto step = protocol.answered({0, 0}, ok(lease("", "a", 3)));
    ASSERT_TRUE(step.request);
    EXPECT_EQ(step.request->kind, Kind::kUpdate);
    const auto rest = protocol.answered({100, 0}, ok(lease(kMe, "b", 4, "8")));
    EXPECT_EQ(rest.wait_millis, kLeaseRetryMillis);
    ASSERT_EQ(protocol.epoch(), 4u);
    ASSERT_EQ(protocol.deadline(), kLeaseRenewDeadlineMillis);
  }
  LeaseProtocol protocol{{"n", "l", kMe}, 0};
  std::string kept;
};

TEST_F(LeaseProtocolTest, MakesTheLeaseThatIsNotThere) {
  EXPECT_EQ(protocol.start({5, 0}).request->kind, Kind::kGet);
  const auto step = protocol.answered({5, 1'000'042}, {404, "{}", "HTTP 404"});
  ASSERT_TRUE(step.request);
  EXPECT_EQ(step.request->kind, Kind::kCreate);
  const json made = json::parse(step.request->body);
  EXPECT_EQ(made["metadata"], (json{{"name", "l"}, {"namespace", "n"}}));
  EXPECT_EQ(made["spec"], (json{{"holderIdentity", kMe},
                                {"leaseDurationSeconds", 15},
                                {"leaseTransitions", 1},
                                {"acquireTime", "1970-01-01T00:16:40.042000Z"},
                                {"renewTime", "1970-01-01T00:16:40.042000Z"}}));
  protocol.answered({60, 0}, ok(lease(kMe, "a", 1), 201));
  EXPECT_EQ(protocol.epoch(), 1u);
  EXPECT_EQ(protocol.deadline(), 5 + kLeaseRenewDeadlineMillis) << "it counts from the send";
}

TEST_F(LeaseProtocolTest, ATermAfterTheLeaseWasDeletedHasAHigherNumber) {
  win();
  protocol.timer({kLeaseRenewDeadlineMillis + 1, 0});
  EXPECT_EQ(protocol.epoch(), 0u);
  const auto step = protocol.answered({kLeaseRenewDeadlineMillis + 2, 0}, {404, "{}", "HTTP 404"});
  ASSERT_TRUE(step.request);
  EXPECT_EQ(json::parse(step.request->body)["spec"]["leaseTransitions"], 5);
  protocol.answered({kLeaseRenewDeadlineMillis + 3, 0}, ok(lease(kMe, "c", 5, "9"), 201));
  EXPECT_EQ(protocol.epoch(), 5u);
}

TEST_F(LeaseProtocolTest, AForeignLeaseCountsFromWhenWeSawItChange) {
  protocol.start({1'000, 0});
  // Its clock is years behind; that is no concern of ours.
  EXPECT_FALSE(protocol.answered({1'000, 0}, ok(lease("other", "1999", 3))).request);
  EXPECT_EQ(protocol.holder(), "other");
  EXPECT_EQ(protocol.timer({15'900, 0}).request->kind, Kind::kGet);
  EXPECT_FALSE(protocol.answered({15'999, 0}, ok(lease("other", "1999", 3))).request);
  protocol.timer({17'000, 0});
  EXPECT_FALSE(protocol.answered({17'000, 0}, ok(lease("other", "2000", 3, "8"))).request)
      << "it was renewed";
  protocol.timer({31'999, 0});
  EXPECT_FALSE(protocol.answered({31'999, 0}, ok(lease("other", "2000", 3, "8"))).request);
  protocol.timer({32'000, 0});
  const auto step = protocol.answered({32'000, 0}, ok(lease("other", "2000", 3, "8")));
  ASSERT_TRUE(step.request);
  const json bid = json::parse(step.request->body);
  EXPECT_EQ(bid["spec"]["holderIdentity"], kMe);
  EXPECT_EQ(bid["spec"]["leaseTransitions"], 4);
  EXPECT_EQ(bid["spec"]["strategy"], "kept");
  EXPECT_EQ(bid["metadata"]["resourceVersion"], "8") << "or two could win";
}

TEST_F(LeaseProtocolTest, ItsOwnDurationCountsForAForeignLease) {
  protocol.start({0, 0});
  EXPECT_FALSE(protocol.answered({0, 0}, ok(lease("other", "a", 3, "7", 60))).request);
  EXPECT_FALSE(protocol.answered({59'999, 0}, ok(lease("other", "a", 3, "7", 60))).request);
  EXPECT_TRUE(protocol.answered({60'000, 0}, ok(lease("other", "a", 3, "7", 60))).request);
}

TEST_F(LeaseProtocolTest, RenewsWithoutReadingAndKeepsItsEpoch) {
  win();
  const auto step = protocol.timer({2'100, 0});
  ASSERT_TRUE(step.request);
  EXPECT_EQ(step.request->kind, Kind::kUpdate);
  EXPECT_EQ(json::parse(step.request->body)["spec"]["leaseTransitions"], 4);
  EXPECT_EQ(json::parse(step.request->body)["metadata"]["resourceVersion"], "8");
  protocol.answered({2'150, 0}, ok(lease(kMe, "c", 4, "9")));
  EXPECT_EQ(protocol.epoch(), 4u);
  EXPECT_EQ(protocol.deadline(), 2'100 + kLeaseRenewDeadlineMillis);
}

TEST_F(LeaseProtocolTest, AConflictIsLookedAtAtOnce) {
  win();
  protocol.timer({2'100, 0});
  EXPECT_EQ(protocol.answered({2'150, 0}, {409, "{}", "HTTP 409"}).request->kind, Kind::kGet);
  EXPECT_EQ(protocol.epoch(), 4u) << "perhaps an answer to a write of ours was lost";
  protocol.answered({2'200, 0}, ok(lease("other", "c", 5, "9")));
  EXPECT_EQ(protocol.epoch(), 0u) << "it was taken";
  LeaseProtocol loser{{"n", "l", kMe}, 0};
  loser.start({0, 0});
  loser.answered({0, 0}, ok(lease("", "a", 3)));
  loser.answered({50, 0}, {409, "{}", "HTTP 409"});
  EXPECT_EQ(loser.epoch(), 0u);
  EXPECT_FALSE(loser.answered({90, 0}, ok(lease("other", "b", 4, "8"))).request);
}

TEST_F(LeaseProtocolTest, ATermOfANamesakeIsSomebodyElses) {
  win();
  protocol.timer({2'100, 0});
  EXPECT_EQ(protocol.answered({2'150, 0}, {409, "{}", "HTTP 409"}).request->kind, Kind::kGet);
  EXPECT_FALSE(protocol.answered({2'200, 0}, ok(lease(kMe, "c", 5, "9"))).request)
      << "not taken back at once: both would lead, in turns";
  EXPECT_EQ(protocol.epoch(), 0u);
  protocol.timer({17'199, 0});
  EXPECT_FALSE(protocol.answered({17'199, 0}, ok(lease(kMe, "c", 5, "9"))).request);
  protocol.timer({17'200, 0});
  const auto step = protocol.answered({17'200, 0}, ok(lease(kMe, "c", 5, "9")));
  ASSERT_TRUE(step.request) << "it has not renewed";
  protocol.answered({17'250, 0}, ok(lease(kMe, "d", 6, "10")));
  EXPECT_EQ(protocol.epoch(), 6u);
  protocol.timer({19'250, 0});
  EXPECT_EQ(protocol.answered({19'300, 0}, {0, "", "timeout"}).wait_millis, kLeaseRetryMillis);
  protocol.timer({21'300, 0});
  EXPECT_TRUE(protocol.answered({21'350, 0}, ok(lease(kMe, "e", 6, "11"))).request)
      << "its own term it renews as ever";
}

TEST_F(LeaseProtocolTest, NoAnswerEndsTheTermAtItsDeadline) {
  win();
  auto step = protocol.timer({2'100, 0});
  EXPECT_EQ(step.request->timeout_millis, kLeaseRequestMillis);
  step = protocol.answered({7'100, 0}, {0, "", "timeout"});
  EXPECT_EQ(protocol.epoch(), 4u);
  EXPECT_EQ(protocol.trouble(), "timeout");
  EXPECT_EQ(step.wait_millis, kLeaseRetryMillis);
  step = protocol.timer({9'100, 0});
  EXPECT_EQ(step.request->kind, Kind::kGet) << "the write may have been done: look first";
  EXPECT_EQ(step.request->timeout_millis, 900) << "never past the deadline";
  step = protocol.answered({10'000, 0}, {503, "", "HTTP 503"});
  EXPECT_EQ(protocol.epoch(), 0u);
  EXPECT_FALSE(step.request);
}

TEST_F(LeaseProtocolTest, AnAnswerToAStoppedProcessIsWorthWhatIsLeftOfIt) {
  win();
  protocol.timer({2'100, 0});
  protocol.answered({12'099, 0}, ok(lease(kMe, "c", 4, "9")));
  EXPECT_EQ(protocol.epoch(), 4u);
  protocol.timer({12'099, 0});
  protocol.answered({60'000, 0}, ok(lease(kMe, "d", 4, "10")));
  EXPECT_EQ(protocol.epoch(), 0u) << "sent at 12,099, heard at 60,000: others may lead by now";
}

TEST_F(LeaseProtocolTest, ATermLostAndWonAgainIsANewEpoch) {
  win();
  protocol.timer({2'100, 0});
  protocol.answered({12'000, 0}, {503, "", "HTTP 503"});
  protocol.timer({14'000, 0});
  EXPECT_EQ(protocol.epoch(), 0u);
  const auto step = protocol.answered({14'000, 0}, ok(lease(kMe, "b", 4, "8")));
  ASSERT_TRUE(step.request) << "nobody took it: it is still ours to renew";
  EXPECT_EQ(json::parse(step.request->body)["spec"]["leaseTransitions"], 5);
  protocol.answered({14'050, 0}, ok(lease(kMe, "c", 5, "9")));
  EXPECT_EQ(protocol.epoch(), 5u);
}

TEST_F(LeaseProtocolTest, EpochsGoOnAboveThoseOfTheLog) {
  LeaseProtocol after{{"n", "l", kMe}, 40};
  after.start({0, 0});
  after.answered({0, 0}, {404, "{}", "HTTP 404"});  // somebody deleted the lease
  after.answered({10, 0}, ok(lease(kMe, "a", 41), 201));
  EXPECT_EQ(after.epoch(), 41u);
}

TEST_F(LeaseProtocolTest, GivesBackWhatItHoldsAndNothingElse) {
  win();
  const auto request = protocol.release({5'000, 0});
  ASSERT_TRUE(request);
  EXPECT_EQ(protocol.epoch(), 0u);
  EXPECT_EQ(json::parse(request->body)["spec"]["holderIdentity"], "");
  EXPECT_EQ(json::parse(request->body)["spec"]["leaseDurationSeconds"], 1);
  EXPECT_EQ(json::parse(request->body)["metadata"]["resourceVersion"], "8");
  EXPECT_FALSE(protocol.release({5'000, 0}));
}

TEST_F(LeaseProtocolTest, NonsenseIsTroubleAndNothingElse) {
  for (const char* body : {"", "[]", "{}", R"({"metadata":{}})", R"({"metadata":[]})",
                           R"({"metadata":{"resourceVersion":"1"},"spec":[]})"}) {
    LeaseProtocol one{{"n", "l", kMe}, 0};
    one.start({0, 0});
    const auto step = one.answered({0, 0}, {200, body, ""});
    EXPECT_FALSE(step.request) << body;
    EXPECT_FALSE(one.trouble().empty()) << body;
    EXPECT_EQ(one.epoch(), 0u);
  }
}

// ---- several replicas in one made-up world ----

struct Chance {  // splitmix64
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }
};

// The API server's part: one object, compare and swap.
struct Server {
  json object;
  std::int64_t version = 0;
  std::pair<int, std::string> serve(const LeaseProtocol::Request& request) {
    if (request.kind == Kind::kGet)
      return object.is_null() ? std::pair(404, std::string("{}")) : std::pair(200, object.dump());
    json sent = json::parse(request.body);
    if (request.kind == Kind::kCreate && !object.is_null()) return {409, "{}"};
    if (request.kind == Kind::kUpdate &&
        (object.is_null() ||
         sent["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"]))
      return {409, "{}"};
    sent["metadata"]["resourceVersion"] = std::to_string(++version);
    object = sent;
    return {request.kind == Kind::kCreate ? 201 : 200, object.dump()};
  }
};

struct Replica {
  Replica(int number, Chance& chance)
      : protocol({"n", "l", "replica_" + std::to_string(number)}, 0),
        offset(chance.below(1'000'000'000)),
        rate_permille(1000 + chance.below(200)) {}
  std::int64_t monotonic(std::int64_t t) const { return offset + t * rate_permille / 1000; }
  LeaseProtocol::Now at(std::int64_t t) const { return {monotonic(t), 0}; }
  bool may_send(std::int64_t t) const {
    return protocol.epoch() != 0 && monotonic(t) < protocol.deadline();
  }
  LeaseProtocol protocol;
  std::int64_t offset;
  std::int64_t rate_permille;
  std::int64_t stopped_until = 0;
  std::uint64_t last_epoch = 0;
};

struct World {
  explicit World(std::uint64_t seed) : chance{seed} {
    for (int i = 0; i < 3; ++i) replicas.emplace_back(i, chance);
    for (std::size_t i = 0; i < replicas.size(); ++i)
      carry_out(i, replicas[i].protocol.start(replicas[i].at(0)), 0);
  }

  void at(std::int64_t t, std::function<void(std::int64_t)> action) {
    due.emplace(t, std::move(action));
  }
  // Runs when the replica runs: a stopped process hears things later.
  void on_replica(std::size_t i, std::int64_t t, std::function<void(std::int64_t)> action) {
    at(t, [this, i, action = std::move(action)](std::int64_t now) {
      if (now < replicas[i].stopped_until) return on_replica(i, replicas[i].stopped_until, action);
      action(now);
    });
  }
  void carry_out(std::size_t i, const LeaseProtocol::Step& step, std::int64_t t) {
    Replica& replica = replicas[i];
    if (replica.protocol.epoch() != 0 && replica.protocol.epoch() != replica.last_epoch) {
      EXPECT_GT(replica.protocol.epoch(), highest) << "an epoch was used twice";
      highest = replica.last_epoch = replica.protocol.epoch();
      ++terms;
    }
    if (!step.request)
      return on_replica(i, t + step.wait_millis * 1000 / replica.rate_permille + 1,
                        [this, i](std::int64_t now) {
                          carry_out(i, replicas[i].protocol.timer(replicas[i].at(now)), now);
                        });
    const bool slow = chance.below(8) == 0;
    const std::int64_t there = t + chance.below(slow ? 6'000 : 50);
    const std::int64_t back = there + chance.below(slow ? 6'000 : 50);
    const std::int64_t given_up =
        t + step.request->timeout_millis * 1000 / replica.rate_permille + 1;
    const bool lost = chance.below(10) == 0;
    const bool answer_lost = chance.below(10) == 0;
    auto answer = std::make_shared<std::pair<int, std::string>>();
    if (!lost)
      at(there, [this, answer, request = *step.request](std::int64_t) {
        *answer = server.serve(request);
      });
    const bool heard = !lost && !answer_lost && back < given_up;
    on_replica(i, heard ? back : given_up, [this, i, answer, heard](std::int64_t now) {
      LeaseProtocol::Answer what{heard ? answer->first : 0,
                                 heard ? std::string_view(answer->second) : std::string_view(),
                                 "no answer"};
      carry_out(i, replicas[i].protocol.answered(replicas[i].at(now), what), now);
    });
  }
  void run(std::int64_t until) {
    for (std::int64_t t = 0; t < until; t += 20) {
      while (!due.empty() && due.begin()->first <= t) {
        const auto [when, action] = *due.begin();
        due.erase(due.begin());
        action(when);
      }
      if (chance.below(1'000) == 0)
        replicas[static_cast<std::size_t>(chance.below(3))].stopped_until =
            t + chance.below(40'000);
      int leaders = 0;
      for (const Replica& replica : replicas) leaders += replica.may_send(t) ? 1 : 0;
      ASSERT_LE(leaders, 1) << "at " << t;
      led += leaders;
    }
  }

  Chance chance;
  Server server;
  std::vector<Replica> replicas;
  std::multimap<std::int64_t, std::function<void(std::int64_t)>> due;
  std::uint64_t highest = 0;
  int terms = 0;
  int led = 0;
};

TEST(LeaseWorld, NeverHasTwoLeadersAtOnce) {
  int terms = 0;
  int led = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    World world(seed);
    world.run(600'000);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    terms += world.terms;
    led += world.led;
  }
  EXPECT_GT(terms, 400) << "or the world is too quiet to tell anything";
  EXPECT_GT(led, 40 * 600'000 / 20 / 2) << "somebody leads most of the time";
}

}  // namespace
}  // namespace karst::kube
