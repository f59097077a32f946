#include "tests/exports/small_log.h"

#include <vector>

#include "base/check.h"
#include "events/codec.h"

namespace karst::exports {
namespace {

using model::Position;

constexpr std::int64_t kCheap = 42'100'000;  // nano-dollars an hour
constexpr std::int64_t kDear = 70'000'000;

const model::Offer kSpot{"c-4x", "zone-a", "spot", kCheap, ""};
const model::Offer kOnDemand{"c-4x", "zone-b", "on-demand", kDear, ""};

events::Record record(const events::Body& body, std::uint64_t position, std::uint64_t causation) {
  events::Record made = events::make_record(body);
  made.log_time = base::LogTime(static_cast<std::int64_t>(position) * 1000);
  made.wall_time = base::WallTime(static_cast<std::int64_t>(position) * 1000 + 5);
  made.causation = Position(causation);
  made.correlation = Position(causation == 0 ? 0 : 4);
  return made;
}

model::Pod pod(const std::string& node) {
  model::Pod made;
  made.uid = model::PodUid("p1");
  made.namespace_name = "shop";
  made.name = "web-1";
  made.labels = {{"app", "web, \"the\" shop"}};
  made.node = model::NodeName(node);
  return made;
}

model::NodeClaim claim() {
  model::NodeClaim made;
  made.name = model::ClaimName("general-abcde");
  made.pool = model::PoolName("general");
  model::RequirementSpec types;
  types.key = std::string(model::kInstanceTypeLabel);
  types.values = {"c-4x", "m-4x"};
  made.requirements = {types};
  return made;
}

model::Catalogue catalogue() {
  model::InstanceType type;
  type.name = "c-4x";
  type.offerings = {{"zone-a", "spot", kCheap, true, "", 0, {}},
                    {"zone-b", "on-demand", kDear, true, "", 0, {}}};
  return {"kwok", {type}};
}

model::Node node() {
  model::Node made;
  made.uid = model::NodeUid("u1");
  made.name = model::NodeName("n1");
  made.provider_id = model::ProviderId("kwok://n1");
  made.labels = {{std::string(model::kInitializedLabel), "true"},
                 {std::string(model::kRegisteredLabel), "true"}};
  return made;
}

model::Launch launch() {
  model::Launch made;
  made.items = {{model::ClaimUid("c1"), model::ClaimName("general-abcde"), 1}};
  made.token = model::LaunchToken("t");
  made.pool = model::PoolName("general");
  made.offers = {kSpot, kOnDemand};
  made.request = "what is sent";
  return made;
}

}  // namespace

SmallLog::SmallLog() : log_(model::LogId("abc"), base::WallTime(1000)) {
  model::NodeClaim observed = claim();
  observed.uid = model::ClaimUid("c1");
  model::Outcome created;
  created.command = Position(5);
  created.object_uid = "c1";
  model::Instance instance;
  instance.provider_id = model::ProviderId("kwok://n1");
  instance.claim = model::ClaimUid("c1");
  instance.attempt = 1;
  instance.offer = kSpot;
  model::Outcome launched;
  launched.command = Position(7);
  launched.instances = {instance};
  model::Interruption notice;
  notice.message = model::MessageId("m1");
  notice.kind = model::InterruptionKind::kSpotInterruption;
  notice.provider_id = model::ProviderId("kwok://n1");
  events::DaemonStarted started;
  started.version = "1.0";
  started.decision_version = "d0";
  started.config.cluster_uid = "cluster-1";
  const model::ObjectRef gone{model::ObjectKind::kNodeClaim, "", "general-abcde", "c1"};
  const std::vector<events::Record> records = {
      record(started, 2, 0),
      record(events::CatalogueObserved{catalogue()}, 3, 0),
      record(events::PodObserved{pod("")}, 4, 0),
      record(model::Command{"provisioning",
                            "provisioned",
                            {Position(4), Position(3)},
                            model::CreateNodeClaim{claim()}},
             5, 4),
      record(created, 6, 5),
      record(model::Command{"lifecycle", "provisioned", {Position(5)}, launch()}, 7, 5),
      record(events::NodeClaimObserved{observed}, 8, 0),
      record(events::NodeObserved{node()}, 9, 0),
      record(launched, 10, 7),
      record(events::InterruptionReceived{notice}, 11, 0),
      record(
          model::Command{
              "interruption", "spot_interrupted", {Position(11)}, model::DeleteObject{gone}},
          12, 11),
      record(events::PodObserved{pod("n1")}, 13, 0),
      record(events::RoundClosed{}, 14, 0),
  };
  const auto appended = log_.append(records, events::Durability::kSynced);
  KARST_CHECK(appended.has_value(), "a memory log takes what is well-formed");
}

}  // namespace karst::exports
