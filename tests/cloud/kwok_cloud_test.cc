// The kwok cloud by script: launches, terminations, searches and lists over a fake transport.
#include "cloud/kwok/kwok_cloud.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/kube/fake_transport.h"

namespace karst::cloud {
namespace {

using http::Failure;
using model::InstanceState;
using model::OutcomeKind;
using model::RefusalCode;
using nlohmann::json;
using testing_kube::FakeClock;
using testing_kube::FakeSink;
using testing_kube::FakeTransport;

const model::CommandId kId{model::LogId("abcdefghijklmnopqrstuvwxyz"), model::Position(42)};

json node(const std::string& name, const std::string& claim, const std::string& token = "token") {
  return {
      {"metadata",
       {{"name", name},
        {"uid", "uid-" + name},
        {"creationTimestamp", "2026-11-21T10:00:00Z"},
        {"labels",
         {{"node.kubernetes.io/instance-type", "c-1x"},
          {"topology.kubernetes.io/zone", "z-a"},
          {"karpenter.sh/capacity-type", "spot"},
          {"eks-node-viewer/instance-price", "0.0336"}}},
        {"annotations",
         {{"karst.sh/claim-uid", claim},
          {"karst.sh/launch-token", token},
          {"karst.sh/attempt", "1"},
          {"karst.sh/command-id", "log-42"}}}}},
      {"spec", {{"providerID", "kwok://" + name}}},
      {"status", {{"capacity", {{"cpu", "1"}, {"pods", 16}}}, {"allocatable", {{"cpu", "900m"}}}}}};
}

struct KwokCloudTest : ::testing::Test {
  void submit(model::CommandSpec spec) {
    cloud.submit({kId, 1, std::move(spec)});
    transport.advance(0);
  }
  model::Launch launch(const std::vector<json>& nodes) {
    model::Launch order;
    order.token = model::LaunchToken("token");
    order.request = json(nodes).dump();
    return order;
  }
  // "METHOD path" of the request that was answered.
  std::string reply(int status, const std::string& body = "{}", Failure failure = Failure::kNone) {
    if (transport.open.empty()) return "no request";
    http::Response response;
    response.status = failure == Failure::kNone ? status : 0;
    response.body = body;
    response.failure = failure;
    const http::Request request = transport.answer(std::move(response));
    last_body = request.body;
    return std::string(http::method_name(request.method)) + " " + request.url.substr(9);
  }
  model::Outcome outcome() {
    EXPECT_TRUE(transport.open.empty());
    const auto outcomes = sink.all<model::Outcome>();
    EXPECT_EQ(outcomes.size(), 1u);
    return outcomes.empty() ? model::Outcome{} : outcomes[0];
  }
  FakeTransport transport;
  FakeSink sink;
  FakeClock clock;
  kube::Client client{transport, kube::ServerAccess{"https://s", {}, "t", ""}, "karst/test"};
  KwokCloud cloud{client, sink, clock};
  std::string last_body;
};

TEST_F(KwokCloudTest, ANodeJoinsAfterTheDelayOfItsNodeClass) {
  json slow = node("n1", "claim-1");
  slow["metadata"]["annotations"]["karst.sh/registration-delay"] = "5s";
  submit(launch({slow, node("n2", "claim-2")}));
  EXPECT_EQ(reply(201, node("n2", "claim-2").dump()), "POST /api/v1/nodes");
  EXPECT_EQ(last_body.find("n1"), std::string::npos);
  transport.advance(4'999);
  EXPECT_EQ(reply(201), "no request");
  transport.advance(1);
  EXPECT_EQ(reply(201, slow.dump()), "POST /api/v1/nodes");
  EXPECT_EQ(outcome().instances.size(), 2u);
}

TEST_F(KwokCloudTest, LaunchMakesEveryNodeOfTheOrder) {
  submit(launch({node("n1", "c1"), node("n2", "c2")}));
  EXPECT_EQ(reply(201, node("n2", "c2").dump()), "POST /api/v1/nodes");
  EXPECT_TRUE(sink.facts.empty()) << "one outcome for the whole order";
  EXPECT_EQ(reply(201, node("n1", "c1").dump()), "POST /api/v1/nodes");
  const model::Outcome got = outcome();
  EXPECT_EQ(got.kind, OutcomeKind::kDone);
  ASSERT_EQ(got.instances.size(), 2u);
  const model::Instance& first = got.instances[0];
  EXPECT_EQ(first.provider_id.str(), "kwok://n1");
  EXPECT_EQ(first.claim.str(), "c1");
  EXPECT_EQ(first.attempt, 1u);
  EXPECT_EQ(first.command_tag, "log-42");
  EXPECT_EQ(first.offer, (model::Offer{"c-1x", "z-a", "spot", 33'600'000}));
  EXPECT_EQ(first.state, InstanceState::kRunning);
  EXPECT_EQ(first.capacity.pods, 16);
  EXPECT_EQ(first.allocatable.cpu_millis, 900);
}

TEST_F(KwokCloudTest, LaunchAgainFindsItsOwnNodes) {
  submit(launch({node("n1", "c1")}));
  EXPECT_EQ(reply(409), "POST /api/v1/nodes");
  EXPECT_EQ(reply(200, node("n1", "c1").dump()), "GET /api/v1/nodes/n1");
  const model::Outcome got = outcome();
  EXPECT_EQ(got.kind, OutcomeKind::kDone);
  EXPECT_EQ(got.instances.size(), 1u);
}

TEST_F(KwokCloudTest, LaunchEndsAsItsWorstPart) {
  struct Part {
    int status;
    Failure failure;
  };
  struct Case {
    const char* name;
    Part first, second;
    OutcomeKind kind;
    RefusalCode code;
    std::size_t instances;
  };
  const Part made{201, Failure::kNone}, bad{422, Failure::kNone}, cut{0, Failure::kUnclear},
      denied{403, Failure::kNone};
  const Case cases[] = {
      {"one refused", made, bad, OutcomeKind::kDone, RefusalCode::kNone, 1},
      {"all refused", denied, bad, OutcomeKind::kRefused, RefusalCode::kDenied, 0},
      {"one unclear", made, cut, OutcomeKind::kUnclear, RefusalCode::kNone, 1},
      {"unclear and refused", bad, cut, OutcomeKind::kUnclear, RefusalCode::kNone, 0},
  };
  for (const Case& test : cases) {
    sink.facts.clear();
    submit(launch({node("n1", "c1"), node("n2", "c2")}));
    reply(test.first.status, node("n1", "c1").dump(), test.first.failure);
    reply(test.second.status, node("n2", "c2").dump(), test.second.failure);
    const model::Outcome got = outcome();
    EXPECT_EQ(got.kind, test.kind) << test.name;
    EXPECT_EQ(got.code, test.code) << test.name;
    EXPECT_EQ(got.instances.size(), test.instances) << test.name;
  }
}

TEST_F(KwokCloudTest, LaunchRefusesAnothersNodeAndBadBytes) {
  submit(launch({node("n1", "c1")}));
  reply(409);
  reply(200, node("n1", "c1", "another-token").dump());
  EXPECT_EQ(outcome().code, RefusalCode::kConflict);
  sink.facts.clear();
  model::Launch order;
  order.request = "[]";
  submit(order);
  EXPECT_EQ(outcome().code, RefusalCode::kInvalid);
}

TEST_F(KwokCloudTest, TerminateChecksTheTagThenDeletesAndTakesTheFinalizerOff) {
  json held = node("n1", "c1");
  held["metadata"]["finalizers"] = {"karpenter.sh/termination", "other"};
  submit(model::Terminate{model::ProviderId("kwok://n1"), model::ClaimUid("c1")});
  EXPECT_EQ(reply(200, held.dump()), "GET /api/v1/nodes/n1");
  EXPECT_EQ(reply(200), "DELETE /api/v1/nodes/n1");
  EXPECT_EQ(json::parse(last_body)["preconditions"]["uid"], "uid-n1");
  EXPECT_EQ(reply(200), "PATCH /api/v1/nodes/n1");
  EXPECT_EQ(json::parse(last_body).back()["value"], json::array({"other"}));
  const model::Outcome got = outcome();
  EXPECT_EQ(got.kind, OutcomeKind::kDone);
  ASSERT_EQ(got.instances.size(), 1u);
  EXPECT_EQ(got.instances[0].state, InstanceState::kTerminated);
}

TEST_F(KwokCloudTest, TerminateLeavesAloneWhatIsNotTheClaims) {
  submit(model::Terminate{model::ProviderId("kwok://n1"), model::ClaimUid("c1")});
  EXPECT_EQ(reply(200, node("n1", "another").dump()), "GET /api/v1/nodes/n1");
  EXPECT_EQ(outcome().code, RefusalCode::kConflict);
  sink.facts.clear();
  submit(model::Terminate{model::ProviderId("kwok://n1"), {}});
  reply(200, node("n1", "").dump());
  EXPECT_EQ(outcome().code, RefusalCode::kConflict) << "no tag is nobody's";
  sink.facts.clear();
  submit(model::Terminate{model::ProviderId("aws:///i-1"), model::ClaimUid("c1")});
  EXPECT_EQ(outcome().code, RefusalCode::kInvalid);
  sink.facts.clear();
  submit(model::Terminate{model::ProviderId("kwok://n1"), model::ClaimUid("c1")});
  reply(404);
  EXPECT_EQ(outcome().kind, OutcomeKind::kDone) << "gone is done";
  sink.facts.clear();
  submit(model::Terminate{model::ProviderId("kwok://n1"), model::ClaimUid("c1")});
  reply(200, node("n1", "c1").dump());
  reply(0, "", Failure::kUnclear);
  EXPECT_EQ(outcome().kind, OutcomeKind::kUnclear);
}

TEST_F(KwokCloudTest, FindProvesAbsenceOnlyByACompleteAnswer) {
  submit(model::FindInstances{model::ClaimUid("c1"), {}});
  const std::string first = json{
      {"metadata", {{"resourceVersion", "5"}, {"continue", "more"}}},
      {"items",
       {node("n2", "c2")}}}.dump();
  EXPECT_EQ(reply(200, first),
            "GET /api/v1/nodes?labelSelector=kwok.x-k8s.io%2Fnode%3Dfake&limit=500");
  const std::string second =
      json{{"metadata", {{"resourceVersion", "5"}}}, {"items", {node("n1", "c1")}}}.dump();
  EXPECT_EQ(reply(200, second),
            "GET /api/v1/nodes?labelSelector=kwok.x-k8s.io%2Fnode%3Dfake&limit=500&continue=more");
  ASSERT_EQ(outcome().instances.size(), 1u);
  EXPECT_EQ(outcome().instances[0].claim.str(), "c1");

  sink.facts.clear();
  submit(model::FindInstances{model::ClaimUid("c1"), {}});
  reply(200, first);
  reply(500);
  EXPECT_EQ(outcome().kind, OutcomeKind::kRefused);

  sink.facts.clear();
  json broken = node("n1", "c1");
  broken["status"]["capacity"]["cpu"] = "nonsense";
  submit(model::FindInstances{model::ClaimUid("c1"), {}});
  reply(200, json{{"metadata", {{"resourceVersion", "5"}}}, {"items", {broken}}}.dump());
  EXPECT_EQ(outcome().kind, OutcomeKind::kRefused) << "a node that cannot be read is not absent";

  sink.facts.clear();
  submit(model::FindInstances{model::ClaimUid("c1"), model::ProviderId("kwok://n1")});
  EXPECT_EQ(reply(404), "GET /api/v1/nodes/n1");
  EXPECT_EQ(outcome().kind, OutcomeKind::kDone);
  EXPECT_TRUE(outcome().instances.empty());

  sink.facts.clear();
  json leaving = node("n1", "c1");
  leaving["metadata"]["deletionTimestamp"] = "2026-11-21T10:00:00Z";
  submit(model::FindInstances{model::ClaimUid("c1"), model::ProviderId("kwok://n1")});
  reply(200, leaving.dump());
  EXPECT_EQ(outcome().instances.at(0).state, InstanceState::kShuttingDown);

  sink.facts.clear();
  leaving["metadata"]["finalizers"] = {"karpenter.sh/termination"};
  submit(model::FindInstances{model::ClaimUid("c1"), model::ProviderId("kwok://n1")});
  reply(200, leaving.dump());
  EXPECT_EQ(outcome().instances.at(0).state, InstanceState::kRunning) << "it waits for us";
}

TEST_F(KwokCloudTest, ListsPeriodicallyButNeverBesideAChange) {
  const std::string list =
      json{{"metadata", {{"resourceVersion", "5"}}}, {"items", {node("n1", "c1")}}}.dump();
  cloud.start();
  transport.advance(0);
  EXPECT_EQ(reply(200, list),
            "GET /api/v1/nodes?labelSelector=kwok.x-k8s.io%2Fnode%3Dfake&limit=500");
  EXPECT_EQ(sink.names(),
            (std::vector<std::string>{"ListStarted", "InstanceObserved", "ListEnded"}));
  sink.facts.clear();
  transport.advance(kInstanceListMillis);
  ASSERT_EQ(transport.open.size(), 1u);
  submit(launch({node("n2", "c2")}));
  reply(200, list);  // the list, begun before the launch: it knows nothing of n2
  EXPECT_TRUE(sink.facts.empty());
  reply(201, node("n2", "c2").dump());
  sink.facts.clear();
  transport.advance(1000);
  reply(200, list);
  EXPECT_EQ(sink.names().size(), 3u) << "taken again once it was quiet";
}

}  // namespace
}  // namespace karst::cloud
