// The command line as a contract: exit codes, what goes to stdout and what to stderr, and messages
// that say what to do.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/time.h"
#include "events/rocks_db.h"
#include "tests/tools/json.h"
#include "tests/tools/story.h"

namespace karst::tests {
namespace {

TEST(CommandLine, RefusesWhatItDoesNotUnderstand) {
  struct Case {
    std::string arguments;
    std::string said;
  };
  const std::vector<Case> cases = {
      {"", "subcommand"},
      {"frobnicate", "frobnicate"},
      {"solve", "solve"},
      {"run", "--data"},
      {"run --embedded", "--data"},
      {"run --data d --embedded --shadow", "--shadow"},
      {"run --data d --shadow=maybe", "--shadow = maybe; expected true or false"},
      {"run --data d --speed 2", "--embedded"},
      {"run --data d --embedded --speed 0", "--speed"},
      {"run --data d --embedded --for soon", "expected a duration"},
      {"run --data d --embedded --kubeconfig f", "--kubeconfig"},
      {"run --data d --cloud mars", "--cloud"},
      {"run --data d --metrics-port http", "--metrics-port: \"http\": expected a port"},
      {"run --data d --feature-gates=Teleport=true", "there is no gate Teleport"},
      {"run --data d --isolated-vpc=perhaps", "--isolated-vpc: \"perhaps\": expected true"},
      {"run --data d --embedded --batch-max-duration 2s", "means nothing to --embedded"},
      {"replay --data d --verify --step", "--step"},
      {"replay --data d --across", "--verify"},
      {"state --data d moons", "moons"},
      {"state --data d -o xml", "'xml': expected table, json or yaml"},
      {"state --data d -o 1", "'1': expected table, json or yaml"},
      {"state --data d --at ''", "expected a position"},
      {"replay --data d --until ''", "expected a position"},
      {"state --data ''", "expected the folder of a log"},
      {"state --data /dev/null", "'/dev/null' is a file"},
      {"run --embedded --data /dev/null", "'/dev/null' is a file"},
      {"run --data d --embedded --seed -1", "'-1': expected a whole number, 0 or more"},
      {"log dump --data d --from 0", "'0': expected a whole number, 1 or more"},
      {"log dump --data d --from x", "'x': expected a whole number, 1 or more"},
      {"log dump --data d --to 3", "--to"},
      {"log tail --data d -n -1", "'-1': expected a whole number, 0 or more"},
      {"log prune --data d",
       "there is no subcommand 'prune' of 'log'; there are: stat, dump, tail, archive, restore, "
       "trim"},
      {"log trim --data d", "--archive"},
      {"log trim --data d --archive a --keep 1h --before 2", "--before"},
      {"audit show --data d",
       "there is no subcommand 'show' of 'audit'; there are: export, checkpoint, prove, keygen, "
       "verify"},
      {"audit exprot --data d", "of 'audit'; did you mean export?; there are: export, "},
      {"audit export --data d --fromat csv",
       "there is no option '--fromat'; did you mean --format? ('karst audit export --help'"},
      {"audit export --fromat csv", "there is no option '--fromat'; did you mean --format?"},
      {"log stat --data d --unheard=of", "there is no option '--unheard' ('karst log stat --help'"},
      {"log stat --data d stray", "'stray' is one word too many"},
      {"audit export --data d --out f --view events", "has no views"},
      {"log", "subcommand"},
      {"audit export --data d --format xml", "xml"},
      {"audit export --data d --format sqlite", "expected --out FILE"},
      {"audit export --data d --format csv --view moons", "moons"},
      {"audit export --data d --format cloudevents --view decisions", "holds events"},
      {"audit export --data d --format csv --redact moons", "--redact 'moons'"},
  };
  for (const Case& c : cases) {
    const Ended ended = karst(words(c.arguments));
    EXPECT_EQ(ended.code, 2) << c.arguments << "\n" << ended.err;
    EXPECT_NE(ended.err.find(c.said), std::string::npos) << c.arguments << ": " << ended.err;
    EXPECT_TRUE(ended.err.starts_with("karst: ")) << c.arguments << ": " << ended.err;
    EXPECT_EQ(ended.out, "") << c.arguments << ": talk belongs on stderr";
  }
}

TEST(CommandLine, ADataFolderWithoutALogIsBadInput) {
  const TempFolder folder;
  for (const std::string command : {"replay", "replay --verify", "state", "explain node/a",
                                    "log stat", "log dump", "log tail", "audit export"}) {
    std::vector<std::string> arguments = words(command);
    arguments.insert(arguments.end(), {"--data", folder / "nothing"});
    const Ended ended = karst(arguments);
    EXPECT_EQ(ended.code, 2) << command << ": " << ended.err;
    EXPECT_NE(ended.err.find(folder / "nothing"), std::string::npos)
        << command << " names the folder: " << ended.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "nothing")) << "readers make nothing";
}

TEST(CommandLine, NobodyElseReadsTheFolder) {
  using std::filesystem::perms;
  const perms others = perms::group_all | perms::others_all;
  EXPECT_EQ(std::filesystem::status(story()).permissions() & others, perms::none);
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(story())) {
    EXPECT_EQ(entry.status().permissions() & others, perms::none) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 5U);
}

