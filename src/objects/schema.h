// What fields an object may have: tables of names and types, and the walk that holds a tree against
// them. The tables are data (data/*.schema.inc), one line a type: its name, then FIELD:TYPE. TYPE
// is
//   s text, s(A|B) one of these words, t time (RFC 3339), b boolean, i and l whole numbers of 32
//   and 64 bits, n number, q quantity, Q quantity that must be a whole number or text, x whole
//   number or text, * anything, NAME another line;
// with [] or {} before it for lists and maps, and ! after it when the field must be there. What the
// types cannot say is in rules (manifest_rules.h), functions by type name. Immutable after its
// making; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "objects/value_tree.h"

namespace karst::objects {

inline constexpr std::size_t kRefusalsMax = 20;  // what is told of one read; more are only counted

// One thing that is wrong, as people read it: FILE:LINE: KIND NAME: FIELD: what.
struct Refusal {
  std::string file;
  std::uint32_t line = 0;
  std::string object;  // "Deployment web"; empty when it is about the file
  std::string field;   // "spec.template.spec.nodeSelctor"
  std::string what;
  std::string text() const;
};

// Collects what is wrong with the object that is walked, and knows where in it the walk is.
class Review {
 public:
  explicit Review(std::string file) : file_(std::move(file)) {}
  void begin(std::string object) { object_ = std::move(object); }

  void refuse(std::uint32_t line, std::string what);
  // About the field `name` of the value at hand.
  void refuse(std::string_view name, std::uint32_t line, std::string what);

  const std::string& file() const { return file_; }
  std::size_t count() const { return count_; }  // of all, told or not
  const std::vector<Refusal>& refusals() const { return refusals_; }

  // Enters a field, a map's key or a list's element for as long as it lives.
  class Scope {
   public:
    Scope(Review& review, std::string_view key);
    Scope(Review& review, std::size_t index);
    ~Scope() { review_.path_.resize(length_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Review& review_;
    std::size_t length_;
  };

 private:
  std::string file_;
  std::string object_;
  std::string path_;
  std::size_t count_ = 0;
  std::vector<Refusal> refusals_;
};

struct Type;
struct FieldType {
  std::string_view containers;  // "[]", "{}", "{}[]"
  char scalar = 0;              // of the list above; 0: `type`
  std::vector<std::string_view> words;
  const Type* type = nullptr;
  bool required = false;
  // The status of one of Kubernetes' own kinds, which servers write: fields of another version may
  // be there or not.
  bool is_told = false;
};

// Further conditions on a value of one type.
using Rule = void (*)(Review& review, const TreeValue& value);

struct Type {
  std::string_view name;
  std::map<std::string_view, FieldType> fields;
  Rule rule = nullptr;
};

class Schema {
 public:
  // The tables of Kubernetes 1.34 and Karpenter 1.14 with their rules.
  static const Schema& instance();

  // `value` against the type of that name, which must exist. Reads all of it, whatever is wrong.
  void check(Review& review, std::string_view type, const TreeValue& value) const;

  // The fields of the type of that name, which must exist.
  const Type& type(std::string_view name) const;

 private:
  Schema();
  void read(std::string_view table);
  void add_field(Type& type, std::string_view text);

  // order never shows: looked up by name only
  std::map<std::string_view, Type> types_;
};

// "a string", "the number 5", "a list": for messages.
std::string describe(const TreeValue& value);

}  // namespace karst::objects
