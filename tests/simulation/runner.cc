#include "tests/simulation/runner.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>

#include "base/check.h"
#include "engine/engine.h"
#include "engine/replay.h"
#include "events/codec.h"
#include "providers/provider.h"
#include "sim/world.h"
#include "tests/simulation/runner_parts.h"
#include "tests/simulation/trace.h"

namespace karst::simulation {

namespace {

using sim::Fault;

constexpr std::int64_t kRoundMillis =
    50;  // ordinary facts wait at most this long: 20 rounds a second
constexpr std::uint64_t kSnapshotDistance = 400;
constexpr std::uint64_t kSettledEvery = 8;
constexpr int kSettlesWithin = 3;
constexpr std::uint64_t kRoundsMax = 200'000;       // more is a spinning engine
constexpr std::uint64_t kRoundsAtOneTimeMax = 200;  // likewise

std::int64_t cpu_micros() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1'000;
}

events::Config config_of_simulation() {
  events::Config config;
  config.cluster_uid = "simulated-cluster";
  config.launch_timeout_millis = 2 * base::kMillisPerMinute;
  config.registration_timeout_millis = 3 * base::kMillisPerMinute;
  config.capacity_back_off_millis = 20 * base::kMillisPerSecond;
  return config;
}

class Runner {
 public:
  explicit Runner(const RunOptions& options)
      : options_(options),
        provider_(*providers::find_provider("kwok")),
        world_(options.scenario
                   ? *options.scenario
                   : sim::random_scenario(options.seed, provider_.embedded_catalogue()),
               options.seed, inbox_),
        log_(std::make_unique<sim::DiskLog>(
            model::LogId("simulatedlog" + std::to_string(options.seed)), world_.now())),
        start_(world_.now()),
        end_(start_ + world_.scenario().end_millis) {
    world_.watch_durability([this] { return log_->durable_end(); });
    log_->on_append([this](std::span<const events::Record> records) { return fate_of(records); });
    if (options_.trace)
      world_.narrate([this](const std::string& line) { say(world_.now(), "~ " + line); });
  }

  RunResult go(std::unique_ptr<sim::DiskLog>* keep);

 private:
  void say(std::int64_t at, const std::string& line) {
    if (options_.trace) options_.trace(trace_time(at, start_) + " " + line);
  }
  void say_new_events();
  sim::DiskLog::Fate fate_of(std::span<const events::Record> records);
  void start_process();
  void crash(const char* why);
  std::int64_t next_time() const;
  bool round_due() const;
  void round();
  void carry_out(const engine::Round& round);
  void expect_settled();
  void finish(RunResult& result);

