// The engine's loop over a log in memory and hands that only write down what they were given.
#include "daemon/daemon.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "daemon/system_clock.h"
#include "events/memory_log.h"
#include "providers/provider.h"

namespace karst::daemon {
namespace {

// A log whose disk is full while `full` is set.
class FillingLog final : public events::EventLog {
 public:
  const model::LogId& id() const override { return log_.id(); }
  base::Result<model::Position> append(std::span<const events::Record> records,
                                       events::Durability durability) override {
    if (full) return base::fail(base::Kind::kFull, "the disk is full");
    return log_.append(records, durability);
  }
  base::Result<std::unique_ptr<events::Cursor>> read(model::Position from) const override {
    return log_.read(from);
  }
  model::Position end() const override { return log_.end(); }

  std::atomic<bool> full{false};

 private:
  events::MemoryLog log_{model::LogId("testlog")};
};

// Keeps what it was told, with the end of the log at that moment, and lets a test wait for it.
class Hands final : public ports::CommandPort, public ports::QueuePort {
 public:
  explicit Hands(const events::EventLog& log) : log_(log) {}
  void submit(const ports::IssuedCommand& command) override {
    EXPECT_LT(command.id.position, log_.end()) << "sent before it was durable";
    {
      std::lock_guard lock(mutex_);
      may_leave_ = command.may_leave;
    }
    note("submit");
  }
  void acknowledge(const std::string& receipt) override { note(receipt); }
  std::uint64_t deleted() const override { return 7; }

  // Of the last command.
  bool may_leave() {
    std::lock_guard lock(mutex_);
    return may_leave_ && may_leave_();
  }
  bool await(const std::string& what) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      return std::find(notes_.begin(), notes_.end(), what) != notes_.end();
    });
  }

 private:
  void note(const std::string& what) {
    std::lock_guard lock(mutex_);
    notes_.push_back(what);
    changed_.notify_all();
  }
  const events::EventLog& log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> notes_;
  std::function<bool()> may_leave_;
};

class Heard final : public Notices {
 public:
  void round(const std::vector<Happening>& happenings, const Watcher&, std::int64_t) override {
    std::lock_guard lock(mutex_);
    for (const Happening& h : happenings) kinds_.push_back(h.kind);
    changed_.notify_all();
  }
  void relief(base::WallTime time, std::string_view message) override { alarm(time, message); }
  void alarm(base::WallTime, std::string_view message) override {
    std::lock_guard lock(mutex_);
    alarms_.emplace_back(message);
    changed_.notify_all();
  }
  bool await_alarm(const std::string& part) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      return std::any_of(alarms_.begin(), alarms_.end(), [&](const std::string& alarm) {
        return alarm.find(part) != std::string::npos;
      });
    });
  }
  bool has_alarm(const std::string& part) {
    std::lock_guard lock(mutex_);
    return std::any_of(alarms_.begin(), alarms_.end(), [&](const std::string& alarm) {
      return alarm.find(part) != std::string::npos;
    });
  }
  bool await(HappeningKind kind) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] {
      return std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end();
    });
  }
  std::size_t count(HappeningKind kind) {
    std::lock_guard lock(mutex_);
    return static_cast<std::size_t>(std::count(kinds_.begin(), kinds_.end(), kind));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<HappeningKind> kinds_;
  std::vector<std::string> alarms_;
};

ports::Fact interruption(const std::string& message) {
  model::Interruption interruption;
  interruption.message = model::MessageId(message);
  interruption.kind = model::InterruptionKind::kSpotInterruption;
  interruption.provider_id = model::ProviderId("kwok://nobody");
  return {events::InterruptionReceived{interruption}, base::WallTime(1), message};
}

// A lease that another replica may hold: leading begins with the fact that the epoch is open.
class Contested final : public ports::LeasePort {
 public:
  bool contested() const override { return true; }
  std::int64_t send_deadline_monotonic_millis(std::uint64_t of) const override {
    return lasts && of == epoch ? INT64_MAX : 0;
  }
  std::atomic<bool> lasts{true};
  std::atomic<std::uint64_t> epoch{1};
};

