// Events on the wire: what is sent, and that a slow server bounds it.
#include "kube/event_publisher.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/kube/fake_transport.h"

namespace karst::kube {
namespace {

using nlohmann::json;

ObjectEvent pod_event(const std::string& suffix = "2a.0") {
  return {{"v1", "Pod", "shop", "cart-1", "uid-1"}, "Nominated", false,
          "Pod should schedule on: nodeclaim/a",    suffix,      1'800'000'000'123};
}

TEST(EventPublisher, SendsACoreEventOfTheObject) {
  const json event = json::parse(event_json(pod_event()));
  EXPECT_EQ(event["metadata"]["name"], "cart-1.2a.0");
  EXPECT_EQ(event["metadata"]["namespace"], "shop");
  EXPECT_EQ(event["involvedObject"]["uid"], "uid-1");
  EXPECT_EQ(event["source"]["component"], "karpenter");
  EXPECT_EQ(event["type"], "Normal");
  EXPECT_EQ(event["count"], 1);
  EXPECT_EQ(event["lastTimestamp"], "2027-01-15T08:00:00Z");
}

TEST(EventPublisher, ClusterScopedObjectsAndLongTextsFitTheApi) {
  ObjectEvent event = pod_event();
  event.object = {"karpenter.sh/v1", "NodePool", "", std::string(253, 'p'), "uid"};
  event.warning = true;
  event.message = std::string(kEventMessageMax - 1, 'x') + "é and more";
  const json sent = json::parse(event_json(event));
  EXPECT_EQ(sent["metadata"]["namespace"], "default");
  EXPECT_EQ(sent["metadata"]["name"].get<std::string>().size(), 253u);
  EXPECT_EQ(sent["message"], std::string(kEventMessageMax - 1, 'x')) << "no half character";
  EXPECT_EQ(sent["type"], "Warning");
}

TEST(EventPublisher, ASlowServerBoundsWhatIsUnderWayAndWhatWaits) {
  testing_kube::FakeTransport transport;
  Client client(transport, {}, "test");
  EventPublisher publisher(client);
  const std::size_t many = kEventsInFlightMax + kEventsWaitingMax + 5;
  for (std::size_t i = 0; i < many; ++i) publisher.publish(pod_event(std::to_string(i)));
  EXPECT_EQ(transport.open.size(), kEventsInFlightMax);
  EXPECT_EQ(publisher.dropped(), 5u);
  EXPECT_EQ(json::parse(transport.answer(201, "{}").body)["metadata"]["name"], "cart-1.0");
  EXPECT_EQ(transport.open.size(), kEventsInFlightMax) << "the next one goes out";
  transport.answer(409, "{}");
  EXPECT_EQ(publisher.dropped(), 5u) << "it was told before";
  transport.answer(403, "{}");
  EXPECT_EQ(publisher.dropped(), 6u) << "not sent again";
  std::size_t answered = 3;
  for (; !transport.open.empty(); ++answered) transport.answer(201, "{}");
  EXPECT_EQ(answered, many - 5);
}

}  // namespace
}  // namespace karst::kube
