// The round, told step by step: from a pending pod to a node, and every way back into the same
// state.
#include "events/codec.h"
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

TEST(Engine, PendingPodsBecomeOneClaimAfterTheBatchWindow) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  add_pods(story, 3);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << "the window is 1 s idle";
  story.step(1100);
  const auto created = story.take<model::CreateNodeClaim>();
  ASSERT_EQ(created.size(), 1u);
  const auto& claim = std::get<model::CreateNodeClaim>(created[0].spec).claim;
  EXPECT_EQ(claim.name, model::claim_name_for(claim.pool, created[0].id));
  EXPECT_EQ(model::label_value(claim.annotations, model::kCommandIdAnnotation),
            to_string(created[0].id));
  EXPECT_EQ(story.state().pods().expected_on_claim(claim.name.str()).size(), 3u);
  story.step(5000);
  EXPECT_TRUE(story.take<model::CreateNodeClaim>().empty()) << "covered pods ask for nothing more";
}

TEST(Engine, AFactTooLargeForTheLogIsRefusedAndNamed) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  story.fact(events::NodeClassObserved{{{"karpenter.kwok.sh", "KWOKNodeClass", "huge"},
                                        "c1",
                                        1,
                                        true,
                                        0,
                                        std::string(events::kPayloadMax + 1, 'x')}});
  story.step();
  EXPECT_EQ(story.state().node_classes().size(), 0u);
  auto cursor = log.read(model::Position(log.end().value() - 2));
  ASSERT_TRUE(cursor);
  auto event = (*cursor)->next();
  ASSERT_TRUE(event && *event);
  const auto body = events::decode_body(**event);
  const auto* refused = std::get_if<events::InputRefused>(&body);
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(refused->id, "nodeclass/KWOKNodeClass/huge");
}

// As Karpenter's clouds answer: without its node class there is no capacity, and one that is not
// ready refuses.
TEST(Engine, AClaimGoesWhenItsNodeClassIsGoneOrNotReady) {
  for (const bool gone : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    add_pods(story, 1);
    story.step(1'100);
    const auto created = story.take<model::CreateNodeClaim>();
    ASSERT_EQ(created.size(), 1u);
    const model::NodeClassRef ref{"karpenter.kwok.sh", "KWOKNodeClass", "default"};
    if (gone)
      story.fact(events::NodeClassGone{ref});
    else
      story.fact(events::NodeClassObserved{{ref, "c1", 1, false, 0, "{}"}});
    model::NodeClaim claim = std::get<model::CreateNodeClaim>(created[0].spec).claim;
    claim.uid = model::ClaimUid("uid");
    claim.creation_millis = story.now();
    story.fact(events::NodeClaimObserved{claim});
    story.answer(created[0], model::OutcomeKind::kDone);
    story.step();
    EXPECT_TRUE(story.take<model::Launch>().empty());
    const auto deletes = story.take<model::DeleteObject>();
    ASSERT_EQ(deletes.size(), 1u);
    EXPECT_EQ(story.state().commands().find(deletes[0].id.position)->command.reason,
              gone ? "insufficient_capacity" : "nodeclass_not_ready");
  }
}

// Karpenter v1: a claim that is not launched within 5 minutes of its creation, or not registered
// within 15, is given up.
TEST(Engine, AClaimThatIsNotLaunchedOrRegisteredInTimeIsGivenUp) {
  for (const bool launched : {false, true}) {
    events::MemoryLog log(model::LogId("log"));
    Story story(log);
    set_the_stage(story);
    add_pods(story, 1);
    const std::int64_t created = story.now();
    const auto launches = create_claims(story);
    ASSERT_EQ(launches.size(), 1u);
    if (launched)
      story.answer(
          launches[0], model::OutcomeKind::kDone,
          {testing::instance_for(std::get<model::Launch>(launches[0].spec), 0, launches[0].id)});
    else
      story.answer(launches[0], model::OutcomeKind::kUnclear);
    const std::int64_t limit = (launched ? 15 : 5) * base::kMillisPerMinute;
    story.step(created + limit - story.now());
    EXPECT_TRUE(story.take<model::DeleteObject>().empty()) << launched;
    story.step(3'000);
    const auto deletes = story.take<model::DeleteObject>();
    ASSERT_EQ(deletes.size(), 1u) << launched;
    const auto* command = story.state().commands().find(deletes[0].id.position);
    ASSERT_NE(command, nullptr);
    EXPECT_EQ(command->command.reason, launched ? "registration_timeout" : "launch_timeout");
  }
}

TEST(Engine, ALaunchCarriesTheTokenOfItsClaimsAndIsSentAgainUnchangedWhileUnclear) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  add_pods(story, 1);
  const auto launches = create_claims(story);
  ASSERT_EQ(launches.size(), 1u);
  const auto first = std::get<model::Launch>(launches[0].spec);
  const model::LaunchKey key{first.items[0].claim, 1};
  EXPECT_EQ(first.token, model::launch_token("cluster", std::span(&key, 1)));
  story.answer(launches[0], model::OutcomeKind::kUnclear);
  story.step();
  story.step(3000);
  const auto again = story.take<model::Launch>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].id, launches[0].id);
  EXPECT_EQ(again[0].attempt, 2u);
  EXPECT_EQ(std::get<model::Launch>(again[0].spec), first);
  EXPECT_FALSE(verified(log).difference);
}

