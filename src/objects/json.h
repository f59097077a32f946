// Reading Kubernetes objects from JSON: a parser with limits, and a reader that asks an object for
// its fields by type and remembers the first thing that is wrong, with the path of the field. Input
// is hostile: size, depth, counts and lengths are bounded, and nothing in it can do more than make
// the object be refused. Owner: one thread per Parser. Everything read is a view into it and dies
// with the next parse.
#pragma once

#include <simdjson.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "model/labels.h"
#include "model/resources.h"

namespace karst::objects {

inline constexpr std::size_t kObjectBytesMax =
    3 * 512 * 1024;                                      // etcd's own limit for one object, 1.5 MiB
inline constexpr std::size_t kListBytesMax = 64u << 20;  // one page of a list
inline constexpr std::size_t kDepthMax = 64;
inline constexpr std::size_t kPathMax =
    32;  // steps from an object to the deepest field that is read
inline constexpr std::size_t kTextBytesMax = 4096;  // names, values, keys
inline constexpr std::size_t kMessageBytesMax = 32 * 1024;
inline constexpr std::size_t kElementsMax = 10'000;  // of one array or map
// Of one resource of one object, so that sums over a cluster stay far from 2^63: 281 TB, or as many
// millicores. No machine has as much: what is said to be more counts as so much.
inline constexpr std::int64_t kAmountMax = std::int64_t{1} << 48;

class Parser {
 public:
  Parser();
  // Errors: kInvalid when `bytes` are more than `bytes_max`, nested deeper than kDepthMax, or not
  // JSON in UTF-8.
  base::Result<simdjson::dom::element> parse(std::string_view bytes, std::size_t bytes_max);

 private:
  simdjson::dom::parser parser_;
};

// The first thing that is wrong with the object being read. Reading goes on after it (with empty
// values), so that reducers need no branches; the caller asks once at the end.
class Context {
 public:
  bool ok() const { return error_.empty(); }
  // ok, or kInvalid "FIELD.PATH[2]: what".
  base::Status status() const;
  void fail(std::string_view what);

  struct Step {
    std::string_view key;  // empty: `index`
    std::size_t index = 0;
  };
  // Enters one field or element for as long as it lives.
  class Scope {
   public:
    Scope(Context& context, Step step) : context_(context) {
      KARST_CHECK(context_.depth_ < kPathMax, "no reducer goes deeper");
      context_.path_[context_.depth_++] = step;
    }
    ~Scope() { --context_.depth_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Context& context_;
  };

 private:
  std::array<Step, kPathMax> path_;
  std::size_t depth_ = 0;
  std::string error_;
};

// One JSON object being read. Absent and null are the same: the fallback. A value of another type
// is an error.
class Object {
 public:
  Object(Context& context, simdjson::dom::object object) : context_(&context), object_(object) {}
  // An object that must be one; an error, and empty, if it is not.
  static Object from(Context& context, simdjson::dom::element element);

  Context& context() const { return *context_; }
  bool has(std::string_view key) const;
  std::string_view view(std::string_view key, std::size_t bytes_max = kTextBytesMax) const;
  std::string text(std::string_view key, std::size_t bytes_max = kTextBytesMax) const {
    return std::string(view(key, bytes_max));
  }
  std::int64_t integer(std::string_view key, std::int64_t fallback = 0) const;
  std::int32_t integer32(std::string_view key, std::int32_t fallback = 0) const;
  bool boolean(std::string_view key, bool fallback = false) const;
  // RFC 3339 as unix milliseconds; 0 when absent.
  std::int64_t time_millis(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  // A map of strings, sorted by key.
  model::Labels labels(std::string_view key) const;
  // A map of quantities (strings or numbers); `amount_max` stands for what is more.
  model::Resources resources(std::string_view key, model::Rounding rounding,
                             std::int64_t amount_max = kAmountMax) const;
  // The elements of a map of quantities as text, in the object's order.
  std::vector<std::pair<std::string_view, std::string>> quantities(std::string_view key) const;

  // Calls f(Object) if the field is there.
  template <class F>
  void object(std::string_view key, F&& f) const {
    simdjson::dom::element element;
    if (!find(key, element)) return;
    Context::Scope scope(*context_, {key, 0});
    f(from(*context_, element));
  }
  // Calls f(Object) for each element of an array of objects.
  template <class F>
  void objects(std::string_view key, F&& f) const {
    Context::Scope scope(*context_, {key, 0});
    std::size_t index = 0;
    for (const simdjson::dom::element element : array(key)) {
      Context::Scope inner(*context_, {{}, index++});
      f(from(*context_, element));
    }
  }

 private:
  bool find(std::string_view key, simdjson::dom::element& element) const;
  std::vector<simdjson::dom::element> array(std::string_view key) const;  // at most kElementsMax

  Context* context_;
  simdjson::dom::object object_;
};

// Appends `text` as a JSON string.
void append_quoted(std::string& out, std::string_view text);

// The same value with sorted keys and no spaces; equal values give equal bytes.
std::string canonical_json(simdjson::dom::element element);

}  // namespace karst::objects