TEST(CommandLine, AWrongKubeconfigMakesNoFolder) {
  const TempFolder folder;
  const Ended ended = karst({"run", "--data", folder / "data", "--kubeconfig", folder / "nothing"});
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_NE(ended.err.find(folder / "nothing"), std::string::npos) << ended.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "data"));
}

TEST(CommandLine, AWrongListenAddressMakesNoFolder) {
  const TempFolder folder;
  for (const std::string address : {"foo", "127.0.0.1:99999", "nowhere.invalid:80"}) {
    const Ended ended =
        karst({"run", "--embedded", "--data", folder / "data", "--listen", address, "--for", "1s"});
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_NE(ended.err.find("HOST:PORT"), std::string::npos) << ended.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "data")) << address;
  }
}

TEST(CommandLine, ATakenFolderNamesItsHolder) {
  const TempFolder folder;
  const std::string data = folder / "data";
  Program holder(folder, {"run", "--embedded", "--data", data, "--listen", "127.0.0.1:0"});
  ASSERT_TRUE(holder.await_err("starts"));
  const Ended second = karst({"run", "--embedded", "--data", data, "--listen", "127.0.0.1:0"});
  EXPECT_EQ(second.code, 4) << second.err;
  EXPECT_NE(second.err.find(std::to_string(holder.pid())), std::string::npos) << second.err;
  const Ended reader = karst({"log", "stat", "--data", data});
  EXPECT_EQ(reader.code, 0) << "readers work beside the daemon: " << reader.err;
  holder.send(SIGTERM);
  EXPECT_EQ(holder.wait().code, 0);
}

TEST(CommandLine, ATakenPortIsOutOfReachWhenItWasAskedFor) {
  const TempFolder folder;
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(descriptor, 1), 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const std::string where = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  const Ended ended = karst({"run", "--embedded", "--data", folder / "data", "--listen", where});
  EXPECT_EQ(ended.code, 4) << ended.err;
  EXPECT_NE(ended.err.find(where), std::string::npos) << ended.err;
  close(descriptor);
}

TEST(CommandLine, ReplayVerifiesAndTellsTheStory) {
  const Ended verified = karst({"replay", "--data", story(), "--verify"});
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  EXPECT_NE(verified.out.find("no difference"), std::string::npos) << verified.out;
  const Ended told = karst({"replay", "--data", story()});
  EXPECT_EQ(told.code, 0) << told.err;
  for (const std::string part :
       {"wait for a node", "created: its pods need", "launched", "has joined", "is ready for pods",
        "a place on", "spot_interrupted", "is gone"})
    EXPECT_NE(told.out.find(part), std::string::npos) << part << " is missing in\n" << told.out;
  EXPECT_EQ(told.out.find('\x1b'), std::string::npos) << "no colour into a file";
  const Ended stepped = karst({"replay", "--data", story(), "--step", "--until", "30"});
  EXPECT_EQ(stepped.code, 0) << stepped.err;
  EXPECT_NE(stepped.out.find("DaemonStarted"), std::string::npos) << stepped.out;
}

