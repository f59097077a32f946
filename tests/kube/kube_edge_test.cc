// Lists and watches carried out over a fake transport: which facts reach the engine, in which
// order.
#include "kube/kube_edge.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/kube/fake_transport.h"

namespace karst::kube {
namespace {

using testing_kube::FakeClock;
using testing_kube::FakeSink;
using testing_kube::FakeTransport;

std::string pod(const std::string& name, const std::string& version, const std::string& cpu) {
  return R"({"metadata":{"uid":"u-)" + name + R"(","name":")" + name +
         R"(","namespace":"ns","resourceVersion":")" + version +
         R"("},"spec":{"containers":[{"resources":{"requests":{"cpu":")" + cpu + R"("}}}]}})";
}
std::string pods(const std::string& version, const std::string& items) {
  return R"({"metadata":{"resourceVersion":")" + version + R"("},"items":[)" + items + "]}";
}

struct KubeEdgeTest : ::testing::Test {
  KubeEdgeTest() { edge.start(), transport.advance(0); }
  FakeTransport transport;
  FakeSink sink;
  ports::WithheldTexts withheld;
  FakeClock clock;
  Client client{transport, ServerAccess{"https://server:6443", {}, "secret", ""}, "karst/test"};
  std::vector<std::string> notices;
  KubeEdge edge{
      client, {{WatchedKind::kPod, "/api/v1/pods", {}, {}}},
      sink,   withheld,
      clock,  [this](KubeEdge::Following, const std::string& line) { notices.push_back(line); }};
};

TEST_F(KubeEdgeTest, AListBecomesABracketAndShapesComeOnceBeforeTheirPods) {
  const auto request = transport.answer(
      200, pods("5", pod("a", "3", "1") + "," + pod("b", "4", "1") + "," + pod("c", "5", "2")));
  EXPECT_EQ(request.url, "https://server:6443/api/v1/pods?limit=500");
  EXPECT_NE(
      std::find(request.headers.begin(), request.headers.end(), "Authorization: Bearer secret"),
      request.headers.end());
  EXPECT_NE(std::find(request.headers.begin(), request.headers.end(), "User-Agent: karst/test"),
            request.headers.end());
  EXPECT_EQ(sink.names(),
            (std::vector<std::string>{"ListStarted", "ShapeRecorded", "PodObserved", "PodObserved",
                                      "ShapeRecorded", "PodObserved", "ListEnded"}));
  EXPECT_EQ(sink.all<events::ListEnded>()[0].kind, "Pod");
  EXPECT_EQ(sink.all<events::ListEnded>()[0].version, "5");
}

TEST_F(KubeEdgeTest, AWatchBringsChangesGoneBeatsAndRefusals) {
  transport.answer(200, pods("5", ""));
  sink.facts.clear();
  auto watch = transport.take();
  ASSERT_TRUE(watch.request.on_chunk);
  EXPECT_TRUE(watch.request.on_chunk(R"({"type":"ADDED","object":)" + pod("a", "6", "1") + "}\n"));
  EXPECT_TRUE(
      watch.request.on_chunk(R"({"type":"ADDED","object":)" + pod("bad", "7", "nonsense") + "}\n"));
  EXPECT_TRUE(
      watch.request.on_chunk(R"({"type":"DELETED","object":)" + pod("a", "8", "1") + "}\n"));
  const std::string bookmark =
      R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}})"
      "\n";
  EXPECT_TRUE(watch.request.on_chunk(bookmark));
  clock.now_millis += kBeatMillis;
  EXPECT_TRUE(watch.request.on_chunk(bookmark + bookmark));
  EXPECT_EQ(sink.names(), (std::vector<std::string>{"ShapeRecorded", "PodObserved", "InputRefused",
                                                    "PodGone", "SourceBeat"}));
  const auto refused = sink.all<events::InputRefused>()[0];
  EXPECT_EQ(refused.source, "kube/Pod");
  EXPECT_EQ(refused.id, "ns/bad");
  EXPECT_EQ(refused.reason.substr(0, 43), "spec.containers[0].resources.requests.cpu: ");
  EXPECT_EQ(refused.digest.size(), 64u);
  EXPECT_EQ(sink.all<events::PodGone>()[0].uid.str(), "u-a");
  EXPECT_EQ(sink.all<events::SourceBeat>()[0].version, "9");
}