TEST(Engine, ACrashMakesOpenCommandsUnclearAndTheSameOrderGoesOut) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  add_pods(story, 1);
  const auto launches = create_claims(story);
  ASSERT_EQ(launches.size(), 1u);
  const model::NodeClaim claim = story.state().claims().slots().begin()->second.row.claim;
  story.start();  // the process died after dispatch; nobody knows what became of the order
  EXPECT_NE(
      story.state().open_command("nodeclaim/" + claim.name.str(), model::CommandKind::kLaunch),
      nullptr);
  story.step();
  EXPECT_TRUE(story.take<model::Launch>().empty()) << "not before the claims are listed";
  story.list("NodeClaim", {events::NodeClaimObserved{claim}});
  story.step(2000);
  story.step(2000);
  const auto again = story.take<model::Launch>();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(std::get<model::Launch>(again[0].spec).token,
            std::get<model::Launch>(launches[0].spec).token);
  EXPECT_FALSE(verified(log).difference);
}

TEST(Engine, BackOffsOfWhatIsGoneDoNotStay) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  const auto mirrors = story.take<model::MirrorPool>();
  ASSERT_EQ(mirrors.size(), 1u);
  story.fact(events::NodePoolGone{model::PoolName("default")});
  story.step();
  story.answer(mirrors[0], model::OutcomeKind::kRefused, {}, model::RefusalCode::kGone);
  story.step();
  EXPECT_EQ(story.state().back_offs().size(), 1u) << "the answer came late";
  story.step(projections::kBackOffKeptMillis / 2);
  EXPECT_EQ(story.state().back_offs().size(), 1u);
  for (int i = 0; i < 2; ++i) {
    story.step(projections::kBackOffKeptMillis);
    story.fact(events::SourceBeat{"kube/Pod", std::to_string(i)});
  }
  story.step();
  EXPECT_EQ(story.state().back_offs().size(), 0u);
  EXPECT_FALSE(verified(log).difference);
}

TEST(Engine, ARedeliveredInterruptionIsAcknowledgedAndNotLoggedAgain) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  EngineOptions options;
  Engine engine(log, nullptr, *providers::find_provider("kwok"), options);
  ASSERT_TRUE(engine.recover(base::LogTime(story.now()), base::WallTime(0)));
  const model::Interruption message{model::MessageId("m1"),
                                    model::InterruptionKind::kSpotInterruption,
                                    model::ProviderId("kwok://x"), 1, 1};
  std::uint64_t facts = 0;
  for (int delivery = 0; delivery < 2; ++delivery) {
    auto round = engine.step(base::LogTime(story.now() + delivery), base::WallTime(0),
                             {{events::InterruptionReceived{message}, base::WallTime(0),
                               "receipt-" + std::to_string(delivery)}});
    ASSERT_TRUE(round);
    ASSERT_EQ(round->to_acknowledge.size(), 1u);
    facts += round->facts;
  }
  EXPECT_EQ(facts, 1u);
}