TEST(CommandLine, StateInThreeForms) {
  for (const std::string table : {"pods", "nodes", "claims", "pools", "objects", "commands"}) {
    const Ended json = karst({"state", "--data", story(), table, "-o", "json"});
    ASSERT_EQ(json.code, 0) << json.err;
    EXPECT_TRUE(Json::parse(json.out).is_array()) << table;
    EXPECT_EQ(karst({"state", "--data", story(), table, "-o", "yaml"}).code, 0);
    EXPECT_EQ(karst({"state", "--data", story(), table}).code, 0);
  }
  const Json summary = Json::parse(karst({"state", "--data", story(), "-o", "json"}).out);
  EXPECT_GT(summary["position"].get<int>(), 100);
  const Json early =
      Json::parse(karst({"state", "--data", story(), "--at", "20", "-o", "json"}).out);
  EXPECT_EQ(early["position"], 20);
  const Json by_time =
      Json::parse(karst({"state", "--data", story(), "--at", early["log_time"], "-o", "json"}).out);
  EXPECT_EQ(by_time["log_time"], early["log_time"]);
  EXPECT_GE(by_time["position"].get<int>(), 20) << "the last event of that moment";
  EXPECT_EQ(karst({"state", "--data", story(), "--at", "yesterday"}).code, 2);
  for (const std::string place : {"0", "99999999", "2999-01-01T00:00:00Z"}) {
    const Ended outside = karst({"state", "--data", story(), "--at", place});
    EXPECT_EQ(outside.code, 2) << place;
    EXPECT_EQ(outside.out, "") << place;
    EXPECT_NE(outside.err.find("1 to " + summary["position"].dump()), std::string::npos)
        << "where the log ends: " << outside.err;
  }
}

// The first logged event of that type.
Json first_of(const std::string& type) {
  for (const std::string& line : lines_of(karst({"log", "dump", "--data", story()}).out)) {
    const Json event = Json::parse(line);
    if (event["type"] == type) return event;
  }
  return nullptr;
}

TEST(CommandLine, StateForProgramsHasMachineValues) {
  // A machine is about to be taken: there are some of everything.
  const std::string at = first_of("TaintRequested")["position"].dump();
  const auto rows = [&](const std::string& table) {
    return Json::parse(karst({"state", "--data", story(), "--at", at, table, "-o", "json"}).out);
  };
  const Json nodes = rows("nodes"), claims = rows("claims"), pods = rows("pods");
  ASSERT_FALSE(nodes.empty() || claims.empty() || pods.empty());
  for (const Json& node : nodes) {
    EXPECT_GT(node["allocatable"]["memory_bytes"].get<std::int64_t>(), 1 << 28) << node;
    EXPECT_GE(node["allocatable"]["cpu_millicores"].get<std::int64_t>(), 500) << node;
    EXPECT_TRUE(node["requested"]["cpu_millicores"].is_number()) << node;
  }
  std::int64_t price = 0;
  for (const Json& claim : claims)
    if (!claim["price_nanodollars_per_hour"].is_null())
      price += claim["price_nanodollars_per_hour"].get<std::int64_t>();
  const Json summary =
      Json::parse(karst({"state", "--data", story(), "--at", at, "-o", "json"}).out);
  EXPECT_GT(price, 0);
  EXPECT_EQ(summary["price_nanodollars_per_hour"], price);
  for (const Json& list : {nodes, claims, pods}) {
    for (const Json& row : list) {
      EXPECT_FALSE(row.contains("age")) << "ages are for people";
      EXPECT_TRUE(base::parse_rfc3339(row["created"].get<std::string>())) << row;
    }
  }
  for (const Json& pool : rows("pools")) EXPECT_TRUE(pool["limits"].is_object()) << pool;
}

