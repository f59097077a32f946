// What is in the rows, and how CSV and SQLite write them.
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "events/codec.h"
#include "events/memory_log.h"
#include "exports/byte_sink.h"
#include "exports/csv.h"
#include "exports/origin.h"
#include "exports/sqlite.h"
#include "exports/walk.h"
#include "tests/exports/small_log.h"

namespace karst::exports {
namespace {

using Cells = std::map<std::string, std::string>;

// Rows as text by column; "(null)" for what is missing.
class Collected final : public TableWriter {
 public:
  explicit Collected(const Table& table, std::vector<Cells>& rows) : table_(table), rows_(rows) {}
  base::Status row(const Row& row) override {
    EXPECT_LE(row.cells().size(), table_.columns.size());
    Cells cells;
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      const Cell& cell = row.cells()[i];
      const bool text = table_.columns[i].type == ColumnType::kText;
      cells[std::string(table_.columns[i].name)] =
          cell.null ? "(null)" : (text ? cell.text : std::to_string(cell.number));
    }
    rows_.push_back(cells);
    return {};
  }
  base::Status finish() override { return {}; }

 private:
  const Table table_;
  std::vector<Cells>& rows_;
};

std::vector<Cells> rows_of(std::string_view view, const FilterOptions& options = {},
                           const std::vector<std::string>& redact = {}) {
  const SmallLog log;
  std::vector<Cells> rows;
  auto filter = Filter::make(options, log.log().id());
  EXPECT_TRUE(filter);
  std::vector<Output> outputs(1);
  outputs[0].view = make_view(view, {*Redaction::make(redact), std::string(32, 's')});
  outputs[0].writer = std::make_unique<Collected>(outputs[0].view->table(), rows);
  const auto walked = walk(log.log(), *filter, outputs, [](model::Position) {});
  EXPECT_TRUE(walked);
  EXPECT_EQ(outputs[0].view->rows(), rows.size());
  return rows;
}

std::string csv_of(std::string_view view, const FilterOptions& options = {}) {
  const SmallLog log;
  const std::string path = std::filesystem::temp_directory_path() /
                           ("karst-csv-" + std::to_string(getpid()) + std::string(view));
  {
    auto file = OutputFile::make(path);
    EXPECT_TRUE(file);
    ByteSink sink(file->descriptor(), path);
    auto filter = Filter::make(options, log.log().id());
    std::vector<Output> outputs(1);
    outputs[0].view = make_view(view, {});
    outputs[0].writer = std::make_unique<CsvWriter>(outputs[0].view->table(), sink);
    EXPECT_TRUE(walk(log.log(), *filter, outputs, [](model::Position) {}));
    EXPECT_FALSE(std::filesystem::exists(path)) << "it appears when it is whole";
    EXPECT_TRUE(file->finish());
  }
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  std::filesystem::remove(path);
  return text.str();
}

TEST(EventRows, SayWhatTheLogHolds) {
  const auto rows = rows_of("events");
  ASSERT_EQ(rows.size(), 14U);
  const Cells& pod = rows[3];
  EXPECT_EQ(pod.at("position"), "4");
  EXPECT_EQ(pod.at("log_time"), "4000");
  EXPECT_EQ(pod.at("wall_time"), "4005");
  EXPECT_EQ(pod.at("type"), "PodObserved");
  EXPECT_EQ(pod.at("kind"), "facts");
  EXPECT_EQ(pod.at("stream"), "pod/p1");
  EXPECT_EQ(pod.at("causation"), "(null)");
  EXPECT_EQ(pod.at("withheld"), "0");
  EXPECT_EQ(pod.at("commitment"), "(null)");
  EXPECT_EQ(nlohmann::json::parse(pod.at("payload"))["name"], "web-1");
  EXPECT_EQ(rows[5].at("causation"), "5");
  EXPECT_EQ(rows[5].at("correlation"), "4");
}

TEST(EventRows, HoldALaunchOrderAsItIsStored) {
  const auto rows = rows_of("events", {"7", "7", {}, {}});
  ASSERT_EQ(rows.size(), 1U);
  const auto payload = nlohmann::json::parse(rows[0].at("payload"));
  EXPECT_EQ(payload["request"], "what is sent");
  EXPECT_EQ(payload["offers"].size(), 2U);
}

TEST(EventRows, AreKnownByTheirCommitmentWhereTheyAreWithheld) {
  const auto rows = rows_of("events", {}, {"PodObserved"});
  EXPECT_EQ(rows[3].at("withheld"), "1");
  EXPECT_EQ(rows[3].at("payload"), "(null)");
  EXPECT_EQ(rows[3].at("commitment").size(), 64U);
  EXPECT_EQ(rows[3].at("stream"), "pod/p1");
  EXPECT_EQ(rows[2].at("withheld"), "0");
  EXPECT_NE(rows[3].at("commitment"), rows[12].at("commitment"));
}

TEST(DecisionRows, SayWhyAtWhatPriceAndWhoDecided) {
  const auto rows = rows_of("decisions");
  ASSERT_EQ(rows.size(), 3U);
  const Cells& launch = rows[1];
  const Cells want = {{"position", "7"},
                      {"log_time", "7000"},
                      {"type", "LaunchRequested"},
                      {"subject", "nodeclaim/general-abcde"},
                      {"causation", "5"},
                      {"correlation", "4"},
                      {"build", "1.0"},
                      {"decision_version", "d0"},
                      {"rule", "lifecycle"},
                      {"code", "provisioned"},
                      {"arguments", "(null)"},
                      {"evidence", "[5]"},
                      {"pool", "general"},
                      {"instance_type", "c-4x"},
                      {"zone", "zone-a"},
                      {"capacity_type", "spot"},
                      {"price_nanos_per_hour", "42100000"},
                      {"price_position", "3"},
                      {"price_age_millis", "4000"},
                      {"withheld", "0"},
                      {"commitment", "(null)"}};
  for (const auto& [column, value] : want) EXPECT_EQ(launch.at(column), value) << column;
  EXPECT_EQ(nlohmann::json::parse(launch.at("config"))["cluster_uid"], "cluster-1");
  EXPECT_EQ(nlohmann::json::parse(launch.at("alternatives")),
            nlohmann::json::parse(R"([{"instance_type":"c-4x","zone":"zone-b",
                "capacity_type":"on-demand","price_nanos_per_hour":70000000,
                "price_age_millis":4000}])"));
  EXPECT_EQ(rows[0].at("evidence"), "[4,3]");
  EXPECT_EQ(rows[2].at("code"), "spot_interrupted");
}

