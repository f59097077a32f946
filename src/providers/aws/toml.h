// Just enough of TOML 1.0 to merge settings into a user's file: keys with their full path, values
// as they are written. What we do not touch comes out as it went in, but for comments and blank
// lines. Values are not understood, only their ends are found. Pure. https://toml.io/en/v1.0.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace karst::providers::aws {

inline constexpr std::size_t kTomlEntriesMax = 2'000;

using TomlPath = std::vector<std::string>;

struct TomlTable {
  TomlPath path;          // of its header; empty: the top of the file
  bool element = false;   // [[path]]
  bool of_array = false;  // that, or a table below one: its place in the file counts
  std::vector<std::pair<TomlPath, std::string>> entries;  // key below `path`, raw value
};

// Tables in the file's order. Errors: kInvalid "line N: what is wrong".
base::Result<std::vector<TomlTable>> read_toml(std::string_view text);

// The entries of an inline table "{a = 1, b.c = 2}". Errors: kInvalid.
base::Result<std::vector<std::pair<TomlPath, std::string>>> read_inline_table(
    std::string_view value);

// A key as it is written: bare where it may be.
std::string toml_key(std::string_view key);
std::string toml_key(const TomlPath& path);
// A basic string.
std::string toml_text(std::string_view text);

}  // namespace karst::providers::aws
