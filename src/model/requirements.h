// The requirements algebra: what a pod, a pool or an instance type says about a label key, as a set
// of values, and the three questions asked of such sets. Semantics are Karpenter's (v1.14:
// pkg/scheduling requirements), restated, but for `must_exist`, where they are the kube-scheduler's
// (https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#operators).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/labels.h"

namespace karst::model {

enum class Operator {
  kIn = 0,
  kNotIn = 1,
  kExists = 2,
  kDoesNotExist = 3,
  kGt = 4,
  kLt = 5,
  kGte = 6,
  kLte = 7
};

std::string_view operator_name(Operator op);
std::optional<Operator> parse_operator(std::string_view name);

// One line of a manifest: key, operator, values, and how many distinct values must stay possible.
struct RequirementSpec {
  std::string key;
  Operator op = Operator::kIn;
  std::vector<std::string> values;
  int min_values = 0;  // 0: no demand
  friend auto operator<=>(const RequirementSpec&, const RequirementSpec&) = default;
};

// The set of values that a key may have: `values`, or everything but `values` when `complement`;
// cut to the inclusive integer bounds where given (a bounded set holds integers only).
struct ValueSet {
  bool complement = false;
  std::set<std::string> values;
  std::optional<std::int64_t> at_least;
  std::optional<std::int64_t> at_most;
  int min_values = 0;
  // Some demand rules out that the key is missing. Of a set that excludes values: another one than
  // NotIn, which alone allows it. Of an empty set: nothing meets it, where without `must_exist` it
  // is DoesNotExist; so are demands that exclude each other, and bounds that are no integers or
  // that no integer meets (the API server takes those of pods).
  bool must_exist = false;

  static ValueSet any() { return ValueSet{true, {}, {}, {}, 0}; }
  static ValueSet none() { return {}; }
  static ValueSet of(std::string_view value) {
    return ValueSet{false, {std::string(value)}, {}, {}, 0};
  }

  bool contains(std::string_view value) const;
  bool allows_absence() const;  // a key that is missing will do
  bool empty() const { return !complement && values.empty(); }
  Operator op() const;  // the operator that a message reports
  friend bool operator==(const ValueSet&, const ValueSet&) = default;
};

ValueSet to_value_set(const RequirementSpec& spec);
ValueSet intersection(const ValueSet& a, const ValueSet& b);
// No value meets both, nor does the key's absence.
bool exclude_each_other(const ValueSet& a, const ValueSet& b);

// "key In [a b]": values sorted, at most five shown, then bounds and minValues.
std::string describe(std::string_view key, const ValueSet& set);

// Requirements by key. Adding to a key intersects.
class Requirements {
 public:
  Requirements() = default;
  explicit Requirements(const std::vector<RequirementSpec>& specs);
  static Requirements from_labels(const Labels& labels);

  void add(std::string_view key, const ValueSet& set);
  void add(const Requirements& other);
  const ValueSet* find(std::string_view key) const;
  const std::map<std::string, ValueSet, std::less<>>& all() const { return sets_; }

  // Why `incoming` cannot be met here, or empty. A key that is not defined here is fine when it is
  // in `allowed_undefined` or when all that is asked is NotIn or DoesNotExist.
  std::string incompatible(const Requirements& incoming,
                           const std::set<std::string, std::less<>>& allowed_undefined) const;

  // The first shared key whose sets exclude each other, as long as `other` lives; null: none does.
  // Keys that only one side has do not matter.
  const std::string* conflict(const Requirements& other) const;
  bool intersects(const Requirements& other) const { return conflict(other) == nullptr; }

  // As manifest lines, sorted by key.
  std::vector<RequirementSpec> specs() const;

 private:
  std::map<std::string, ValueSet, std::less<>> sets_;
};

// The well-known label keys of Karpenter's core: undefined on a pool means "any".
const std::set<std::string, std::less<>>& well_known_labels();

// What Karpenter (1.14) says of a key that nobody may demand. `known`: the well-known keys, the
// cloud's among them; `cloud_domain`: whose keys are the cloud's own, may be empty.
std::string restricted_label_text(std::string_view key,
                                  const std::set<std::string, std::less<>>& known,
                                  std::string_view cloud_domain);

template <class Archive>
void fields(Archive& a, RequirementSpec& r) {
  a(r.key, r.op, r.values, r.min_values);
}

}  // namespace karst::model
