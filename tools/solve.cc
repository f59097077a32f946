// `karst solve`: one problem, or many as lines of JSON, and what karst would do: where pods go,
// or which nodes go.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <variant>

#include "objects/scheduler_config.h"
#include "tools/commands.h"
#include "tools/solve_case.h"
#include "tools/solve_manifests.h"
#include "tools/solve_report.h"
#include "tools/solve_world.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

base::Error about(const std::string& file, std::string_view what) {
  return {base::Kind::kInvalid, file + ": " + std::string(what)};
}

base::Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::fail(about(path, std::strerror(errno)));
  std::string text;
  char buffer[65536];
  while (file.read(buffer, sizeof buffer) || file.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kCaseBytesMax) return base::fail(about(path, "larger than 512 MiB"));
  }
  if (file.bad()) return base::fail(about(path, "cannot be read; it must be a file"));
  return text;
}

base::Status write_answer(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file)
    return base::fail(base::Kind::kDenied,
                      path + ": could not be written: " + std::strerror(errno));
  return {};
}

// What the document asks: where pods go, or which nodes go.
using Asked = std::variant<NamedProblem, Question>;

base::Result<Asked> read_asked(objects::Parser& parser, std::string_view text) {
  const auto document = parser.parse(text, kCaseBytesMax);
  if (!document) return base::fail(document.error());
  if (const auto kind = question_kind(*document)) {
    auto question = read_question(*kind, *document);
    if (!question) return base::fail(std::move(question.error()));
    return Asked(std::move(*question));
  }
  auto named = read_case(*document);
  if (!named) return base::fail(std::move(named.error()));
  return Asked(std::move(*named));
}

Json solution_json(const Asked& asked) {
  if (const auto* question = std::get_if<Question>(&asked)) return decision_json(*question);
  const auto& named = std::get<NamedProblem>(asked);
  return answer_json(named, scheduling::solve(named.problem));
}

const std::string& name_of(const Asked& asked) {
  if (const auto* question = std::get_if<Question>(&asked)) return question->name;
  return std::get<NamedProblem>(asked).name;
}

// One problem a line; one answer a line: {"name": …, "solution": {…}}.
base::Result<std::string> solve_lines(const std::string& path, const std::string& text) {
  objects::Parser parser;
  std::string lines;
  std::size_t number = 0;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    const std::string_view line = std::string_view(text).substr(from, end - from);
    from = end + 1;
    ++number;
    if (line.empty()) continue;
    const auto asked = read_asked(parser, line);
    if (!asked)
      return base::fail(about(path + ":" + std::to_string(number), asked.error().message));
    Json json;
    json["name"] = name_of(*asked);
    json["solution"] = solution_json(*asked);
    lines += json.dump() + "\n";
  }
  return lines;
}

int write_or_print(const std::string& out, const std::string& text) {
  if (out.empty()) {
    std::cout << text << std::flush;
    return kExitDone;
  }
  if (const auto status = write_answer(out, text); !status) return report(status.error());
  return kExitDone;
}

void apply_policies(const SolveOptions& given, scheduling::Options& options) {
  if (given.preference_policy == "Ignore")
    options.preferences = scheduling::PreferencePolicy::kIgnore;
  if (given.min_values_policy == "BestEffort")
    options.min_values = scheduling::MinValuesPolicy::kBestEffort;
  if (given.reserved_offering_mode == "Strict")
    options.reserved = scheduling::ReservedMode::kStrict;
}

base::Result<std::vector<model::SpreadConstraint>> read_spreads(const std::string& file) {
  if (file.empty()) return std::vector<model::SpreadConstraint>();
  const auto text = read_file(file);
  if (!text) return base::fail(text.error());
  return objects::read_scheduler_config(file, *text);
}

// The dry run: plain manifests, the embedded catalogue.
int solve_manifests(const SolveOptions& options) {
  if (!options.out.empty() && options.out != "table" && options.out != "json")
    return report(about("-o " + options.out, "expected table or json with -f"));
  const auto texts = read_manifest_files(options.files);
  if (!texts) return report(texts.error());
  const auto spreads = read_spreads(options.scheduler_config);
  if (!spreads) return report(spreads.error());
  auto made = problem_of_manifests(*texts, options.zones, *spreads);
  if (!made) return report(made.error());
  apply_policies(options, made->problem.options);
  for (const std::string& note : made->notes) std::cerr << "karst: " << printable(note) << "\n";
  const scheduling::Answer answer = scheduling::solve(made->problem);
  if (options.out == "json")
    print_line(report_json(*made, answer).dump(1, ' ', false, Json::error_handler_t::replace));
  else
    print_report(*made, answer);
  return kExitDone;
}

}  // namespace

int solve(const SolveOptions& options) {
  if (!options.files.empty()) return solve_manifests(options);
  if (options.case_file.empty())
    return report(
        {base::Kind::kInvalid,
         "expected a CASE.json, or manifests with -f FILE; 'karst solve --help' says more"});
  if (std::error_code error;
      !options.out.empty() && std::filesystem::equivalent(options.case_file, options.out, error))
    return report(about("-o " + options.out, "is the problem itself; name another file"));
  const auto text = read_file(options.case_file);
  if (!text) return report(text.error());
  if (options.case_file.ends_with(".jsonl")) {
    const auto lines = solve_lines(options.case_file, *text);
    return lines ? write_or_print(options.out, *lines) : report(lines.error());
  }
  objects::Parser parser;
  const auto asked = read_asked(parser, *text);
  if (!asked) {
    const bool is_manifest = text->find("apiVersion") < text->find("nodePools");
    return report(
        about(options.case_file,
              asked.error().message + (is_manifest ? "; manifests are read with -f FILE" : "")));
  }
  if (!options.out.empty())
    return write_or_print(options.out, solution_json(*asked).dump(1) + "\n");
  if (const auto* question = std::get_if<Question>(&*asked)) {
    print_decision(*question);
  } else {
    const auto& named = std::get<NamedProblem>(*asked);
    print_answer(named, scheduling::solve(named.problem));
  }
  return kExitDone;
}

}  // namespace karst::tools