TEST(FactObserver, NamedObjectsComeAsTheyAreAndOldRevisionsAreGone) {
  FakeSink sink;
  ports::WithheldTexts withheld;
  FakeClock clock;
  Watched watched{WatchedKind::kNamed, "/apis/apps/v1/replicasets", {}, "ReplicaSet"};
  watched.with_shapes = true;
  FactObserver observer(watched, sink, withheld, clock);
  objects::Parser parser;
  const auto see = [&](const std::string& owner, int replicas, bool gone) {
    const std::string text =
        R"({"metadata":{"uid":"u","name":"web","namespace":"ns","ownerReferences":[)" + owner +
        R"(]},"spec":{"replicas":)" + std::to_string(replicas) +
        R"(,"template":{"spec":{"containers":[]}}}})";
    const auto object = parser.parse(text, objects::kObjectBytesMax);
    ASSERT_TRUE(object);
    gone ? observer.gone(*object) : observer.changed(*object);
  };
  const std::string owner = R"({"controller":true,"kind":"Deployment","name":"web"})";
  observer.list_started();
  see(owner, 2, false);
  observer.list_ended("5");
  see(owner, 0, false);
  see("", 0, false);
  see("", 0, true);
  EXPECT_EQ(sink.names(), (std::vector<std::string>{
                              "ListStarted", "ShapeRecorded", "WorkloadObserved", "ListEnded",
                              "ObjectGone", "ShapeRecorded", "WorkloadObserved", "ObjectGone"}));
  EXPECT_EQ(sink.all<events::ListEnded>()[0].kind, "ReplicaSet");
  const model::ObjectKey key{"ReplicaSet", "ns", "web"};
  for (const events::ObjectGone& gone : sink.all<events::ObjectGone>()) EXPECT_EQ(gone.key, key);
  EXPECT_EQ(model::key_of(sink.all<events::ObjectObserved>()[0].object), key);
}

TEST(FactObserver, UserDataOfANodeClassIsKeptOutOfTheFact) {
  FakeSink sink;
  ports::WithheldTexts withheld;
  FakeClock clock;
  FactObserver observer(
      node_class_resource("karpenter.k8s.aws", "v1", "ec2nodeclasses", "EC2NodeClass"), sink,
      withheld, clock);
  objects::Parser parser;
  const auto object =
      parser.parse(R"({"metadata":{"uid":"u","name":"n","annotations":{"note":"token=1"}},)"
                   R"("spec":{"role":"r","userData":"token=1"}})",
                   objects::kObjectBytesMax);
  ASSERT_TRUE(object);
  observer.changed(*object);
  const auto facts = sink.all<events::NodeClassObserved>();
  ASSERT_EQ(facts.size(), 1u);
  const std::string hash = base::hex_lower(base::sha256("token=1"));
  EXPECT_EQ(facts[0].node_class.spec_json,
            R"({"role":"r","userData":{"bytes":7,"sha256":")" + hash + R"("}})");
  EXPECT_EQ(withheld.find(hash), "token=1");
}

TEST(FactObserver, PodsWithoutASpreadHaveTheDefaultOne) {
  FakeSink sink;
  ports::WithheldTexts withheld;
  FakeClock clock;
  Watched watched{WatchedKind::kPod, "/api/v1/pods", {}, {}};
  watched.default_spread.emplace_back().topology_key = "zone";
  FactObserver observer(watched, sink, withheld, clock);
  objects::Parser parser;
  const auto see = [&](const std::string& owner, const std::string& spec) {
    const auto object = parser.parse(
        R"({"metadata":{"uid":"u","name":"web-1","namespace":"ns",
            "labels":{"pod-template-hash":"5f"},
            "ownerReferences":[{"controller":true,"kind":")" +
            owner + R"(","name":"web"}]},"spec":{)" + spec + "}}",
        objects::kObjectBytesMax);
    ASSERT_TRUE(object);
    observer.changed(*object);
  };
  see("ReplicaSet", "");
  see("ReplicaSet", R"("topologySpreadConstraints":[{"topologyKey":"host"}])");
  see("Job", "");
  const auto shapes = sink.all<events::ShapeRecorded>();
  const auto pods = sink.all<events::PodObserved>();
  ASSERT_EQ(shapes.size(), 3u);
  ASSERT_EQ(shapes[0].shape.spread.size(), 1u);
  EXPECT_EQ(shapes[0].shape.spread[0].topology_key, "zone");
  ASSERT_EQ(shapes[1].shape.spread.size(), 1u);
  EXPECT_EQ(shapes[1].shape.spread[0].topology_key, "host");
  EXPECT_TRUE(shapes[2].shape.spread.empty());
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(shapes[i].hash, model::hash_of(shapes[i].shape));
    EXPECT_EQ(pods[i].pod.shape, shapes[i].hash);
  }
}

