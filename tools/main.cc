// The command line: options and nothing else. What they mean is in the file of each subcommand.
#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <system_error>

#include "base/time.h"
#include "daemon/embedded.h"
#include "daemon/settings.h"
#include "tools/audit_line.h"
#include "tools/commands.h"
#include "tools/open_log.h"
#include "tools/talk.h"
#include "tools/usage.h"

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
  LogArchiveOptions archive;
  LogTrimOptions trim;
  LogTrimOptions expire;
  AuditLine audit;
  SolveOptions solve;
  VersionOptions version;
  std::function<int()> chosen;
};

std::string check_folder(const std::string& path) {
  std::error_code ignored;
  if (path.empty()) return "expected the folder of a log, not ''";
  const bool other =
      std::filesystem::exists(path, ignored) && !std::filesystem::is_directory(path, ignored);
  return other ? "'" + path + "' is a file; expected the folder of a log" : "";
}

std::string check_place(const std::string& text) {
  return text.empty() ? "expected a position (a number) or a time such as 2026-11-21T10:17:51Z, "
                        "not ''"
                      : "";
}

// A whole number from `least` that fits 64 bits, less one so that the next one does too.
auto whole_number_from(std::uint64_t least) {
  return [least](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    const bool good = error == std::errc() && stop == end && value >= least && value < UINT64_MAX;
    return good ? ""
                : "'" + text + "': expected a whole number, " + std::to_string(least) + " or more";
  };
}

}  // namespace

void add_data(CLI::App* command, std::string& data) {
  command->add_option("--data", data, "folder of the log")
      ->required()
      ->type_name("DIR")
      ->check(check_folder);
}

void add_reading(CLI::App* command, std::string& data) {
  add_data(command, data);
  command
      ->add_option_function<std::string>("--scratch", use_scratch,
                                         "where the reader may write its notes; default: $TMPDIR, "
                                         "or /tmp")
      ->type_name("DIR");
}

