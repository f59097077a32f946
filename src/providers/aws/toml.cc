#include "providers/aws/toml.h"

#include <algorithm>
#include <optional>

namespace karst::providers::aws {
namespace {

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void skip_spaces() {
    while (peek() == ' ' || peek() == '\t') ++at_;
  }
  // Blank lines and comments too.
  void skip_empty() {
    for (;; ++at_) {
      if (peek() == '#') skip_comment();
      if (peek() != ' ' && peek() != '\t' && peek() != '\r' && peek() != '\n') return;
    }
  }
  // What may follow on a line; false when there is something else.
  bool end_of_line() {
    skip_spaces();
    if (peek() == '#') skip_comment();
    if (peek() == '\r') ++at_;
    if (at_end()) return true;
    return take("\n");
  }

  // a."b c".'d'; nullopt: it is none.
  std::optional<TomlPath> key() {
    TomlPath path;
    do {
      skip_spaces();
      std::string part;
      if (peek() == '"' || peek() == '\'') {
        const std::size_t begin = at_;
        if (!skip_string() || at_ - begin < 2) return std::nullopt;
        part = unescaped(text_.substr(begin + 1, at_ - begin - 2), text_[begin] == '"');
      } else {
        while (is_bare(peek())) part += text_[at_++];
        if (part.empty()) return std::nullopt;
      }
      path.push_back(std::move(part));
      skip_spaces();
    } while (take("."));
    return path;
  }

  // A value as it is written; `inside` an inline table a comma or brace ends it too. Empty: none.
  std::string_view value(bool inside) {
    skip_spaces();
    const std::size_t begin = at_;
    int depth = 0;
    while (!at_end()) {
      const char c = peek();
      if (c == '"' || c == '\'') {
        if (!skip_string()) return {};
        continue;
      }
      const bool ends_line = c == '\n' || c == '#';
      if (depth == 0 && (ends_line || (inside && (c == ',' || c == '}')))) break;
      if (c == '#') {
        skip_comment();
        continue;
      }
      if (c == '[' || c == '{') ++depth;
      if ((c == ']' || c == '}') && --depth < 0) return {};
      ++at_;
    }
    if (depth != 0) return {};
    std::string_view raw = text_.substr(begin, at_ - begin);
    while (!raw.empty() && (raw.back() == ' ' || raw.back() == '\t' || raw.back() == '\r'))
      raw.remove_suffix(1);
    return raw;
  }

  tl::unexpected<base::Error> wrong(const std::string& what) const {
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    return base::fail(base::Kind::kInvalid, "userData: line " + std::to_string(line) + ": " + what);
  }

 private:
  void skip_comment() {
    while (!at_end() && peek() != '\n') ++at_;
  }
  // Any of the four kinds; false: it does not end.
  bool skip_string() {
    const char quote = peek();
    const std::string thrice(3, quote);
    const bool many = text_.substr(at_, 3) == thrice;
    at_ += many ? 3 : 1;
    while (!at_end()) {
      if (quote == '"' && peek() == '\\') {
        at_ += 2;
        continue;
      }
      if (many && take(thrice)) {
        while (peek() == quote) ++at_;  // up to two may stand before the end
        return true;
      }
      if (!many && peek() == '\n') return false;
      if (text_[at_++] == quote && !many) return true;
    }
    return false;
  }
  static std::string unescaped(std::string_view raw, bool basic) {
    std::string out;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (basic && raw[i] == '\\' && i + 1 < raw.size()) ++i;
      out += raw[i];
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_under(const TomlPath& path, const TomlPath& prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

base::Result<TomlTable> read_header(Scanner& scanner, const std::vector<TomlTable>& before) {
  TomlTable table;
  table.element = scanner.take("[[");
  if (!table.element) scanner.take("[");
  auto path = scanner.key();
  if (!path || !scanner.take(table.element ? "]]" : "]") || !scanner.end_of_line())
    return scanner.wrong("expected a header such as [settings.kubernetes]");
  table.path = std::move(*path);
  table.of_array = table.element;
  for (const TomlTable& other : before)
    if (other.of_array && is_under(table.path, other.path)) table.of_array = true;
  return table;
}

}  // namespace

base::Result<std::vector<TomlTable>> read_toml(std::string_view text) {
  std::vector<TomlTable> tables(1);
  Scanner scanner(text);
  std::size_t entries = 0;
  for (scanner.skip_empty(); !scanner.at_end(); scanner.skip_empty()) {
    if (++entries > kTomlEntriesMax) return scanner.wrong("more than 2000 entries");
    if (scanner.peek() == '[') {
      auto header = read_header(scanner, tables);
      if (!header) return base::fail(std::move(header.error()));
      tables.push_back(std::move(*header));
      continue;
    }
    auto key = scanner.key();
    if (!key || !scanner.take("=")) return scanner.wrong("expected KEY = VALUE");
    const std::string_view value = scanner.value(false);
    if (value.empty() || !scanner.end_of_line()) return scanner.wrong("expected a value");
    tables.back().entries.emplace_back(std::move(*key), value);
  }
  return tables;
}

base::Result<std::vector<std::pair<TomlPath, std::string>>> read_inline_table(
    std::string_view value) {
  std::vector<std::pair<TomlPath, std::string>> entries;
  Scanner scanner(value);
  if (!scanner.take("{")) return scanner.wrong("expected an inline table");
  scanner.skip_spaces();
  if (scanner.take("}")) return entries;
  do {
    if (entries.size() == kTomlEntriesMax) return scanner.wrong("more than 2000 entries");
    auto key = scanner.key();
    if (!key || !scanner.take("=")) return scanner.wrong("expected KEY = VALUE");
    const std::string_view raw = scanner.value(true);
    if (raw.empty()) return scanner.wrong("expected a value");
    entries.emplace_back(std::move(*key), raw);
  } while (scanner.take(","));
  if (!scanner.take("}")) return scanner.wrong("expected the inline table's end");
  return entries;
}

std::string toml_key(std::string_view key) {
  const bool bare = !key.empty() && std::all_of(key.begin(), key.end(), is_bare);
  return bare ? std::string(key) : toml_text(key);
}

std::string toml_key(const TomlPath& path) {
  std::string out;
  for (const std::string& part : path) out += (out.empty() ? "" : ".") + toml_key(part);
  return out;
}

std::string toml_text(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
      out += std::string("\\u00") + kHex[(c >> 4) & 15] + kHex[c & 15];
    else
      out += c;
  }
  return out + "\"";
}

}  // namespace karst::providers::aws