TEST(CommandLine, ExplainWalksToTheRoot) {
  const Json launch = first_of("LaunchRequested");
  ASSERT_TRUE(launch.is_object());
  const std::string claim = launch["stream"];
  const Ended why = karst({"explain", "--data", story(), claim});
  EXPECT_EQ(why.code, 0) << why.err;
  EXPECT_NE(why.out.find("because"), std::string::npos) << why.out;
  EXPECT_NE(why.out.find("pod default/"), std::string::npos) << "the root is a pod: " << why.out;
  const Json command = Json::parse(
      karst({"explain", "--data", story(), "command/" + launch["position"].dump(), "-o", "json"})
          .out);
  ASSERT_FALSE(command["events"].empty());
  EXPECT_EQ(command["events"][0]["type"], "LaunchRequested");
  EXPECT_FALSE(command["events"][0]["causes"].empty());
  const Json pod = first_of("PodObserved");
  const std::string pod_name = "pod/" + pod["payload"]["namespace_name"].get<std::string>() + "/" +
                               pod["payload"]["name"].get<std::string>();
  EXPECT_EQ(karst({"explain", "--data", story(), pod_name}).code, 0) << pod_name;
  const Ended unknown = karst({"explain", "--data", story(), "node/nowhere"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("node/nowhere"), std::string::npos) << unknown.err;
  EXPECT_EQ(karst({"explain", "--data", story(), "moon/a"}).code, 2);
  for (const std::string what : {"command/1", "command/abc", "command/999999", "command/"}) {
    const Ended none = karst({"explain", "--data", story(), what});
    EXPECT_EQ(none.code, 2) << what << none.out;
    EXPECT_NE(none.err.find(what), std::string::npos) << none.err;
  }
}

TEST(CommandLine, LogStatDumpAndTailAgree) {
  const Json stat = Json::parse(karst({"log", "stat", "--data", story(), "-o", "json"}).out);
  const auto dumped = lines_of(karst({"log", "dump", "--data", story()}).out);
  EXPECT_EQ(dumped.size(), stat["events"].get<std::size_t>());
  std::size_t counted = 0;
  for (const auto& [type, numbers] : stat["types"].items())
    counted += numbers["events"].get<std::size_t>();
  EXPECT_EQ(counted, dumped.size());
  const auto tail =
      lines_of(karst({"log", "tail", "--data", story(), "-n", "3", "-o", "json"}).out);
  EXPECT_EQ(tail, (std::vector<std::string>{dumped.end() - 3, dumped.end()}));
  const auto yaml =
      lines_of(karst({"log", "tail", "--data", story(), "-n", "2", "-o", "yaml"}).out);
  EXPECT_EQ(std::count(yaml.begin(), yaml.end(), "-"), 2) << "a list of two";
  EXPECT_NE(std::find(yaml.begin(), yaml.end(), "  \"position\": " + stat["events"].dump()),
            yaml.end());
  EXPECT_TRUE(karst({"log", "tail", "--data", story(), "-n", "0"}).out.empty());
  const auto from = lines_of(karst({"log", "dump", "--data", story(), "--from", "10"}).out);
  EXPECT_EQ(from.size(), dumped.size() - 9);
}

// What it must show was not there when it began: a daemon that starts later.
TEST(CommandLine, TailFollowsARunningDaemon) {
  const TempFolder folder;
  const std::string data = folder / "data";
  const std::vector<std::string> run = {"run",     "--embedded", "--data",   data,
                                        "--speed", "40",         "--listen", "127.0.0.1:0"};
  std::vector<std::string> shortly = run;
  shortly.insert(shortly.end(), {"--for", "300ms"});
  ASSERT_EQ(karst(shortly).code, 0);
  const auto last = lines_of(karst({"log", "tail", "--data", data, "-n", "1"}).out);
  ASSERT_EQ(last.size(), 1U);
  ASSERT_EQ(last[0].find("DaemonStarted"), std::string::npos) << last[0];
  Program tail(folder, {"log", "tail", "--data", data, "-f", "-n", "1"});
  ASSERT_TRUE(tail.await_out(last[0])) << "it has begun";
  Program daemon(folder, run);
  EXPECT_TRUE(tail.await_out("DaemonStarted"));
  tail.send(SIGKILL);
  ASSERT_TRUE(daemon.await_err("starts"));
  daemon.send(SIGTERM);
  EXPECT_EQ(daemon.wait().code, 0);
}

std::string from_base64(const std::string& text) {
  std::string bytes;
  std::uint32_t bits = 0, held = 0;
  for (const char c : text) {
    if (c == '=') break;
    const bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
    const int value = upper                  ? c - 'A'
                      : lower                ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                                             : 63;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 0xff);
  }
  return bytes;
}