TEST(DecisionRows, KnowPricesAndVersionsFromBeforeTheRange) {
  const auto rows = rows_of("decisions", {"7", "7", {}, {}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].at("price_age_millis"), "4000");
  EXPECT_EQ(rows[0].at("decision_version"), "d0");
  const auto withheld = rows_of("decisions", {}, {"commands"});
  EXPECT_EQ(withheld[1].at("rule"), "(null)");
  EXPECT_EQ(withheld[1].at("commitment").size(), 64U);
}

// When it came, and how old it is, would tell of the events that are withheld.
TEST(DecisionRows, TellNoAgesToWhomPricesAreWithheldFrom) {
  for (const char* type : {"CatalogueObserved", "PricesObserved"}) {
    const auto rows = rows_of("decisions", {}, {type});
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_EQ(rows[1].at("rule"), "lifecycle") << type;
    EXPECT_EQ(rows[1].at("price_nanos_per_hour"), "42100000") << type;
    EXPECT_EQ(rows[1].at("price_position"), "(null)") << type;
    EXPECT_EQ(rows[1].at("price_age_millis"), "(null)") << type;
  }
}

TEST(Views, ShowNothingOfWhatIsWithheld) {
  const auto rows = rows_of("decisions", {}, {"all"});
  for (const Cells& row : rows)
    for (const std::string column : {"build", "decision_version", "config", "rule", "code",
                                     "arguments", "evidence", "pool", "price_nanos_per_hour"})
      EXPECT_EQ(row.at(column), "(null)") << column;
  EXPECT_TRUE(can_withhold("events", *Redaction::make({"all"})));
  EXPECT_TRUE(can_withhold("nodeclaims", *Redaction::make({"LaunchRequested", "PodObserved"})));
  EXPECT_FALSE(can_withhold("nodeclaims", *Redaction::make({"workloads"})));
  EXPECT_FALSE(can_withhold("nodeclaims", *Redaction::make({"NodeObserved"})));
}