// A node that karst made, and its claim, as a watch shows both; the labels tell how far it is.
std::vector<ports::Fact> machine_of(const std::string& name, bool registered) {
  model::NodeClaim claim;
  claim.name = model::ClaimName("claim-" + name);
  claim.uid = model::ClaimUid("uid-" + name);
  claim.pool = model::PoolName("default");
  claim.provider_id = model::ProviderId("kwok://" + name);
  claim.node_class = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  claim.labels = {{std::string(model::kInstanceTypeLabel), "c-4x"},
                  {std::string(model::kZoneLabel), "zone-a"}};
  model::Node node;
  node.name = model::NodeName(name);
  node.uid = model::NodeUid("node-uid-" + name);
  node.provider_id = claim.provider_id;
  if (registered)
    node.labels = {{std::string(model::kInitializedLabel), "true"},
                   {std::string(model::kRegisteredLabel), "true"}};
  return {{events::NodeClaimObserved{claim}, base::WallTime(1), ""},
          {events::NodeObserved{node}, base::WallTime(1), ""}};
}

class DaemonTest : public testing::Test {
 protected:
  explicit DaemonTest(const ports::LeasePort& lease) : hands_(log_), lease_(lease) { make(); }
  DaemonTest() : DaemonTest(kAlways) {}
  void make(bool log_space_low = false) {
    DaemonParts parts;
    parts.log_space_low = log_space_low;
    parts.board = &board_;
    parts.log = &log_;
    parts.provider = providers::find_provider("kwok");
    parts.clock = &clock_;
    parts.objects = parts.instances = &hands_;
    parts.queue = &hands_;
    parts.lease = &lease_;
    parts.notices = &heard_;
    parts.kill_points = &kill_points_;
    parts.release_ballast = [this] { ++ballasts_; };
    parts.restore_ballast = [this] { return room_.load(); };
    parts.engine.decision_version = "test";
    parts.recovered = [this](const projections::ClusterState& state) {
      ++recovered_;
      EXPECT_TRUE(state.catalogues().contains("kwok")) << "the hands are told what is known";
      EXPECT_EQ(state.last_round(), model::Position()) << "before anything is decided";
    };
    daemon_.emplace(std::move(parts));
  }
  ~DaemonTest() override { finish(); }

  void start() {
    thread_ = std::thread([this] { status_ = daemon_->run(); });
  }
  void finish() {
    if (!thread_.joinable()) return;
    daemon_->stop();
    thread_.join();
  }

  const SystemClock clock_;
  FillingLog log_;
  Hands hands_;
  Heard heard_;
  static inline const AlwaysLeads kAlways;
  const ports::LeasePort& lease_;
  KillPoints kill_points_;
  ViewBoard board_;
  std::atomic<int> ballasts_{0};
  std::atomic<bool> room_{false};
  std::atomic<int> recovered_{0};
  std::optional<Daemon> daemon_;
  base::Status status_;
  std::thread thread_;
};

TEST_F(DaemonTest, AcknowledgesWhatIsInTheLog) {
  start();
  ASSERT_TRUE(daemon_->inbox().offer(interruption("m-1")));
  ASSERT_TRUE(hands_.await("m-1"));
  finish();
  EXPECT_TRUE(status_.has_value());
  EXPECT_EQ(heard_.count(HappeningKind::kInterrupted), 1U);
  EXPECT_EQ(heard_.count(HappeningKind::kStarted), 1U);
  const auto view = board_.read();
  EXPECT_TRUE(view->recovered);
  EXPECT_EQ(recovered_, 1) << "it is told once";
  EXPECT_FALSE(view->ready()) << "nothing was listed";
  EXPECT_EQ(view->counters.interruptions.at({"spot_interrupted"}), 1U);
  EXPECT_EQ(view->counters.messages_deleted, 7U) << "by the queue's word";
}