namespace {

void add_format(CLI::App* command, Format& format) {
  static const std::map<std::string, Format> kFormats = {
      {"table", Format::kTable}, {"json", Format::kJson}, {"yaml", Format::kYaml}};
  command
      ->add_option_function<std::string>(
          "-o,--output", [&format](const std::string& name) { format = kFormats.at(name); },
          "table, json or yaml")
      ->check([](const std::string& name) {
        return kFormats.contains(name) ? "" : "'" + name + "': expected table, json or yaml";
      })
      ->type_name("FORMAT")
      ->default_str("table");
}

std::string check_duration(const std::string& text) {
  const auto millis = base::parse_go_duration_millis(text);
  return millis && *millis > 0 ? "" : "'" + text + "': expected a duration such as 45s or 1m30s";
}

// Karpenter's flags; each is an environment variable too.
void add_settings(CommandLine& line, CLI::App* run) {
  for (const daemon::SettingRow& row : daemon::setting_rows()) {
    const bool flag = row.kind == daemon::SettingKind::kBool;
    const std::string help = std::string(row.meaning) + " [" + std::string(row.variable) + "]";
    run->add_option_function<std::string>(
           daemon::flag_of(row),
           [&line, flag, variable = std::string(row.variable)](const std::string& text) {
             line.run.settings[variable] = flag && text.empty() ? "true" : text;
           },
           help)
        ->expected(flag ? 0 : 1, 1)
        ->type_name("")
        ->default_str(std::string(row.initially))
        ->group("Karpenter's settings");
  }
}

void add_run(CommandLine& line) {
  RunOptions& o = line.run;
  CLI::App* c = line.app.add_subcommand("run", "run the autoscaler");
  add_data(c, o.data);
  c->add_option("--archive", o.archive,
                "seal what is complete of the log as files of this folder, as it grows")
      ->type_name("FOLDER");
  c->add_option("--retain", o.retain,
                "trim the log to what is younger, once the archive has it, and the archive to what "
                "is younger than a second span: standard (93d/366d), 30d/180d, or 90d alone")
      ->type_name("PRESET|AT_HAND[/ARCHIVED]");
  CLI::Option* embedded =
      c->add_flag("--embedded", o.embedded, "over a simulated cluster and cloud, in real time");
  c->add_option("--kubeconfig", o.kubeconfig,
                "of the cluster; default: $KUBECONFIG, the cluster it runs in, ~/.kube/config")
      ->type_name("FILE")
      ->excludes(embedded);
  c->add_option("--cloud", o.cloud, "which cloud's machines")
      ->check(CLI::IsMember({"aws", "kwok"}))
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
  c->add_option("--seed", o.seed, "embedded: of the simulated world")
      ->check(whole_number_from(0))
      ->needs(embedded);
  c->add_option("--signing-key", o.signing_key,
                "of the log's checkpoints, for others to verify; embedded: one is made")
      ->type_name("FILE");
  c->add_flag("--shadow", o.shadow, "beside the product that acts: decide, and send nothing")
      ->excludes(embedded);
  add_settings(line, c);
  c->callback([&line, listen] {
    line.run.listen_given = listen->count() > 0;
    line.run.for_millis = base::parse_go_duration_millis(line.run_for).value_or(0);
    line.chosen = [&line] { return run(line.run); };
  });
}

void add_replay(CommandLine& line) {
  ReplayOptions& o = line.replay;
  CLI::App* c = line.app.add_subcommand("replay", "tell a log's story, or decide it again");
  add_reading(c, o.data);
  CLI::Option* until = c->add_option("--until", o.until, "end there")
                           ->type_name("POSITION|TIME")
                           ->check(check_place);
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
  add_reading(c, o.data);
  c->add_option("--at", o.at, "when; default: the end of the log")
      ->type_name("POSITION|TIME")
      ->check(check_place);
  c->add_option("table", o.table,
                "pods, nodes, claims, pools, objects or commands; default: a summary")
      ->check(CLI::IsMember({"pods", "nodes", "claims", "pools", "objects", "commands"}));
  add_format(c, o.format);
  c->callback([&line] { line.chosen = [&line] { return state(line.state); }; });
}

void add_explain(CommandLine& line) {
  ExplainOptions& o = line.explain;
  CLI::App* c = line.app.add_subcommand("explain", "why something was or was not done");
  add_reading(c, o.data);
  c->add_option("what", o.what,
                "pod/NAMESPACE/NAME, node/NAME, nodeclaim/NAME, nodepool/NAME or command/ID")
      ->required()
      ->type_name("KIND/NAME");
  c->add_flag(
      "--ruled-out", o.ruled_out,
      "of a nodeclaim also why it may become no other instance type that is sold; takes the "
      "state at its command, as 'karst state --at' does");
  add_format(c, o.format);
  c->callback([&line] { line.chosen = [&line] { return explain(line.explain); }; });
}

void add_trim(CommandLine& line, CLI::App* log) {
  CLI::App* trim = log->add_subcommand(
      "trim", "let go of what an archive holds, behind a baseline; no daemon may run on it");
  CLI::App* expire = log->add_subcommand(
      "expire",
      "delete the oldest files of an archive, behind a baseline; no daemon may run on it");
  for (CLI::App* c : {trim, expire}) {
    LogTrimOptions& o = c == trim ? line.trim : line.expire;
    add_reading(c, o.data);
    c->add_option("--archive", o.archive, "folder of the archive")->required()->type_name("FOLDER");
    CLI::Option* before = c->add_option("--before", o.before, "the first event that stays")
                              ->type_name(c == trim ? "POSITION|TIME" : "TIME")
                              ->check(check_place);
    c->add_option("--keep", o.keep, "instead: how long before the log's end events stay, as 90d")
        ->type_name("DURATION")
        ->excludes(before);
    c->add_flag("--dry-run", o.dry_run, "compare and say what would go; beside a daemon, too");
    add_format(c, o.format);
  }
  trim->callback([&line] { line.chosen = [&line] { return log_trim(line.trim); }; });
  expire->callback([&line] { line.chosen = [&line] { return log_expire(line.expire); }; });
}

void add_log(CommandLine& line) {
  LogOptions& o = line.log;
  CLI::App* log = line.app.add_subcommand("log", "the log itself")->require_subcommand(1);
  CLI::App* stat = log->add_subcommand("stat", "what is in it, counted");
  add_reading(stat, o.data);
  add_format(stat, o.format);
  stat->callback([&line] { line.chosen = [&line] { return log_stat(line.log); }; });
  CLI::App* dump = log->add_subcommand("dump", "every event as a line of JSON");
  add_reading(dump, o.data);
  dump->add_option("--from", o.from, "first position")->check(whole_number_from(1));
  dump->callback([&line] { line.chosen = [&line] { return log_dump(line.log); }; });
  CLI::App* tail = log->add_subcommand("tail", "the last events");
  add_reading(tail, o.data);
  add_format(tail, o.format);
  tail->add_option("-n", o.count, "how many")->check(whole_number_from(0))->default_str("20");
  tail->add_flag("-f,--follow", o.follow, "and those that come");
  tail->callback([&line] { line.chosen = [&line] { return log_tail(line.log); }; });
  LogArchiveOptions& a = line.archive;
  CLI::App* archive =
      log->add_subcommand("archive", "seal what is not yet in an archive, as files of a folder");
  CLI::App* restore = log->add_subcommand("restore", "make a log again of an archive");
  for (CLI::App* c : {archive, restore}) {
    c == archive ? add_reading(c, a.data) : add_data(c, a.data);
    c->add_option("--archive", a.archive, "folder of the archive")->required()->type_name("FOLDER");
    add_format(c, a.format);
  }
  archive->add_option("--until", a.until, "not beyond this; default: all that is on stable storage")
      ->type_name("POSITION|TIME")
      ->check(check_place);
  archive->callback([&line] { line.chosen = [&line] { return log_archive(line.archive); }; });
  restore->callback([&line] { line.chosen = [&line] { return log_restore(line.archive); }; });
  add_trim(line, log);
}

void add_solve(CommandLine& line) {
  SolveOptions& o = line.solve;
  CLI::App* c = line.app.add_subcommand(
      "solve", "one problem: where pods go, or which nodes go, and why not");
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
  const auto add_policy = [&](const char* flag, std::string& value, const char* what,
                              const std::vector<std::string>& words) {
    c->add_option(flag, value, what)
        ->type_name(words[0] + "|" + words[1])
        ->check(CLI::IsMember(words))
        ->needs(files);
  };
  add_policy("--preference-policy", o.preference_policy,
             "of manifests: whether preferences count as demands until they stand in the way",
             {"Respect", "Ignore"});
  add_policy("--min-values-policy", o.min_values_policy,
             "of manifests: whether minValues of a pool keep pods waiting or are lowered for them",
             {"Strict", "BestEffort"});
  add_policy("--reserved-offering-mode", o.reserved_offering_mode,
             "of manifests: where pods go that find a reservation used up: elsewhere, or they wait",
             {"Fallback", "Strict"});
  c->add_option("--scheduler-config", o.scheduler_config,
                "of manifests: file of default topology spreads, the YAML that `run` takes itself")
      ->type_name("FILE")
      ->needs(files);
  c->add_option("-o,--output", o.out,
                "of a case: the answer as JSON into this file; of manifests: table or json")
      ->type_name("FILE|FORMAT");
  c->callback([&line] { line.chosen = [&line] { return solve(line.solve); }; });
}

void add_rest(CommandLine& line) {
  CLI::App* version = line.app.add_subcommand("version", "what this build is");
  version->add_flag("--kill-points", line.version.kill_points,
                    "the places that KARST_KILL_POINT can name");
  add_format(version, line.version.format);
  version->callback([&line] { line.chosen = [&line] { return tools::version(line.version); }; });
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
  add_audit(line.app, line.audit, line.chosen);
  add_rest(line);
  if (const auto error = unknown_subcommand(line.app, argc - 1, argv + 1)) return report(*error);
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // What is there and unknown matters more than what is missing: it may be the same, misspelt.
    if (const auto unknown = line.app.remaining(true); !unknown.empty())
      return report(unknown_words(line.app, unknown));
    return report(usage_error(line.app, error.what()));
  } catch (const CLI::ExtrasError&) {
    return report(unknown_words(line.app, line.app.remaining(true)));
  } catch (const CLI::ConversionError& error) {  // of a flag: what has a value checks it itself
    return report(usage_error(
        line.app, error.what() + std::string("; expected true or false, or no word with it")));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return report(usage_error(line.app, error.what()));
    line.app.exit(error);  // prints help
    return kExitDone;
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