TEST(Csv, HasTheColumnsOfLp4k) {
  EXPECT_EQ(csv_of("nodeclaims"),
            "nodeclaim,createdtime,nodepool,instancetypes,launchedtime,providerid,instancetype,"
            "zone,capacitytype,registeredtime,k8snodename,initializedtime,nodereadytime,"
            "nodereadytimesec,disruptiontime,disruptionreason,disruptiondecision,"
            "disruptednodecount,replacementnodecount,disruptedpodcount,annotationtime,annotation,"
            "tainttime,taint,interruptiontime,interruptionkind,deletedtime,nodeterminationtime,"
            "nodeterminationtimesec,nodelifecycletime,nodelifecycletimesec,initialized,deleted\r\n"
            "general-abcde,1970-01-01T00:00:06.000Z,general,c-4x|m-4x,1970-01-01T00:00:10.000Z,n1,"
            "c-4x,zone-a,spot,1970-01-01T00:00:10.000Z,n1,1970-01-01T00:00:10.000Z,4s,4.0,,,,,,,,,"
            ",,1970-01-01T00:00:12.000Z,spot_interrupted,,0s,0.0,0s,0.0,true,false\r\n");
}

TEST(Csv, QuotesAsTheRfcSays) {
  const std::string text = csv_of("events", {"4", "4", {}, {}});
  EXPECT_NE(text.find(R"(""value"": ""web, \""the\"" shop"")"), std::string::npos) << text;
  EXPECT_TRUE(text.starts_with("position,log_time,"));
  EXPECT_TRUE(text.ends_with("\"\r\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), 2);
  const std::string none = csv_of("events", {"", "", {"node/none"}, {}});
  EXPECT_EQ(std::count(none.begin(), none.end(), '\n'), 1) << "a header, and no rows";
}

TEST(Origin, IsTheClusterAndTheLog) {
  const SmallLog log;
  const auto origin = origin_of(log.log());
  ASSERT_TRUE(origin);
  EXPECT_EQ(origin->log, "abc");
  EXPECT_EQ(origin->cluster_uid, "cluster-1");
}

// A trimmed log whose past another build has kept has its next start far behind its beginning.
TEST(Origin, IsFoundHoweverLateItIsSaid) {
  events::MemoryLog log{model::LogId("abc")};
  const std::vector<events::Record> beats(3'000,
                                          events::make_record(events::SourceBeat{"Pod", "1"}));
  events::DaemonStarted started;
  started.config.cluster_uid = "cluster-1";
  const events::Record start = events::make_record(started);
  ASSERT_TRUE(log.append(beats, events::Durability::kSynced));
  ASSERT_TRUE(log.append({&start, 1}, events::Durability::kSynced));
  const auto origin = origin_of(log);
  ASSERT_TRUE(origin);
  EXPECT_EQ(origin->cluster_uid, "cluster-1");
}

TEST(ByteSink, SaysWhenNobodyReads) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  const auto before = signal(SIGPIPE, SIG_IGN);
  ByteSink sink(ends[1], "stdout");
  EXPECT_TRUE(sink.write("a"));
  const auto status = sink.flush();
  signal(SIGPIPE, before);
  close(ends[1]);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, base::Kind::kGone);
}

TEST(OutputFile, LeavesNothingHalfWritten) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("karst-out-" + std::to_string(getpid()));
  {
    auto file = OutputFile::make(path);
    ASSERT_TRUE(file);
    EXPECT_TRUE(std::filesystem::exists(file->part_path()));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  const auto folder = OutputFile::make(std::filesystem::temp_directory_path());
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().kind, base::Kind::kInvalid);
  EXPECT_EQ(OutputFile::make("/nowhere/at/all").error().kind, base::Kind::kInvalid);
  // A device, a pipe, a link: none of them is replaced, nor what a link points to.
  ASSERT_EQ(OutputFile::make("/dev/null").error().kind, base::Kind::kInvalid);
  std::filesystem::create_symlink("/dev/null", path + ".part");
  auto beside = OutputFile::make(path);
  ASSERT_TRUE(beside);
  EXPECT_FALSE(std::filesystem::is_symlink(path + ".part"));
}

