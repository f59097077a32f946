// What the API server's hands do when more is submitted than they can carry at once.
#include <gtest/gtest.h>

#include "kube/kube_writer.h"
#include "tests/kube/fake_transport.h"

namespace karst::kube {
namespace {

using model::RefusalCode;
using testing_kube::FakeClock;
using testing_kube::FakeSink;
using testing_kube::FakeTransport;

const model::CommandId kAnyId{model::LogId("abcdefghijklmnopqrstuvwxyz"), model::Position(42)};
const model::DeleteObject kAnyDelete{{model::ObjectKind::kNodeClaim, "", "web-abcde", "cu"}};

TEST(KubeWriter, RefusesBeyondItsBoundWithoutBlocking) {
  FakeTransport transport;
  FakeSink sink;
  FakeClock clock;
  Client client(transport, ServerAccess{"https://s", {}, "t", ""}, "karst/test");
  KubeWriter writer(client, sink, clock);
  for (std::size_t i = 0; i < ports::kInFlightMax; ++i) writer.submit({kAnyId, 1, kAnyDelete});
  EXPECT_EQ(transport.open.size(), ports::kInFlightMax);
  writer.submit({kAnyId, 1, kAnyDelete});
  EXPECT_TRUE(sink.facts.empty());
  transport.advance(0);
  ASSERT_EQ(sink.facts.size(), 1u);
  EXPECT_EQ(sink.all<model::Outcome>()[0].code, RefusalCode::kThrottled);
  transport.answer(200, "{}");
  writer.submit({kAnyId, 1, kAnyDelete});
  EXPECT_EQ(transport.open.size(), ports::kInFlightMax) << "room again";
}

}  // namespace
}  // namespace karst::kube
