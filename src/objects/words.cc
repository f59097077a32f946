#include "objects/words.h"

#include <algorithm>
#include <string>

#include "base/utf8.h"

namespace karst::objects {
namespace {

constexpr std::size_t kWordShownMax = 40;

// "operator: "Near" is not known: expected In, NotIn or Exists".
void refuse(const Object& object, std::string_view key,
            std::initializer_list<std::string_view> words) {
  const std::string_view found = object.view(key);
  std::string known;
  for (const std::string_view& one : words) {
    if (&one != words.begin()) known += &one + 1 == words.end() ? " or " : ", ";
    known += one;
  }
  const Context::Scope scope(object.context(), {key, 0});
  object.context().fail((found.empty() ? std::string("is missing")
                                       : "\"" + std::string(base::cut_utf8(found, kWordShownMax)) +
                                             "\" is not known") +
                        ": expected " + known);
}

}  // namespace

std::string_view read_word(const Object& object, std::string_view key,
                           std::initializer_list<std::string_view> words) {
  const std::string_view found = object.view(key);
  if (!found.empty() && std::find(words.begin(), words.end(), found) == words.end())
    refuse(object, key, words);
  return found;
}

model::Operator read_operator(const Object& object) {
  const auto op = model::parse_operator(object.view("operator"));
  if (!op)
    refuse(object, "operator", {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"});
  return op.value_or(model::Operator::kExists);
}

model::TaintEffect read_effect(const Object& object) {
  const auto effect = model::parse_taint_effect(object.view("effect"));
  if (!effect) refuse(object, "effect", {"NoSchedule", "PreferNoSchedule", "NoExecute"});
  return effect.value_or(model::TaintEffect::kNoSchedule);
}

}  // namespace karst::objects