TEST_F(DaemonTest, ARedeliveryIsAcknowledgedAgainAndNotTold) {
  start();
  ASSERT_TRUE(daemon_->inbox().offer(interruption("m-1")));
  ASSERT_TRUE(hands_.await("m-1"));
  ports::Fact again = interruption("m-1");
  again.receipt = "m-1 again";
  ASSERT_TRUE(daemon_->inbox().offer(again));
  ASSERT_TRUE(hands_.await("m-1 again"));
  finish();
  EXPECT_EQ(heard_.count(HappeningKind::kInterrupted), 1U);
}

TEST_F(DaemonTest, AFullDiskEndsNothing) {
  start();
  ASSERT_TRUE(daemon_->inbox().offer(interruption("m-1")));
  ASSERT_TRUE(hands_.await("m-1"));
  log_.full = true;
  ASSERT_TRUE(daemon_->inbox().offer(interruption("m-2")));
  ASSERT_TRUE(heard_.await_alarm("the ballast was given up"));
  ASSERT_TRUE(heard_.await_alarm("there is no ballast left"));
  EXPECT_TRUE(board_.read()->disk_full);
  log_.full = false;
  EXPECT_TRUE(hands_.await("m-2")) << "the same round is finished once there is room";
  EXPECT_TRUE(heard_.await(HappeningKind::kLogSpaceLow)) << "the log says so, too";
  EXPECT_EQ(heard_.count(HappeningKind::kLogSpaceBack), 0U);
  EXPECT_FALSE(heard_.has_alarm("has space again")) << "it lives on its ballast";
  EXPECT_TRUE(board_.read()->disk_full);
  room_ = true;
  EXPECT_TRUE(heard_.await(HappeningKind::kLogSpaceBack));
  EXPECT_TRUE(heard_.await_alarm("has space again"));
  finish();
  EXPECT_EQ(ballasts_, 1);
  EXPECT_FALSE(board_.read()->disk_full);
  EXPECT_EQ(heard_.count(HappeningKind::kInterrupted), 2U);
}

// Nothing new is started for want of a ballast: that is not ready.
TEST_F(DaemonTest, ADiskThatIsFullFromTheStartIsSaidToBe) {
  make(/*log_space_low=*/true);
  start();
  ASSERT_TRUE(heard_.await(HappeningKind::kLogSpaceLow));
  EXPECT_TRUE(board_.read()->disk_full);
  EXPECT_FALSE(board_.read()->ready());
  room_ = true;
  EXPECT_TRUE(heard_.await(HappeningKind::kLogSpaceBack));
  EXPECT_TRUE(heard_.await_alarm("has space again"));
  finish();
  EXPECT_FALSE(board_.read()->disk_full);
}

TEST_F(DaemonTest, StopsWhileTheDiskIsFull) {
  start();
  ASSERT_TRUE(daemon_->inbox().offer(interruption("m-1")));
  ASSERT_TRUE(hands_.await("m-1"));
  log_.full = true;
  ASSERT_TRUE(daemon_->inbox().offer(interruption("m-2")));
  ASSERT_TRUE(heard_.await_alarm("the ballast was given up"));
  finish();
  EXPECT_TRUE(status_.has_value());
}