  RunOptions options_;
  const providers::Provider& provider_;
  Inbox inbox_;
  sim::World world_;
  std::unique_ptr<sim::DiskLog> log_;
  KeptSnapshots snapshots_;
  std::unique_ptr<engine::Engine> engine_;
  std::int64_t start_;
  std::int64_t end_;
  std::int64_t last_round_ = 0;
  std::int64_t wake_at_ = sim::kNever;
  std::int64_t restart_at_ = 0;
  std::int64_t retry_at_ = 0;                 // the disk was full
  std::int64_t space_back_at_ = sim::kNever;  // and has room again
  std::uint64_t rounds_ = 0;
  std::uint64_t rounds_at_one_time_ = 0;
  std::uint64_t crashes_ = 0;
  std::uint64_t appends_ = 0;
  std::uint64_t sends_ = 0;
  bool power_fails_ = false;
  std::uint64_t told_until_ = 1;
  std::size_t machines_peak_ = 0;
  std::vector<Violation> violations_;
};

sim::DiskLog::Fate Runner::fate_of(std::span<const events::Record> records) {
  if (options_.plant == Plant::kDispatchBeforeAppend) {
    std::uint64_t position = log_->end().value();
    for (const events::Record& record : records) {
      const events::Body body = events::decode_payload(record.type, record.payload);
      if (const auto* command = std::get_if<model::Command>(&body))
        world_.kube().submit({{log_->id(), model::Position(position)}, 1, command->spec});
      ++position;
    }
  }
  ++appends_;
  const auto strikes = [&](CrashPoint::Where where) {
    return options_.crash.where == where && options_.crash.number == appends_;
  };
  if (strikes(CrashPoint::Where::kBeforeAppend)) return sim::DiskLog::Fate::kCrashBefore;
  if (strikes(CrashPoint::Where::kAfterAppend)) return sim::DiskLog::Fate::kCrashAfter;
  if (strikes(CrashPoint::Where::kAfterAppendWithoutPower)) {
    power_fails_ = true;
    return sim::DiskLog::Fate::kCrashAfter;
  }
  sim::Faults& faults = world_.faults();
  if (faults.strikes(Fault::kDiskFull)) return sim::DiskLog::Fate::kFull;
  if (faults.strikes(Fault::kCrashBeforeAppend)) return sim::DiskLog::Fate::kCrashBefore;
  if (faults.strikes(Fault::kCrashAfterAppend)) return sim::DiskLog::Fate::kCrashAfter;
  return sim::DiskLog::Fate::kWritten;
}

void Runner::start_process() {
  log_->reopen();
  engine_ =
      std::make_unique<engine::Engine>(*log_, &snapshots_, provider_,
                                       engine::EngineOptions{config_of_simulation(), "simulated",
                                                             kDecisionVersion, kSnapshotDistance});
  const auto recovery = engine_->recover(base::LogTime(world_.now()), world_.clock().wall());
  if (!recovery) {
    crash(recovery.error().message.c_str());
    return;
  }
  say(world_.now(),
      "~ process starts, " + std::to_string(recovery->open_commands) + " open commands");
  wake_at_ = world_.now();
  world_.connect();
}

void Runner::crash(const char* why) {
  say_new_events();
  say(world_.now(), std::string("~ process dies: ") + why);
  ++crashes_;
  world_.disconnect();
  inbox_.clear();
  engine_.reset();
  wake_at_ = sim::kNever;
  retry_at_ = 0;
  space_back_at_ = sim::kNever;
  if (std::exchange(power_fails_, false) || world_.faults().strikes(Fault::kPowerLoss)) {
    log_->lose_power();
    told_until_ = std::min(told_until_, log_->durable_end());
  }
  restart_at_ = world_.now() + world_.faults().rng().between(100, 30'000);
  // A chosen crash near the end still gets its time to heal.
  if (options_.crash.where != CrashPoint::Where::kNone)
    end_ = std::max(end_, restart_at_ + 2 * base::kMillisPerMinute + kQuietMillis);
}

std::int64_t Runner::next_time() const {
  std::int64_t next = std::min(world_.next_event_at(), end_);
  if (!engine_) return std::min(next, restart_at_);
  if (retry_at_ > 0) return std::min(next, retry_at_);
  next = std::min(next, std::max(world_.now(), space_back_at_));
  if (inbox_.urgent()) return world_.now();
  if (!inbox_.empty()) next = std::min(next, std::max(world_.now(), last_round_ + kRoundMillis));
  return std::max(world_.now(), std::min(next, wake_at_));
}

bool Runner::round_due() const {
  if (!engine_) return false;
  if (retry_at_ > 0) return world_.now() >= retry_at_;
  return inbox_.urgent() || wake_at_ <= world_.now() ||
         (!inbox_.empty() && world_.now() >= last_round_ + kRoundMillis);
}

void Runner::round() {
  rounds_at_one_time_ = world_.now() == last_round_ ? rounds_at_one_time_ + 1 : 0;
  last_round_ = world_.now();
  ++rounds_;
  if (rounds_at_one_time_ > kRoundsAtOneTimeMax || rounds_ > kRoundsMax) {
    violations_.push_back({"spinning", "the engine asks for round after round at " +
                                           trace_time(last_round_, start_)});
    end_ = world_.now();
    return;
  }
  // After a full disk the same round is finished first, with nothing new.
  std::vector<ports::Fact> facts;
  if (retry_at_ != 0 && !engine_->state().log_space_low())
    facts.push_back({events::LogSpaceLow{true}, world_.clock().wall(), ""});
  if (retry_at_ == 0) facts = inbox_.take(engine::kFactsPerRoundMax);
  retry_at_ = 0;
  if (options_.plant == Plant::kAcknowledgeBeforeAppend)
    for (const ports::Fact& fact : facts)
      if (!fact.receipt.empty()) world_.queue().acknowledge(fact.receipt);
  const auto result =
      engine_->step(base::LogTime(world_.now()), world_.clock().wall(), std::move(facts));
  if (!result && result.error().kind == base::Kind::kFull) {
    say(world_.now(), "~ the disk is full");
    retry_at_ = world_.now() + 1'000;
    space_back_at_ = world_.now() + world_.faults().rng().between(2'000, 60'000);
    return;
  }
  if (!result) {
    crash(result.error().message.c_str());
    return;
  }
  say_new_events();
  wake_at_ = result->wake_at ? result->wake_at->value() : sim::kNever;
  carry_out(*result);
  if (engine_ && rounds_ % kSettledEvery == 0) expect_settled();
}

// Asked again with nothing new, the engine falls silent: what a later reconciler decided may move
// an earlier one once (pods that found another node leave theirs empty), and no more than that.
void Runner::expect_settled() {
  for (int again = 0; again < kSettlesWithin; ++again) {
    const auto round = engine_->step(base::LogTime(world_.now()), world_.clock().wall(), {});
    if (!round || round->decisions == 0) return;
    carry_out(*round);
    if (!engine_) return;
  }
  violations_.push_back({"settled", "asked again and again at " + trace_time(world_.now(), start_) +
                                        " with nothing new, the engine decides on"});
}

void Runner::carry_out(const engine::Round& round) {
  for (const std::string& receipt : round.to_acknowledge) world_.queue().acknowledge(receipt);
  for (const ports::IssuedCommand& command : round.to_dispatch) {
    ++sends_;
    const bool chosen =
        options_.crash.where == CrashPoint::Where::kBeforeSend && options_.crash.number == sends_;
    if (chosen || world_.faults().strikes(Fault::kCrashInDispatch)) {
      crash("between two sends");
      return;
    }
    const bool cloud = model::goes_to_cloud(model::kind_of(command.spec));
    if (options_.plant != Plant::kDispatchBeforeAppend || command.attempt > 1)
      (cloud ? world_.cloud() : world_.kube()).submit(command);
  }
}

void Runner::say_new_events() {
  if (!options_.trace) return;
  for (; told_until_ < log_->end().value(); ++told_until_) {
    const auto event = events::decode_event(model::Position(told_until_),
                                            log_->stored(model::Position(told_until_)));
    const std::string line = trace_line(*event, start_);
    if (!line.empty()) options_.trace(line);
  }
}

void Runner::finish(RunResult& result) {
  // Records that are still on their way to stable storage count as gone only after a power loss:
  // here the run just ends.
  const LogIndex index = index_log(*log_);
  result.violations = std::move(violations_);
  for (Violation& violation : check_all(world_, index))
    result.violations.push_back(std::move(violation));
  base::Sha256 hash;
  for (std::uint64_t i = 1; i < log_->end().value(); ++i)
    hash.update(log_->stored(model::Position(i)));
  result.log_digest = hash.finish();
  result.seed = options_.seed;
  result.rounds = index.rounds;
  result.events = index.events;
  result.crashes = crashes_;
  result.appends = appends_;
  result.sends = sends_;
  result.machines = world_.history().instances.size();
  result.machines_peak = machines_peak_;
  for (std::size_t i = 0; i < sim::kFaults; ++i)
    result.hits[i] = world_.faults().hits(static_cast<Fault>(i));
}

RunResult Runner::go(std::unique_ptr<sim::DiskLog>* keep) {
  RunResult result;
  const std::int64_t began = cpu_micros();
  while (world_.now() < end_) {
    world_.advance(next_time());
    if (!engine_ && world_.now() >= restart_at_) start_process();
    if (engine_ && world_.now() >= space_back_at_ && retry_at_ == 0) {
      space_back_at_ = sim::kNever;
      inbox_.offer({events::LogSpaceLow{false}, world_.clock().wall(), ""});
    }
    if (round_due()) round();
    std::size_t alive = 0;
    for (const auto& [id, record] : world_.history().instances) alive += record.gone_at < 0 ? 1 : 0;
    machines_peak_ = std::max(machines_peak_, alive);
  }
  if (!engine_) start_process();
  if (engine_) result.state_digest = engine_->state().digest();
  finish(result);
  result.run_cpu_micros = cpu_micros() - began;
  if (options_.verify) {
    const auto report = engine::verify(*log_, kDecisionVersion, false);
    result.verify_cpu_micros = cpu_micros() - began - result.run_cpu_micros;
    if (!report)
      result.violations.push_back({"verify", report.error().message});
    else if (report->difference)
      result.violations.push_back(
          {"verify", "round " + std::to_string(report->difference->round_number) + " at position " +
                         std::to_string(report->difference->round.value()) + ": " +
                         report->difference->what});
  }
  if (keep != nullptr) *keep = std::move(log_);
  return result;
}

}  // namespace

RunResult run(const RunOptions& options, std::unique_ptr<sim::DiskLog>* keep) {
  Runner runner(options);
  return runner.go(keep);
}

namespace {

constexpr std::pair<CrashPoint::Where, const char*> kCrashNames[] = {
    {CrashPoint::Where::kBeforeAppend, "before-append"},
    {CrashPoint::Where::kAfterAppend, "after-append"},
    {CrashPoint::Where::kAfterAppendWithoutPower, "power-loss"},
    {CrashPoint::Where::kBeforeSend, "before-send"}};

}  // namespace

std::string_view crash_name(CrashPoint::Where where) {
  for (const auto& [value, name] : kCrashNames)
    if (value == where) return name;
  return "none";
}

CrashPoint::Where crash_of(std::string_view wanted) {
  for (const auto& [value, name] : kCrashNames)
    if (wanted == name) return value;
  return CrashPoint::Where::kNone;
}

sim::Scenario small_story(const model::Catalogue& catalogue) {
  sim::Scenario story;
  story.name = "small story";
  story.catalogue = catalogue;
  story.end_millis = 10 * base::kMillisPerMinute;
  model::NodeClass node_class;
  node_class.ref = {"karpenter.kwok.sh", "KWOKNodeClass", "default"};
  node_class.uid = "nodeclass-default";
  story.node_classes = {node_class};
  model::NodePool pool;
  pool.name = model::PoolName("default");
  pool.uid = "pool-default";
  pool.node_class = node_class.ref;
  pool.consolidate_after_millis = 5'000;
  pool.consolidation_policy = model::ConsolidationPolicy::kWhenEmpty;
  pool.budgets = {model::Budget{"100%", {}, "", 0}};
  pool.requirements = {{"karpenter.kwok.sh/instance-cpu", model::Operator::kIn, {"2"}, 0}};
  pool.startup_taints = {{"example.com/agent", "", model::TaintEffect::kNoSchedule}};
  story.pools = {pool};
  sim::Workload web;
  web.name = "web";
  web.shape.requests.cpu_millis = 1'500;
  web.shape.requests.pods = 1;
  web.shape.owner_kind = model::OwnerKind::kReplicaSet;
  web.timeline = {{2'000, 2}, {200'000, 0}};
  story.workloads = {web};
  story.interruptions = {{100'000, ""}};
  return story;
}

std::string replay_line(const RunOptions& options) {
  std::string line =
      "build/release/karst_simulate --seed " + std::to_string(options.seed) + " --trace";
  if (options.scenario) line += " --story";
  if (options.crash.where != CrashPoint::Where::kNone)
    line += " --crash " + std::string(crash_name(options.crash.where)) + " " +
            std::to_string(options.crash.number);
  if (options.plant == Plant::kDispatchBeforeAppend) line += " --plant dispatch";
  if (options.plant == Plant::kAcknowledgeBeforeAppend) line += " --plant acknowledge";
  return line;
}

}  // namespace karst::simulation