TEST(Verify, AnAlteredADroppedAndAnAddedEventAreFoundAndTheRoundIsNamed) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  add_pods(story, 3);
  create_claims(story);
  ASSERT_FALSE(verified(log).difference);
  std::vector<events::Record> records;
  auto cursor = log.read(model::Position(1));
  ASSERT_TRUE(cursor);
  while (true) {
    auto event = (*cursor)->next();
    ASSERT_TRUE(event);
    if (!*event) break;
    records.push_back({(*event)->envelope.log_time, (*event)->envelope.wall_time,
                       (*event)->envelope.causation, (*event)->envelope.correlation,
                       (*event)->envelope.type, std::string((*event)->envelope.stream),
                       std::string((*event)->payload)});
  }
  const auto verify_copy = [&](std::vector<events::Record> changed) {
    events::MemoryLog copy(model::LogId("log"));
    changed.erase(changed.begin());  // a new log writes its own LogCreated
    EXPECT_TRUE(copy.append(changed, events::Durability::kSynced));
    return verified(copy);
  };
  EXPECT_FALSE(verify_copy(records).difference) << "the copy itself is no difference";
  const auto pod = std::find_if(records.begin(), records.end(), [](const auto& r) {
    return r.type == events::EventType::kPodObserved;
  });
  ASSERT_NE(pod, records.end());
  auto altered = records;
  auto body = std::get<events::PodObserved>(events::decode_payload(pod->type, pod->payload));
  body.pod.name = "another";
  altered[static_cast<std::size_t>(pod - records.begin())].payload = events::encode_payload(body);
  auto dropped = records;
  dropped.erase(dropped.begin() + (pod - records.begin()));
  auto decision_altered = records;
  const auto create = std::find_if(records.begin(), records.end(), [](const auto& r) {
    return r.type == events::EventType::kNodeClaimCreateRequested;
  });
  ASSERT_NE(create, records.end());
  auto command = std::get<model::Command>(events::decode_payload(create->type, create->payload));
  command.reason = "because";
  decision_altered[static_cast<std::size_t>(create - records.begin())].payload =
      events::encode_payload(command);
  for (const auto& changed : {altered, dropped, decision_altered}) {
    const auto report = verify_copy(changed);
    ASSERT_TRUE(report.difference);
    EXPECT_GT(report.difference->round_number, 0u);
    EXPECT_FALSE(report.difference->what.empty());
  }
}

TEST(Engine, AnInstanceWithoutAClaimIsLookedUpAndTerminated) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  model::Instance orphan;
  orphan.provider_id = model::ProviderId("kwok://orphan");
  orphan.claim = model::ClaimUid("nobody");
  orphan.attempt = 1;
  orphan.state = model::InstanceState::kRunning;
  story.fact(events::InstanceObserved{orphan});
  story.step();
  EXPECT_TRUE(story.take<model::FindInstances>().empty()) << "not within the grace time";
  story.step(31'000);
  const auto finds = story.take<model::FindInstances>();
  ASSERT_EQ(finds.size(), 1u);
  EXPECT_TRUE(story.take<model::Terminate>().empty()) << "never without a fresh look";
  story.answer(finds[0], model::OutcomeKind::kDone, {orphan});
  story.step();
  EXPECT_EQ(story.take<model::Terminate>().size(), 1u);
}

// A log that knows how far it would survive a power loss.
class DurableEnd final : public events::EventLog {
 public:
  const model::LogId& id() const override { return log_.id(); }
  base::Result<model::Position> append(std::span<const events::Record> records,
                                       events::Durability durability) override {
    auto first = log_.append(records, durability);
    if (durability == events::Durability::kSynced) durable_end = log_.end();
    return first;
  }
  base::Result<std::unique_ptr<events::Cursor>> read(model::Position from) const override {
    return log_.read(from);
  }
  model::Position end() const override { return log_.end(); }

  model::Position durable_end;

 private:
  events::MemoryLog log_{model::LogId("log")};
};

