// The command line: options and nothing else. What they mean is in the file of each subcommand.
#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <system_error>

#include "base/time.h"
#include "daemon/embedded.h"
#include "tools/commands.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

// Options live as long as the parser; `chosen` is what to do.
struct CommandLine {
  CLI::App app{"karst: a node autoscaler for Kubernetes with a replayable timeline", "karst"};
  RunOptions run;
  std::string run_for;
  ReplayOptions replay;
  StateOptions state;
  ExplainOptions explain;
  LogOptions log;
  AuditExportOptions audit;
  SolveOptions solve;
  VersionOptions version;
  std::function<int()> chosen;
};

void add_data(CLI::App* command, std::string& data) {
  command->add_option("--data", data, "folder of the log")->required()->type_name("DIR");
}

void add_format(CLI::App* command, Format& format) {
  static const std::map<std::string, Format> kFormats = {
      {"table", Format::kTable}, {"json", Format::kJson}, {"yaml", Format::kYaml}};
  command->add_option("-o,--output", format, "table, json or yaml")
      ->transform(CLI::CheckedTransformer(kFormats))
      ->type_name("FORMAT")
      ->default_str("table");
}

std::string check_duration(const std::string& text) {
  const auto millis = base::parse_go_duration_millis(text);
  return millis && *millis > 0 ? "" : "'" + text + "': expected a duration such as 45s or 1m30s";
}

void add_run(CommandLine& line) {
  RunOptions& o = line.run;
  CLI::App* c = line.app.add_subcommand("run", "run the autoscaler");
  add_data(c, o.data);
  CLI::Option* embedded =
      c->add_flag("--embedded", o.embedded, "over a simulated cluster and cloud, in real time");
  c->add_option("--kubeconfig", o.kubeconfig, "of the cluster; without it, the one it runs in")
      ->type_name("FILE")
      ->excludes(embedded);
  c->add_option("--cloud", o.cloud, "which cloud's machines")
      ->check(CLI::IsMember({"kwok"}))
      ->default_str("kwok");
  CLI::Option* listen =
      c->add_option("--listen", o.listen, "where /metrics, /healthz and /readyz are served")
          ->type_name("HOST:PORT")
          ->default_str(o.listen);
  c->add_option("--cluster-uid", o.cluster_uid,
                "what the cluster is called in launch tokens; default: uid of kube-system")
      ->excludes(embedded);
  c->add_option("--speed", o.speed, "embedded: how many times as fast as the clock")
      ->check(CLI::Range(std::int64_t{1}, daemon::kSpeedMax))
      ->needs(embedded);
  c->add_option("--for", line.run_for, "embedded: end after so long")
      ->type_name("DURATION")
      ->check(check_duration)
      ->needs(embedded);
  c->add_option("--seed", o.seed, "embedded: of the simulated world")->needs(embedded);
  c->callback([&line, listen] {
    line.run.listen_given = listen->count() > 0;
    line.run.for_millis = base::parse_go_duration_millis(line.run_for).value_or(0);
    line.chosen = [&line] { return run(line.run); };
  });
}

void add_replay(CommandLine& line) {
  ReplayOptions& o = line.replay;
  CLI::App* c = line.app.add_subcommand("replay", "tell a log's story, or decide it again");
  add_data(c, o.data);
  CLI::Option* until = c->add_option("--until", o.until, "end there")->type_name("POSITION|TIME");
  CLI::Option* step =
      c->add_flag("--step", o.step, "every event, and a stop after each round on a terminal");
  CLI::Option* verify = c->add_flag("--verify", o.verify,
                                    "decide again at every round and compare; exit 1 if different");
  verify->excludes(until)->excludes(step);
  c->add_flag("--across", o.across, "verify rounds of other decision versions too")->needs(verify);
  c->callback([&line] { line.chosen = [&line] { return replay(line.replay); }; });
}

void add_state(CommandLine& line) {
  StateOptions& o = line.state;
  CLI::App* c = line.app.add_subcommand("state", "the cluster as karst knew it");
  add_data(c, o.data);
  c->add_option("--at", o.at, "when; default: the end of the log")->type_name("POSITION|TIME");
  c->add_option("table", o.table, "pods, nodes, claims, pools or commands; default: a summary")
      ->check(CLI::IsMember({"pods", "nodes", "claims", "pools", "commands"}));
  add_format(c, o.format);
  c->callback([&line] { line.chosen = [&line] { return state(line.state); }; });
}

