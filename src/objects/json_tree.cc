#include "objects/json_tree.h"

#include <nlohmann/json.hpp>
#include <set>

#include "base/utf8.h"

namespace karst::objects {
namespace {

// Where the parser is in the text. Its iterators share one, so that a second value goes on where
// the first ended, and so that the line of each value is known.
struct Cursor {
  const char* at;
  const char* end;
  std::uint32_t line = 1;
  // A number ends with the character after it, which may be the end of its line.
  std::uint32_t value_line(const char* begin) const {
    return at > begin && at[-1] == '\n' ? line - 1 : line;
  }
};

class Iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  explicit Iterator(Cursor* cursor) : cursor_(cursor) {}
  reference operator*() const { return *cursor_->at; }
  Iterator& operator++() {
    if (*cursor_->at++ == '\n') ++cursor_->line;
    return *this;
  }
  Iterator operator++(int) { return ++*this; }
  // Compared with the end only.
  bool operator==(const Iterator& other) const { return done() == other.done(); }
  bool operator!=(const Iterator& other) const { return !(*this == other); }

 private:
  bool done() const { return cursor_ == nullptr || cursor_->at == cursor_->end; }
  Cursor* cursor_;
};

using Sax = nlohmann::json_sax<nlohmann::json>;

class Builder final : public Sax {
 public:
  Builder(const Cursor& cursor, const char* begin, std::size_t& values)
      : cursor_(cursor), begin_(begin), values_(values) {}

  TreeValue root;
  std::string error;
  std::uint32_t error_line = 0;

  bool null() override { return scalar(TreeValue::Type::kNull, {}); }
  bool boolean(bool value) override {
    return scalar(TreeValue::Type::kBoolean, value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override {
    return scalar(TreeValue::Type::kInteger, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return scalar(TreeValue::Type::kInteger, std::to_string(value));
  }
  bool number_float(number_float_t, const string_t& text) override {
    return scalar(TreeValue::Type::kNumber, text);
  }
  bool string(string_t& text) override { return scalar(TreeValue::Type::kText, text); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(TreeValue::Type::kMap); }
  bool start_array(std::size_t) override { return open(TreeValue::Type::kList); }
  bool key(string_t& name) override {
    TreeValue& map = *open_.back();
    if (!keys_.back().insert(name).second)
      return refuse("the key \"" + std::string(base::cut_utf8(name, 80)) +
                    "\" comes twice; remove one");
    map.fields.push_back({name, cursor_.line, {}});
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::detail::exception&) override {
    return refuse("not JSON, near: " + std::string(base::cut_utf8(token, 40)));
  }

 private:
  bool refuse(std::string what) {
    error = std::move(what);
    error_line = cursor_.value_line(begin_);
    return false;
  }
  TreeValue* place() {
    if (++values_ > kTreeValuesMax) {
      refuse("more than " + std::to_string(kTreeValuesMax) + " values");
      return nullptr;
    }
    if (open_.empty()) return &root;
    TreeValue& parent = *open_.back();
    if (parent.is(TreeValue::Type::kMap)) return &parent.fields.back().value;
    return &parent.items.emplace_back();
  }
  bool scalar(TreeValue::Type type, std::string text) {
    TreeValue* value = place();
    if (value == nullptr) return false;
    value->type = type;
    value->text = std::move(text);
    value->line = cursor_.value_line(begin_);
    return true;
  }
  bool open(TreeValue::Type type) {
    if (open_.size() == kYamlDepthMax)
      return refuse("nested deeper than " + std::to_string(kYamlDepthMax));
    TreeValue* value = place();
    if (value == nullptr) return false;
    value->type = type;
    value->line = cursor_.line;
    open_.push_back(value);
    keys_.emplace_back();
    return true;
  }
  bool close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  const Cursor& cursor_;
  const char* begin_;
  std::size_t& values_;
  // Only the last of a list or map grows, and what is open below it lies in it: no pointer dies.
  std::vector<TreeValue*> open_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

base::Result<std::vector<TreeValue>> read_json_documents(std::string_view text) {
  std::vector<TreeValue> documents;
  Cursor cursor{text.data(), text.data() + text.size()};
  std::size_t values = 0;
  for (;;) {
    while (cursor.at != cursor.end && std::string_view(" \t\r\n").find(*cursor.at) != text.npos)
      if (*cursor.at++ == '\n') ++cursor.line;
    if (cursor.at == cursor.end) return documents;
    if (documents.size() == kTreeDocumentsMax)
      return base::fail(base::Kind::kInvalid,
                        "more than " + std::to_string(kTreeDocumentsMax) + " documents");
    Builder builder(cursor, text.data(), values);
    const bool whole =
        nlohmann::json::sax_parse(Iterator(&cursor), Iterator(nullptr), &builder,
                                  nlohmann::json::input_format_t::json, /*strict=*/false);
    if (!whole)
      return base::fail(base::Kind::kInvalid,
                        "line " + std::to_string(builder.error_line) + ": " + builder.error);
    documents.push_back(std::move(builder.root));
  }
}

}  // namespace karst::objects