class SeenSnapshots final : public events::Snapshots {
 public:
  explicit SeenSnapshots(const DurableEnd& log) : log_(log) {}
  base::Status put(std::string_view, const events::Snapshot& snapshot) override {
    EXPECT_LT(snapshot.position, log_.durable_end) << "of events that a power loss would take";
    ++count;
    return {};
  }
  base::Result<std::optional<events::Snapshot>> latest(std::string_view,
                                                       model::Position) const override {
    return std::optional<events::Snapshot>();
  }
  int count = 0;

 private:
  const DurableEnd& log_;
};

TEST(Engine, ASnapshotHoldsOnlyWhatIsSynced) {
  DurableEnd log;
  SeenSnapshots snapshots(log);
  Engine engine(log, &snapshots, *providers::find_provider("kwok"), {{}, "test", "test", 7});
  std::int64_t now = 1'800'000'000'000;
  ASSERT_TRUE(engine.recover(base::LogTime(now), base::WallTime(now)));
  for (int round = 0; round < 100; ++round, now += 50) {
    std::vector<ports::Fact> facts;
    facts.push_back(
        {events::InputRefused{"test", std::to_string(round), "no", ""}, base::WallTime(now), ""});
    ASSERT_TRUE(engine.step(base::LogTime(now), base::WallTime(now), std::move(facts)));
  }
  EXPECT_GE(snapshots.count, 20);
}

class Positions final : public events::Snapshots {
 public:
  base::Status put(std::string_view, const events::Snapshot& snapshot) override {
    put_at.push_back(snapshot.position.value());
    return {};
  }
  base::Result<std::optional<events::Snapshot>> latest(std::string_view,
                                                       model::Position) const override {
    return std::optional<events::Snapshot>();
  }
  std::vector<std::uint64_t> put_at;
};

// After a change of the projection version no snapshot can be used: the start that folds everything
// leaves some on its way, a bounded number, and one at the end.
TEST(Engine, ALongFoldLeavesSnapshots) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  for (int i = 0; i < 300; ++i)
    story.fact(events::InputRefused{"test", std::to_string(i), "no", ""});
  story.step();
  const std::uint64_t end = log.end().value();
  struct Case {
    std::uint64_t distance;
    std::size_t count;
  };
  for (const Case& test :
       {Case{100, end / 100 + 1}, Case{2, kSnapshotsOfAFold + 1}, Case{2 * end, 0}}) {
    Positions snapshots;
    EngineOptions options{{}, "test", "test", test.distance, ""};
    options.config = story.state().config();
    Engine engine(log, &snapshots, *providers::find_provider("kwok"), options);
    const std::uint64_t before = log.end().value();
    ASSERT_TRUE(engine.recover(base::LogTime(story.now()), base::WallTime(story.now())));
    ASSERT_NEAR(static_cast<double>(snapshots.put_at.size()), static_cast<double>(test.count),
                test.count == 0 ? 0 : 1)
        << test.distance;
    EXPECT_TRUE(std::is_sorted(snapshots.put_at.begin(), snapshots.put_at.end()));
    if (test.count == 0) continue;
    EXPECT_GE(snapshots.put_at.back(), before) << "with what it said itself";
  }
}

TEST(Engine, SnapshotAndTailFoldToTheSameState) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  add_pods(story, 5);
  projections::ClusterState half;
  ASSERT_TRUE(rebuild(log, nullptr, model::Position(log.end().value() - 3), half));
  projections::ClusterState loaded;
  ASSERT_TRUE(loaded.load(half.save()));
  EXPECT_EQ(loaded.digest(), half.digest());
  for (projections::ClusterState* state : {&half, &loaded})
    ASSERT_TRUE(
        walk(log, state->next_position(), *state, [](const auto&, const auto&) { return true; }));
  EXPECT_EQ(loaded.digest(), half.digest());
  EXPECT_EQ(loaded.digest(), story.state().digest());
  const std::string bytes = half.save();
  for (std::size_t size = 0; size < bytes.size(); size += 37) {
    projections::ClusterState cut;
    EXPECT_FALSE(cut.load(bytes.substr(0, size))) << size;
  }
}

}  // namespace
}  // namespace karst::engine
