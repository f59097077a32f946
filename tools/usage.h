// What is wrong with a command line, in this program's words: each error ends with what there is,
// or what was probably meant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace CLI {
class App;
}

namespace karst::tools {

// Names what is there when a word in the place of a subcommand is none; nothing when it is one.
std::optional<base::Error> unknown_subcommand(CLI::App& app, int count, char** words);

// What CLI11 says, as an error of this program.
base::Error usage_error(const CLI::App& app, const std::string& what);

// Words that no option and no argument takes. What follows an unknown option is probably its value.
// REQUIRES: there is one.
base::Error unknown_words(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace karst::tools