void add_explain(CommandLine& line) {
  ExplainOptions& o = line.explain;
  CLI::App* c = line.app.add_subcommand("explain", "why something was or was not done");
  add_data(c, o.data);
  c->add_option("what", o.what, "pod/NAMESPACE/NAME, node/NAME, nodeclaim/NAME or command/ID")
      ->required()
      ->type_name("KIND/NAME");
  add_format(c, o.format);
  c->callback([&line] { line.chosen = [&line] { return explain(line.explain); }; });
}

void add_log(CommandLine& line) {
  LogOptions& o = line.log;
  CLI::App* log = line.app.add_subcommand("log", "the log itself")->require_subcommand(1);
  CLI::App* stat = log->add_subcommand("stat", "what is in it, counted");
  add_data(stat, o.data);
  add_format(stat, o.format);
  stat->callback([&line] { line.chosen = [&line] { return log_stat(line.log); }; });
  CLI::App* dump = log->add_subcommand("dump", "every event as a line of JSON");
  add_data(dump, o.data);
  dump->add_option("--from", o.from, "first position")->check(CLI::PositiveNumber);
  dump->callback([&line] { line.chosen = [&line] { return log_dump(line.log); }; });
  CLI::App* tail = log->add_subcommand("tail", "the last events");
  add_data(tail, o.data);
  add_format(tail, o.format);
  tail->add_option("-n", o.count, "how many")->default_str("20");
  tail->add_flag("-f,--follow", o.follow, "and those that come");
  tail->callback([&line] { line.chosen = [&line] { return log_tail(line.log); }; });
}

void add_solve(CommandLine& line) {
  SolveOptions& o = line.solve;
  CLI::App* c =
      line.app.add_subcommand("solve", "one scheduling problem: what goes where, and why not");
  CLI::Option* problem =
      c->add_option("case", o.case_file, "the problem as JSON, or one a line in a file *.jsonl")
          ->type_name("CASE.json");
  CLI::Option* files =
      c->add_option(
           "-f,--filename", o.files,
           "manifests instead: pools, nodes, pods and what makes them; again for more, - for stdin")
          ->type_name("FILE|FOLDER")
          ->allow_extra_args(false)
          ->excludes(problem);
  c->add_option("--zones", o.zones, "of EC2: where new machines may be, us-east-1a,us-east-1b")
      ->type_name("ZONE,…")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(files);
  c->add_option("-o,--output", o.out,
                "of a case: the answer as JSON into this file; of manifests: table or json")
      ->type_name("FILE|FORMAT");
  c->callback([&line] { line.chosen = [&line] { return solve(line.solve); }; });
}

void add_rest(CommandLine& line) {
  CLI::App* audit = line.app.add_subcommand("audit", "the decision trail")->require_subcommand(1);
  CLI::App* take = audit->add_subcommand("export", "every event, stored bytes and readable form");
  add_data(take, line.audit.data);
  take->add_option("--format", line.audit.format, "jsonl")
      ->check(CLI::IsMember({"jsonl"}))
      ->default_str("jsonl");
  take->callback([&line] { line.chosen = [&line] { return audit_export(line.audit); }; });
  CLI::App* version = line.app.add_subcommand("version", "what this build is");
  version->add_flag("--kill-points", line.version.kill_points,
                    "the places that KARST_KILL_POINT can name");
  add_format(version, line.version.format);
  version->callback([&line] { line.chosen = [&line] { return tools::version(line.version); }; });
}

// Names what is there when the first word is no subcommand; nothing when it is one, or an option.
std::optional<base::Error> unknown_subcommand(CLI::App& app, const std::string& word) {
  if (word.starts_with('-')) return std::nullopt;
  std::string names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == word) return std::nullopt;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return base::Error{base::Kind::kInvalid,
                     "there is no subcommand '" + word + "'; there are: " + names};
}

int main_of(int argc, char** argv) {
  CommandLine line;
  line.app.require_subcommand(1);
  line.app.get_formatter()->column_width(34);
  add_run(line);
  add_replay(line);
  add_state(line);
  add_explain(line);
  add_log(line);
  add_solve(line);
  add_rest(line);
  if (const auto error = argc > 1 ? unknown_subcommand(line.app, argv[1]) : std::nullopt)
    return report(*error);
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool help = error.get_exit_code() == 0;
    line.app.exit(error);
    return help ? kExitDone : kExitBadInput;
  }
  return line.chosen();
}

}  // namespace
}  // namespace karst::tools

int main(int argc, char** argv) {
  using namespace karst::tools;
  begin_streams();
  try {
    return end_streams(main_of(argc, argv));
  } catch (const std::system_error&) {  // fmt::print, when it cannot write
    return end_streams(kExitOutOfReach);
  }
}
