// The daemon, killed with SIGKILL at each named place while it trims its log.
#include "events/codec.h"
#include "events/rocks_log.h"
#include "events/segment.h"
#include "tests/tools/trim_fixture.h"

namespace karst::tests {
namespace {

constexpr std::uint64_t kOld = 2 * events::kSegmentEventsMax;  // two segments to seal, then to trim

// A log whose events are all older than any daemon that is started now, and but for the last
// hundred too old for the log itself: a daemon may look before it has written anything.
void make_old_log(const std::string& data) {
  auto log = events::RocksLog::open({data, base::WallTime(1'000), 0});
  ASSERT_TRUE(log) << log.error().message;
  std::vector<events::Record> records;
  for (std::uint64_t i = 0; i < kOld + 100; ++i) {
    records.push_back(events::make_record(events::SourceBeat{"Pod", std::to_string(i)}));
    records.back().log_time = base::LogTime(i < kOld ? 1'000 : 1'000'000);
  }
  ASSERT_TRUE((*log)->append(records, events::Durability::kSynced));
}

class Place {
 public:
  Place(const std::string& made, const std::string& kill_point) : name_(kill_point) {
    std::filesystem::copy(made, data_, std::filesystem::copy_options::recursive);
  }
  std::vector<std::string> run(const std::string& duration) const {
    return {"run",      "--embedded", "--data",   data_,         "--archive", archive_,
            "--retain", "1m",         "--listen", "127.0.0.1:0", "--for",     duration};
  }
  void start() { daemon_.emplace(folder_, run("60s"), Environment{"KARST_KILL_POINT=" + name_}); }
  void expect_killed_and_sound() {
    const Ended killed = daemon_->wait();
    ASSERT_EQ(killed.signal, SIGKILL) << name_ << " was not passed\n" << killed.err;
    EXPECT_EQ(first_position(), name_ == "before-trim-mark" ? 1 : kOld + 1) << name_;
    expect_sound();
    const Ended further = karst(run("1s"));
    EXPECT_EQ(further.code, 0) << name_ << further.err;
    expect_sound();
  }

 private:
  std::uint64_t first_position() const {
    const Ended ended = karst({"log", "stat", "--data", data_, "-o", "json"});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return Json::parse(ended.out, nullptr, false).value("first_position", std::uint64_t{1});
  }
  void expect_sound() const {
    const Ended verified = karst({"replay", "--verify", "--data", data_});
    EXPECT_EQ(verified.code, 0) << name_ << verified.out << verified.err;
  }

  TempFolder folder_;
  const std::string name_, data_ = folder_ / "data", archive_ = folder_ / "archive";
  std::optional<Program> daemon_;
};

// All at once: a daemon looks at its log each ten seconds, tells it at one look and trims at the
// next.
TEST(TrimByTheDaemon, KilledAtEachPlaceLosesNothing) {
  const TempFolder made;
  make_old_log(made / "data");
  Place before(made / "data", "before-trim-mark"), after(made / "data", "after-trim-mark"),
      compacted(made / "data", "after-trim-compaction");
  for (Place* place : {&before, &after, &compacted}) place->start();
  for (Place* place : {&before, &after, &compacted}) place->expect_killed_and_sound();
}

}  // namespace
}  // namespace karst::tests
