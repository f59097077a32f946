#include "tools/usage.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/nearest.h"

namespace karst::tools {
namespace {

// The subcommand that was chosen, as it is typed.
std::string path_of(const CLI::App& app) {
  std::string path = app.get_name();
  for (auto chosen = app.get_subcommands(); !chosen.empty();
       chosen = chosen.front()->get_subcommands())
    path += " " + chosen.front()->get_name();
  return path;
}

}  // namespace

std::optional<base::Error> unknown_subcommand(CLI::App& app, int count, char** words) {
  if (count == 0 || *words[0] == '-') return std::nullopt;
  std::string names;
  std::vector<std::string> known;
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) {
    if (command->get_name() == words[0]) return unknown_subcommand(*command, count - 1, words + 1);
    names += (names.empty() ? "" : ", ") + command->get_name();
    known.push_back(command->get_name());
  }
  if (names.empty()) return std::nullopt;  // a plain argument
  const std::string of = app.get_parent() == nullptr ? "" : " of '" + app.get_name() + "'";
  const std::string_view near = base::nearest(words[0], {known.begin(), known.end()});
  return base::Error{base::Kind::kInvalid,
                     "there is no subcommand '" + std::string(words[0]) + "'" + of +
                         (near.empty() ? "" : "; did you mean " + std::string(near) + "?") +
                         "; there are: " + names};
}

base::Error usage_error(const CLI::App& app, const std::string& what) {
  return {base::Kind::kInvalid, what + " ('" + path_of(app) + " --help' tells what there is)"};
}

base::Error unknown_words(const CLI::App& app, const std::vector<std::string>& words) {
  const auto option = std::find_if(words.begin(), words.end(),
                                   [](const std::string& word) { return word.starts_with('-'); });
  if (option == words.end())
    return usage_error(app, "'" + words.front() + "' is one word too many");
  const std::string name = option->substr(0, option->find('='));
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  std::vector<std::string> known;
  for (const CLI::Option* each : command->get_options())
    for (const std::string& long_name : each->get_lnames()) known.push_back("--" + long_name);
  const std::string_view near = base::nearest(name, {known.begin(), known.end()});
  return usage_error(app, "there is no option '" + name + "'" +
                              (near.empty() ? "" : "; did you mean " + std::string(near) + "?"));
}

}  // namespace karst::tools