TEST(CoreResources, GatesDecideWhatIsFollowed) {
  const auto kinds = [](const events::Config& config) {
    std::set<std::string> names;
    for (const Watched& watched : core_resources(config)) names.emplace(listed_name(watched));
    return names;
  };
  const std::set<std::string> always = kinds({});
  events::Config config;
  config.node_overlay = config.capacity_buffer = true;
  const std::set<std::string> all = kinds(config);
  for (const std::string_view kind : model::kNamedKinds) {
    const bool gated = kind == "NodeOverlay" || kind == "CapacityBuffer" || kind == "PodTemplate";
    EXPECT_EQ(always.contains(std::string(kind)), !gated) << kind;
    EXPECT_TRUE(all.contains(std::string(kind))) << kind;
  }
}

TEST_F(KubeEdgeTest, AShapeComesAgainWithTheNextPodThatHasIt) {
  transport.answer(200, pods("5", pod("a", "3", "1")));
  sink.facts.clear();
  auto watch = transport.take();
  EXPECT_TRUE(
      watch.request.on_chunk(R"({"type":"DELETED","object":)" + pod("a", "6", "1") + "}\n"));
  EXPECT_TRUE(watch.request.on_chunk(R"({"type":"ADDED","object":)" + pod("b", "7", "1") + "}\n"));
  EXPECT_EQ(sink.names(), (std::vector<std::string>{"PodGone", "ShapeRecorded", "PodObserved"}));
}

TEST_F(KubeEdgeTest, ACutWatchGoesOnAndTroubleIsToldOnceEach) {
  transport.answer(403, R"({"kind":"Status","message":"pods is forbidden"})");
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0],
            "/api/v1/pods cannot be followed at the moment: HTTP 403: pods is forbidden");
  transport.advance(kBackOffFirstMillis);
  transport.answer(403, R"({"kind":"Status","message":"pods is forbidden"})");
  EXPECT_EQ(notices.size(), 1u) << "the same trouble is told once";
  transport.advance(2 * kBackOffFirstMillis);
  transport.answer(200, pods("5", ""));
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_EQ(notices[1], "/api/v1/pods is followed again");
  transport.fail(http::Failure::kUnclear);
  transport.advance(kBackOffFirstMillis);
  ASSERT_EQ(transport.open.size(), 1u);
  EXPECT_NE(transport.open[0].request.url.find("watch=1"), std::string::npos);
}

TEST_F(KubeEdgeTest, AListCutInItsBodyIsNoList) {
  http::Response cut;
  cut.status = 200;
  cut.body = pods("5", "");
  cut.failure = http::Failure::kUnclear;
  cut.error = "cut";
  transport.answer(std::move(cut));
  ASSERT_EQ(sink.facts.size(), 1u) << "the list was asked for, and nothing came of it";
  EXPECT_EQ(events::type_of(sink.facts[0].body), events::EventType::kListStarted);
  EXPECT_EQ(notices.size(), 1u);
}

TEST_F(KubeEdgeTest, ReadsTheServersClock) {
  EXPECT_EQ(edge.server_offset_millis(), std::nullopt);
  http::Response response;
  response.status = 200;
  response.body = pods("5", "");
  response.headers = {{"date", "Thu, 01 Jan 1970 00:20:00 GMT"}};
  const auto answer = [&](int status, std::int64_t after_millis) {
    http::Response one = response;
    one.status = status;
    clock.now_millis += after_millis;
    transport.answer(std::move(one));
  };
  answer(200, kDateAgeMillisMax + 1);
  EXPECT_EQ(edge.server_offset_millis(), std::nullopt) << "it may be as old as the question";
  edge.relist();
  transport.advance(0);
  transport.open.erase(transport.open.begin(), transport.open.end() - 1);
  answer(503, 0);
  EXPECT_EQ(edge.server_offset_millis(), std::nullopt) << "somebody else's, perhaps";
  transport.advance(kBackOffFirstMillis);
  answer(200, 0);
  EXPECT_EQ(edge.server_offset_millis(), 1'200'000 - 1'000'000 - clock.now_millis);
}

TEST_F(KubeEdgeTest, StopsWhenTheEngineTakesNothingMore) {
  sink.closed = true;
  transport.answer(200, pods("5", pod("a", "3", "1")));
  EXPECT_TRUE(transport.open.empty());
}

}  // namespace
}  // namespace karst::kube
