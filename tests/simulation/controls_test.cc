// Negative controls: mistakes put in on purpose are found, by the checkers that are meant to find
// them.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "engine/replay.h"
#include "events/codec.h"
#include "tests/simulation/log_file.h"
#include "tests/simulation/runner.h"

namespace karst::simulation {
namespace {

constexpr std::uint64_t kSeedsToFind = 10;

bool found_within(Plant plant, const std::string& invariant) {
  for (std::uint64_t seed = 1; seed <= kSeedsToFind; ++seed) {
    RunOptions options;
    options.seed = seed;
    options.plant = plant;
    options.verify = false;
    const RunResult result = run(options);
    if (std::any_of(result.violations.begin(), result.violations.end(),
                    [&](const Violation& violation) { return violation.invariant == invariant; }))
      return true;
  }
  return false;
}

TEST(Planted, ACommandSentBeforeItsAppendIsFound) {
  EXPECT_TRUE(found_within(Plant::kDispatchBeforeAppend, "intent"));
  EXPECT_FALSE(found_within(Plant::kNone, "intent"));
}

TEST(Planted, AnAcknowledgementBeforeItsAppendIsFound) {
  EXPECT_TRUE(found_within(Plant::kAcknowledgeBeforeAppend, "acknowledgement"));
  EXPECT_FALSE(found_within(Plant::kNone, "acknowledgement"));
}

// One run's log, and copies of it with one event changed or dropped.
class Tampered : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    RunOptions options;
    options.seed = 3;
    options.verify = false;
    (void)run(options, &original_);
  }
  static void TearDownTestSuite() { original_.reset(); }

  // The middle event of that type.
  static std::uint64_t middle_of(events::EventType type) {
    std::vector<std::uint64_t> positions;
    for (std::uint64_t i = 1; i < original_->end().value(); ++i)
      if (event_at(i).envelope.type == type) positions.push_back(i);
    return positions.at(positions.size() / 2);
  }
  static events::Event event_at(std::uint64_t position) {
    return *events::decode_event(model::Position(position),
                                 original_->stored(model::Position(position)));
  }
  static std::uint64_t round_after(std::uint64_t position) {
    while (event_at(position).envelope.type != events::EventType::kRoundClosed) ++position;
    return position;
  }
  // Whether it is no observed pod, or one of which its round tells once more.
  static bool is_overwritten(std::uint64_t position) {
    const auto pod_at = [](std::uint64_t at) {
      const events::Record record = record_of(event_at(at));
      if (record.type != events::EventType::kPodObserved &&
          record.type != events::EventType::kPodGone)
        return model::PodUid();
      const events::Body body = events::decode_payload(record.type, record.payload);
      if (const auto* gone = std::get_if<events::PodGone>(&body)) return gone->uid;
      return std::get<events::PodObserved>(body).pod.uid;
    };
    const model::PodUid pod = pod_at(position);
    for (std::uint64_t next = position + 1; next < round_after(position); ++next)
      if (pod_at(next) == pod) return true;
    return pod.empty() || event_at(position).envelope.type != events::EventType::kPodObserved;
  }
  // `change` edits the body; without one the event is dropped.
  static std::unique_ptr<sim::DiskLog> copy_with(std::uint64_t position,
                                                 const std::function<void(events::Body&)>& change) {
    auto copy =
        std::make_unique<sim::DiskLog>(original_->id(), event_at(1).envelope.log_time.value());
    std::vector<events::Record> records;
    for (std::uint64_t i = 2; i < original_->end().value(); ++i) {
      events::Record record = record_of(event_at(i));
      if (i == position && !change) continue;
      if (i == position) {
        events::Body body = events::decode_payload(record.type, record.payload);
        change(body);
        record.payload = events::encode_payload(body);
      }
      records.push_back(std::move(record));
    }
    EXPECT_TRUE(copy->append(records, events::Durability::kSynced));
    return copy;
  }
  // Position of the round that verify names; 0 when it finds nothing.
  static std::uint64_t round_named(const events::EventLog& log) {
    const auto report = engine::verify(log, kDecisionVersion, false);
    if (!report) {
      ADD_FAILURE() << report.error().message;
      return 0;
    }
    return report->difference ? report->difference->round.value() : 0;
  }

  static inline std::unique_ptr<sim::DiskLog> original_;
};

TEST_F(Tampered, AnUntouchedCopyAgrees) {
  const auto copy = copy_with(0, {});
  EXPECT_EQ(copy->end(), original_->end());
  EXPECT_EQ(round_named(*copy), 0u);
}

// A fact that its own round overwrites leaves no trace in the state that the round closes with.
TEST_F(Tampered, AnAlteredFactIsNamedAtItsRound) {
  std::uint64_t at = middle_of(events::EventType::kPodObserved);
  while (is_overwritten(at)) ++at;
  const auto copy = copy_with(
      at, [](events::Body& body) { std::get<events::PodObserved>(body).pod.creation_millis += 1; });
  EXPECT_EQ(round_named(*copy), round_after(at));
}

TEST_F(Tampered, AnAlteredCpuRequestIsNamedAtItsRound) {
  const std::uint64_t at = middle_of(events::EventType::kShapeRecorded);
  const auto copy = copy_with(at, [](events::Body& body) {
    std::get<events::ShapeRecorded>(body).shape.requests.cpu_millis ^= 1;
  });
  EXPECT_EQ(round_named(*copy), round_after(at));
}

TEST_F(Tampered, ADroppedEventIsNamedAtItsRound) {
  for (const auto type : {events::EventType::kPodObserved, events::EventType::kOutcomeReceived,
                          events::EventType::kLaunchRequested}) {
    const std::uint64_t at = middle_of(type);
    const auto copy = copy_with(at, {});
    EXPECT_EQ(round_named(*copy), round_after(at) - 1) << events::event_type_name(type);
  }
}

TEST_F(Tampered, AnAlteredDecisionIsNamedAtItsRound) {
  const std::uint64_t at = middle_of(events::EventType::kLaunchRequested);
  const auto copy =
      copy_with(at, [](events::Body& body) { std::get<model::Command>(body).reason = "other"; });
  EXPECT_EQ(round_named(*copy), round_after(at));
}

TEST_F(Tampered, AnAlteredDigestIsNamedAtItsRound) {
  const std::uint64_t at = middle_of(events::EventType::kRoundClosed);
  const auto copy = copy_with(
      at, [](events::Body& body) { std::get<events::RoundClosed>(body).state_digest.low ^= 1; });
  EXPECT_EQ(round_named(*copy), at);
}

// Exit code of a program of this build with the log as its argument.
int decide_again(const std::string& program, const std::string& file) {
  const std::string command = std::string(KARST_BINARY_DIR) + "/" + program + " '" + file + "'";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(Tampered, AChangedConstantInAReconcilerIsFound) {
  const std::string file = testing::TempDir() + "simulated.log";
  ASSERT_TRUE(save_log(*original_, file));
  EXPECT_EQ(decide_again("karst_simulate_verify", file), 0);
  EXPECT_EQ(decide_again("karst_simulate_mutant", file), 1);
}

}  // namespace
}  // namespace karst::simulation
