// A trimmed log folds to the state of the whole one, decides the same, and goes on; and what is
// done with one whose baseline this build cannot read.
#include "tests/engine/stage.h"

namespace karst::engine::testing {
namespace {

using projections::ClusterState;

// More than a thousand events of pods, claims, a node and its pods, over three starts.
void live(Story& story) {
  set_the_stage(story);
  come_up(story, launch_for_one_pod(story));
  story.step();
  for (int wave = 0; wave < 45; ++wave) {
    const model::PodShape shape = shape_of(100 + wave);
    story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
    for (int i = 0; i < 10; ++i)
      story.fact(events::PodObserved{
          pending_pod("pod-" + std::to_string(wave) + "-" + std::to_string(i), shape)});
    story.step();
    story.step(1100);
    for (const auto& command : story.take<model::CreateNodeClaim>())
      story.answer(command, model::OutcomeKind::kRefused, {}, model::RefusalCode::kRetry);
    for (int i = 0; i < 10; ++i) {
      const std::string name = "pod-" + std::to_string(wave) + "-" + std::to_string(i);
      story.fact(events::PodGone{model::PodUid(name), "default", name});
    }
    story.step();
    if (wave % 10 == 9) {
      story.start();
      set_the_stage(story);
    }
  }
}

ClusterState folded(const events::EventLog& log, model::Position until = {}) {
  ClusterState state;
  const auto from = rebuild(log, nullptr, until, state);
  EXPECT_TRUE(from) << from.error().message;
  return state;
}

events::Baseline baseline_at(const events::EventLog& log, std::uint64_t position) {
  const auto before = log.baseline();
  std::string decisions = *before ? (*before)->decision_version : "";
  auto cursor = log.read(log.first());
  for (auto event = (*cursor)->next(); event && *event; event = (*cursor)->next()) {
    if ((*event)->envelope.position.value() > position) break;
    if ((*event)->envelope.type == events::EventType::kDaemonStarted) decisions = "test";
  }
  const ClusterState state = folded(log, model::Position(position));
  return {model::Position(position), std::string(projections::kProjectionVersion), decisions,
          state.save()};
}

class TrimmedEngine : public ::testing::Test {
 protected:
  void SetUp() override { live(story_); }
  events::MemoryLog log_{model::LogId("log")};
  Story story_{log_};
};

// At each place where a log may begin: the same state at the end, at each tile between, and every
// round that is not cut is decided again.
TEST_F(TrimmedEngine, FoldsAndVerifiesFromEveryTileOn) {
  const std::uint64_t end = log_.end().value();
  ASSERT_GT(end, 4 * events::kTrimTile);
  const VerifyReport whole = verified(log_);
  ASSERT_FALSE(whole.difference) << whole.difference->what;
  std::vector<base::Hash128> digests;
  for (std::uint64_t at = events::kTrimTile; at < end; at += events::kTrimTile)
    digests.push_back(folded(log_, model::Position(at)).digest());
  std::uint64_t rounds = whole.rounds, trimmings = 0;
  for (std::uint64_t at = events::kTrimTile; at < end; at += events::kTrimTile, ++trimmings) {
    log_.trim(baseline_at(log_, at));
    EXPECT_EQ(folded(log_).digest(), story_.state().digest()) << at;
    for (std::uint64_t later = at; later < end; later += events::kTrimTile)
      EXPECT_EQ(folded(log_, model::Position(later)).digest(),
                digests[later / events::kTrimTile - 1])
          << at << ", " << later;
    const VerifyReport report = verified(log_);
    EXPECT_FALSE(report.difference) << at << ": " << report.difference->what;
    EXPECT_EQ(report.from.value(), at + 1);
    EXPECT_EQ(report.events, end - 1 - at);
    EXPECT_LT(report.rounds, rounds);
    rounds = report.rounds;
  }
  EXPECT_GE(trimmings, 4U);
}

TEST_F(TrimmedEngine, GoesOnAsTheWholeOneWould) {
  log_.trim(baseline_at(log_, 2 * events::kTrimTile));
  const base::Hash128 before = story_.state().digest();
  const model::Position last(log_.end().value() - 1);
  story_.start();
  EXPECT_EQ(folded(log_, last).digest(), before);
  set_the_stage(story_);
  add_pods(story_, 3);
  story_.step(61'000);  // claims of the pool were refused: longer than it waits at most
  EXPECT_FALSE(story_.take<model::CreateNodeClaim>().empty());
  const VerifyReport report = verified(log_);
  EXPECT_FALSE(report.difference) << report.difference->what;
}

TEST_F(TrimmedEngine, ABaselineThatIsNotWhatWasFoldedIsFound) {
  const std::uint64_t at = 2 * events::kTrimTile;
  events::Baseline wrong = baseline_at(log_, at);
  ClusterState other = folded(log_, model::Position(at));
  events::Envelope envelope;
  envelope.position = model::Position(at);
  envelope.log_time = other.last_log_time();
  other.apply(envelope, events::SourceBeat{"Pod", "made up"});
  wrong.bytes = other.save();
  log_.trim(wrong);
  const VerifyReport report = verified(log_);
  ASSERT_TRUE(report.difference);
  EXPECT_NE(report.difference->what.find("digest"), std::string::npos) << report.difference->what;
}

TEST_F(TrimmedEngine, ABaselineOfAnotherPlaceIsRefused) {
  events::Baseline wrong = baseline_at(log_, 2 * events::kTrimTile);
  wrong.bytes = baseline_at(log_, events::kTrimTile).bytes;
  log_.trim(wrong);
  ClusterState state;
  const auto from = rebuild(log_, nullptr, model::Position(), state);
  ASSERT_FALSE(from);
  EXPECT_EQ(from.error().kind, base::Kind::kCorrupt);
}

// The newest snapshot that is put.
class LastSnapshot final : public events::Snapshots {
 public:
  base::Status put(std::string_view version, const events::Snapshot& snapshot) override {
    EXPECT_EQ(version, projections::kProjectionVersion);
    kept = snapshot;
    return {};
  }
  base::Result<std::optional<events::Snapshot>> latest(std::string_view,
                                                       model::Position position) const override {
    return kept && kept->position <= position ? kept : std::nullopt;
  }
  std::optional<events::Snapshot> kept;
};

// Another build's baseline: readers say so, the daemon takes the cluster over as a new replica
// does, and from there on its log folds again.
TEST_F(TrimmedEngine, ABaselineOfAnotherProjectionIsATakeover) {
  events::Baseline other = baseline_at(log_, 2 * events::kTrimTile);
  other.projection = "another";
  log_.trim(other);
  const std::uint64_t end = log_.end().value();
  LastSnapshot snapshots;
  ClusterState state;
  for (const base::Error& error : {rebuild(log_, &snapshots, model::Position(), state).error(),
                                   verify(log_, "test", false).error()}) {
    EXPECT_EQ(error.kind, base::Kind::kGone);
    EXPECT_NE(error.message.find("projection version another"), std::string::npos);
    EXPECT_NE(error.message.find("log restore"), std::string::npos) << error.message;
  }

  EngineOptions options;
  options.config.cluster_uid = "cluster";
  options.config.shadow = true;  // what the past says of that is not known
  options.decision_version = "test";
  const providers::Provider* provider = providers::find_provider("kwok");
  Engine engine(log_, &snapshots, *provider, options);
  const auto recovered = engine.recover(base::LogTime(story_.now()), base::WallTime(story_.now()));
  ASSERT_TRUE(recovered) << recovered.error().message;
  EXPECT_NE(recovered->past_unknown.find("projection version another"), std::string::npos);
  EXPECT_EQ(recovered->folded_from.value(), end);
  EXPECT_EQ(engine.state().log_id(), log_.id());
  EXPECT_EQ(engine.state().pods().size(), 0U);
  EXPECT_EQ(engine.state().nodes().size(), 0U);
  EXPECT_EQ(engine.state().config().cluster_uid, "cluster");
  ASSERT_TRUE(snapshots.kept) << "so that the next start folds from there";
  ASSERT_TRUE(engine.step(base::LogTime(story_.now() + 100), base::WallTime(story_.now() + 100),
                          {{events::ListStarted{"Pod"}, base::WallTime(1), ""}}));
  ClusterState again;
  ASSERT_TRUE(rebuild(log_, &snapshots, model::Position(), again));
  EXPECT_EQ(again.digest(), engine.state().digest());
}

}  // namespace
}  // namespace karst::engine::testing