TEST(CommandLine, ExportHoldsStoredBytesAndReadableForm) {
  auto db = events::RocksDb::open_read_only(story(), events::Recovery::kTornTail);
  ASSERT_TRUE(db) << db.error().message;
  auto exported = lines_of(karst({"audit", "export", "--data", story(), "--format", "jsonl"}).out);
  ASSERT_GT(exported.size(), 2U);  // its first and last line are about the trail
  exported.erase(exported.begin());
  exported.pop_back();
  const auto dumped = lines_of(karst({"log", "dump", "--data", story()}).out);
  ASSERT_EQ(exported.size(), dumped.size());
  for (std::size_t i = 0; i < exported.size(); ++i) {
    const Json line = Json::parse(exported[i]);
    EXPECT_EQ(line["position"], i + 1);
    EXPECT_EQ(line["event"], Json::parse(dumped[i]));
    const auto stored =
        (*db)->get(events::Family::kEvents, events::PositionKey(model::Position(i + 1)).view());
    ASSERT_TRUE(stored && *stored);
    EXPECT_EQ(from_base64(line["bytes"]), **stored) << "position " << i + 1;
  }
}

TEST(CommandLine, VersionInThreeForms) {
  const Json version = Json::parse(karst({"version", "-o", "json"}).out);
  for (const std::string key : {"version", "decision_version", "schema_version"})
    EXPECT_TRUE(version.contains(key)) << key;
  EXPECT_EQ(version["decision_version"].get<std::string>().size(), 16U);
  EXPECT_EQ(karst({"version"}).code, 0);
}

TEST(CommandLine, OutputThatIsLostIsNoSuccess) {
  for (const std::string command :
       {"state", "state pods -o json", "log stat", "log dump", "log tail", "audit export", "replay",
        "replay --verify", "version", "--help"}) {
    const bool reads = command != "version" && command != "--help";
    const std::string line = "\"$KARST\" " + command + (reads ? " --data '" + story() + "'" : "");
    for (const std::string where : {">/dev/full", ">&-"}) {
      const Ended ended = shell(line + " " + where);
      EXPECT_EQ(ended.code, 4) << line << where << ended.err;
      EXPECT_NE(ended.err.find("karst: the output could not be written"), std::string::npos)
          << line << where << ": " << ended.err;
      const bool full = where == ">/dev/full";
      EXPECT_NE(ended.err.find(full ? "stdout: No space left on device" : "stdout: Bad file"),
                std::string::npos)
          << line << where << ": " << ended.err;
      EXPECT_EQ(ended.err.find("free some space there") != std::string::npos, full) << ended.err;
    }
  }
  const Ended refused = shell("\"$KARST\" state --data nowhere >/dev/full");
  EXPECT_EQ(refused.code, 2) << "nothing was lost: " << refused.err;
  const Ended read = shell("\"$KARST\" log dump --data '" + story() + "' | head -n 1");
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_EQ(read.err, "") << "a reader that has enough is nothing to talk about";
}

TEST(CommandLine, HelpIsNoError) {
  for (const std::string command : {"--help", "run --help", "log tail --help"}) {
    const Ended ended = karst(words(command));
    EXPECT_EQ(ended.code, 0) << command;
    EXPECT_NE(ended.out.find("Usage"), std::string::npos) << command;
  }
}

}  // namespace
}  // namespace karst::tests
