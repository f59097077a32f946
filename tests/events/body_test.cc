#include "events/body.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/events/fill.h"

namespace karst::events::testing {
namespace {

TEST(Body, TypesHaveNamesThatAreTheirOwn) {
  std::set<EventType> types;
  std::set<std::string_view> names;
  for (const Body& body : default_bodies()) {
    types.insert(type_of(body));
    names.insert(event_type_name(type_of(body)));
  }
  EXPECT_EQ(types.size(), std::variant_size_v<Body> - 2 + std::variant_size_v<model::CommandSpec> +
                              std::variant_size_v<model::NamedObject>);
  EXPECT_EQ(names.size(), types.size());
  EXPECT_EQ(names.count(""), 0u);
  EXPECT_EQ(event_type_name(static_cast<EventType>(99)), "");
}

TEST(Body, OnlyWhatReconcilersWriteIsADecision) {
  std::set<std::string_view> decisions;
  for (const Body& body : default_bodies())
    if (is_decision(type_of(body))) decisions.insert(event_type_name(type_of(body)));
  EXPECT_EQ(decisions.size(), std::variant_size_v<model::CommandSpec> + 5);
  for (const char* name : {"AttemptStarted", "CommandAbandoned", "VerdictReached", "PodsNominated",
                           "ProvisioningHeld"})
    EXPECT_EQ(decisions.count(name), 1u) << name;
  for (const char* name : {"PodObserved", "OutcomeReceived", "RoundClosed", "LogCreated"})
    EXPECT_EQ(decisions.count(name), 0u) << name;
}

TEST(Body, Streams) {
  model::Pod pod;
  pod.uid = model::PodUid("u1");
  model::NodeClass node_class;
  node_class.ref = {"g", "KWOKNodeClass", "default"};
  model::Interruption to_instance;
  to_instance.provider_id = model::ProviderId("kwok://a");
  model::Interruption to_nobody;
  to_nobody.message = model::MessageId("m1");
  model::Nomination on_claim;
  on_claim.claim = model::ClaimName("c1");
  model::Nomination on_node;
  on_node.node = model::NodeName("n1");
  model::Outcome outcome;
  outcome.command = model::Position(12);
  model::VolumeClaim claim;
  claim.namespace_name = "shop";
  claim.name = "data";
  const struct {
    const char* name;
    Body input;
    const char* want;
  } cases[] = {
      {"pod", PodObserved{pod}, "pod/u1"},
      {"pod gone", PodGone{pod.uid, "ns", "p"}, "pod/u1"},
      {"node", NodeGone{model::NodeUid("x"), model::NodeName("n1")}, "node/n1"},
      {"claim", NodeClaimGone{model::ClaimUid("x"), model::ClaimName("c1")}, "nodeclaim/c1"},
      {"pool", NodePoolGone{model::PoolName("p1")}, "nodepool/p1"},
      {"class", NodeClassObserved{node_class}, "nodeclass/KWOKNodeClass/default"},
      {"daemonset", DaemonSetGone{"d1"}, "daemonset/d1"},
      {"namespace", ObjectObserved{model::Namespace{"shop", {}}}, "namespace/shop"},
      {"claim of a volume", ObjectObserved{claim}, "persistentvolumeclaim/shop/data"},
      {"volume gone", ObjectGone{{"PersistentVolume", "", "v1"}}, "persistentvolume/v1"},
      {"shape", ShapeRecorded{{1, 2}, {}}, "shape/00000000000000010000000000000002"},
      {"prices", PricesObserved{{"kwok", {}}}, "catalogue/kwok"},
      {"interruption", InterruptionReceived{to_instance}, "instance/kwok://a"},
      {"interruption of nothing", InterruptionReceived{to_nobody}, "message/m1"},
      {"list", ListStarted{"Pod"}, "source/Pod"},
      {"command", model::Command{"r", "c", {}, model::Terminate{model::ProviderId("i1"), {}}},
       "instance/i1"},
      {"outcome", outcome, "command/12"},
      {"nominated to a claim", on_claim, "nodeclaim/c1"},
      {"nominated to a node", on_node, "node/n1"},
      {"verdict", model::Verdict{"shape/ab", "r", "c", {}}, "shape/ab"},
      {"round", RoundClosed{}, "round"},
      {"start", DaemonStarted{}, "log"},
  };
  for (const auto& c : cases) EXPECT_EQ(stream_of(c.input), c.want) << c.name;
}

}  // namespace
}  // namespace karst::events::testing