// Two exports to one path, as of a job that begins before the last one has ended.
TEST(OutputFile, TwoDoNotWriteToOnePath) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("karst-out-two-" + std::to_string(getpid()));
  auto first = OutputFile::make(path);
  ASSERT_TRUE(first);
  const auto second = OutputFile::make(path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, base::Kind::kTaken);
  EXPECT_NE(second.error().message.find(path), std::string::npos);
  ByteSink sink(first->descriptor(), path);
  ASSERT_TRUE(sink.write("whole\n"));
  ASSERT_TRUE(sink.flush());
  // Where nothing can be locked: somebody has put something else there.
  std::filesystem::rename(path + ".part", path + ".aside");
  std::ofstream(path + ".part") << "cut";
  EXPECT_EQ(first->finish().error().kind, base::Kind::kTaken);
  EXPECT_FALSE(std::filesystem::exists(path));
  std::filesystem::remove(path + ".part");
  std::filesystem::rename(path + ".aside", path + ".part");
  ASSERT_TRUE(first->finish());
  EXPECT_EQ(std::filesystem::file_size(path), 6U);
  std::filesystem::remove(path);
}

int first_number(void* out, int, char** values, char**) {
  *static_cast<std::int64_t*>(out) = values[0] == nullptr ? -1 : std::atoll(values[0]);
  return 0;
}

TEST(Sqlite, HasStrictTablesIndexesAndMeta) {
  const SmallLog log;
  const std::string path =
      std::filesystem::temp_directory_path() / ("karst-sqlite-" + std::to_string(getpid()));
  std::filesystem::remove(path);
  auto file = SqliteFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  std::vector<Output> outputs;
  for (const std::string_view name : kViews) {
    auto view = make_view(name, {});
    auto writer = file->add(view->table());
    ASSERT_TRUE(writer) << writer.error().message;
    outputs.push_back({std::move(view), std::move(*writer)});
  }
  Filter filter;
  const auto walked = walk(log.log(), filter, outputs, [](model::Position) {});
  ASSERT_TRUE(walked) << walked.error().message;
  ASSERT_TRUE(file->set_meta("log", "a'bc"));
  outputs.clear();
  ASSERT_TRUE(file->finish());

  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  const std::pair<const char*, std::int64_t> questions[] = {
      {"SELECT count(*) FROM events", 14},
      {"SELECT count(*) FROM decisions", 3},
      {"SELECT count(*) FROM nodeclaims", 1},
      {"SELECT sum(bytes) FROM events", static_cast<std::int64_t>(walked->event_bytes)},
      {"SELECT count(*) FROM sqlite_master WHERE type = 'table' AND sql LIKE '%STRICT'", 4},
      {"SELECT count(*) FROM sqlite_master WHERE type = 'index' AND sql NOT NULL", 11},
      {"SELECT value = 'a''bc' FROM meta WHERE key = 'log'", 1},
      {"SELECT price_nanos_per_hour FROM decisions WHERE position = 7", 42'100'000},
      {"SELECT json_extract(payload, '$.name') = 'web-1' FROM events WHERE position = 4", 1},
      {"SELECT nodereadytimesec = 4.0 FROM nodeclaims", 1},
      {"SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'", 1},
  };
  for (const auto& [question, want] : questions) {
    std::int64_t got = -2;
    EXPECT_EQ(sqlite3_exec(database, question, first_number, &got, nullptr), SQLITE_OK)
        << question << ": " << sqlite3_errmsg(database);
    EXPECT_EQ(got, want) << question;
  }
  sqlite3_close(database);
  std::filesystem::remove(path);
}

// SQLite calls all but ENOSPC a disk I/O error.
TEST(Sqlite, AFileThatMayNotGrowIsAFullDisk) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("karst-sqlite-full-" + std::to_string(getpid()));
  std::filesystem::remove(path);
  auto file = SqliteFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  const auto before = signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{16 << 10, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  base::Status status = file->set_meta("much", std::string(1 << 20, 'x'));
  if (status) status = file->finish();
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, before);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, base::Kind::kFull) << status.error().message;
  EXPECT_NE(status.error().message.find("Free some space"), std::string::npos);
  std::filesystem::remove(path);
}

TEST(Sqlite, SaysWhatItCannotDo) {
  const auto file = SqliteFile::open("/nowhere/at/all");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, base::Kind::kDenied);
  EXPECT_NE(file.error().message.find("unable to open"), std::string::npos);
}

}  // namespace
}  // namespace karst::exports