class ReplicaTest : public DaemonTest {
 protected:
  ReplicaTest() : DaemonTest(contested) {
    contested.lasts = true;
    contested.epoch = 1;
  }
  void offer(events::Body body) {
    ASSERT_TRUE(daemon_->inbox().offer({std::move(body), base::WallTime(1), ""}));
  }
  void offer_machine(const std::string& name, bool registered) {
    for (ports::Fact& fact : machine_of(name, registered))
      ASSERT_TRUE(daemon_->inbox().offer(std::move(fact)));
  }
  // Waits until `there` is true of what is published.
  bool await_view(const std::function<bool(const View&)>& there) {
    for (int tries = 0; tries < 6'000; ++tries) {
      if (there(*board_.read())) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  static inline Contested contested;
};

// However late it does: what was read for it may arrive when this replica leads again.
TEST_F(ReplicaTest, ACommandMayLeaveInTheEpochInWhichItWasIssuedOnly) {
  start();
  offer(events::EpochOpened{1, "me"});
  ASSERT_TRUE(await_view([](const View& view) { return view.leading; }));
  for (const char* kind :
       {"NodePool", "NodeClass", "DaemonSet", "Node", "NodeClaim", "Pod", "Instance"}) {
    offer(events::ListStarted{kind});
    if (std::string_view(kind) == "NodeClaim") offer_machine("mine", true);
    offer(events::ListEnded{kind, "1"});
  }
  ports::Fact taken = interruption("m-1");
  std::get<events::InterruptionReceived>(taken.body).interruption.provider_id =
      model::ProviderId("kwok://mine");
  ASSERT_TRUE(daemon_->inbox().offer(std::move(taken)));
  ASSERT_TRUE(hands_.await("submit"));
  EXPECT_TRUE(hands_.may_leave());
  contested.lasts = false;
  EXPECT_FALSE(hands_.may_leave());
  contested.lasts = true;
  contested.epoch = 3;
  EXPECT_FALSE(hands_.may_leave());
}

TEST_F(ReplicaTest, OnlyTheOneThatLeadsTellsAndCountsWhatTheClusterDoes) {
  const auto created = [&] { return board_.read()->counters.nodes_created; };
  const Counters::Counts nothing, one = {{{"default", "zone-a"}, 1}};
  start();
  offer_machine("before", true);
  ASSERT_TRUE(await_view([](const View& view) { return view.nodes == 1; }));
  EXPECT_FALSE(board_.read()->leading);
  EXPECT_EQ(heard_.count(HappeningKind::kStarted), 1U) << "its own start";
  EXPECT_EQ(heard_.count(HappeningKind::kRegistered), 0U) << "the leader's work";
  EXPECT_EQ(heard_.count(HappeningKind::kInitialized), 0U);
  EXPECT_EQ(created(), nothing);

  offer(events::EpochOpened{1, "me"});
  ASSERT_TRUE(await_view([](const View& view) { return view.leading; }));
  offer_machine("mine", false);
  offer_machine("mine", true);
  ASSERT_TRUE(heard_.await(HappeningKind::kInitialized));
  ASSERT_TRUE(await_view([&](const View&) { return created() != nothing; }));
  EXPECT_EQ(created(), one) << "and what was there before is not told after all";

  // Stopped for longer than its lease, it hears of the cluster before it hears of that.
  contested.lasts = false;
  offer_machine("late", true);
  ASSERT_TRUE(await_view([](const View& view) { return view.nodes == 3; }));
  EXPECT_EQ(created(), one) << "whoever leads then counts it";

  offer(events::LeadershipLost{1});
  ASSERT_TRUE(await_view([](const View& view) { return !view.leading; }));
  offer_machine("after", true);
  offer(events::NodeGone{model::NodeUid("node-uid-mine"), model::NodeName("mine")});
  ASSERT_TRUE(await_view([](const View& view) { return view.claims == 4 && view.nodes == 3; }));
  finish();
  EXPECT_EQ(created(), one) << "what it counted stays";
  EXPECT_EQ(heard_.count(HappeningKind::kRegistered), 1U);
  EXPECT_EQ(heard_.count(HappeningKind::kNodeGone), 0U);
  EXPECT_TRUE(board_.read()->counters.nodes_terminated.empty());
}

TEST(LastLogTime, OfALog) {
  events::MemoryLog log(model::LogId("testlog"), base::WallTime(5'000));
  const auto last = last_log_time(log);
  ASSERT_TRUE(last.has_value() && last->has_value());
  EXPECT_EQ(**last, base::LogTime(5'000));
}

}  // namespace
}  // namespace karst::daemon
