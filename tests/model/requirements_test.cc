// The requirements algebra as tables, and its laws against sets that are written out.
#include "model/requirements.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace karst::model {
namespace {

RequirementSpec spec(Operator op, std::vector<std::string> values = {}, int min_values = 0) {
  return {"k", op, std::move(values), min_values};
}

const std::vector<std::string> kProbes = {"a", "b", "c", "-1", "0",   "1", "2",
                                          "3", "4", "5", "05", "1.5", ""};

std::string contained(const ValueSet& set) {
  std::string text;
  for (const std::string& probe : kProbes)
    if (set.contains(probe)) text += "[" + probe + "]";
  return text;
}

const std::string kAll = "[a][b][c][-1][0][1][2][3][4][5][05][1.5][]";

TEST(ValueSet, WhatOperatorsAllow) {
  struct Case {
    RequirementSpec spec;
    std::string contained;
    Operator reported;
  };
  const Case cases[] = {
      {spec(Operator::kIn, {"a", "2"}), "[a][2]", Operator::kIn},
      {spec(Operator::kIn), "", Operator::kDoesNotExist},
      {spec(Operator::kNotIn, {"a", "b", "c", "05", "1.5", ""}), "[-1][0][1][2][3][4][5]",
       Operator::kNotIn},
      {spec(Operator::kNotIn), kAll, Operator::kExists},
      {spec(Operator::kExists), kAll, Operator::kExists},
      {spec(Operator::kDoesNotExist), "", Operator::kDoesNotExist},
      {spec(Operator::kGt, {"3"}), "[4][5][05]", Operator::kExists},
      {spec(Operator::kGte, {"3"}), "[3][4][5][05]", Operator::kExists},
      {spec(Operator::kLt, {"1"}), "[-1][0]", Operator::kExists},
      {spec(Operator::kLte, {"1"}), "[-1][0][1]", Operator::kExists},
      {spec(Operator::kGt, {"9223372036854775807"}), "", Operator::kIn},
      {spec(Operator::kLt, {"-9223372036854775808"}), "", Operator::kIn},
      {spec(Operator::kLt, {"many"}), "", Operator::kIn},
      {spec(Operator::kGte, {"1.5"}), "", Operator::kIn},
      {spec(Operator::kLte), "", Operator::kIn},
  };
  for (const Case& test : cases) {
    const ValueSet set = to_value_set(test.spec);
    SCOPED_TRACE(describe("k", set));
    EXPECT_EQ(test.contained, contained(set));
    EXPECT_EQ(test.reported, set.op());
  }
}

TEST(ValueSet, Intersections) {
  struct Case {
    RequirementSpec a, b;
    const char* want;
  };
  const Case cases[] = {
      {spec(Operator::kIn, {"a", "b"}), spec(Operator::kIn, {"b", "c"}), "k In [b]"},
      {spec(Operator::kIn, {"a"}), spec(Operator::kIn, {"b"}), "k In"},
      {spec(Operator::kIn, {"a", "b"}), spec(Operator::kNotIn, {"a"}), "k In [b]"},
      {spec(Operator::kNotIn, {"a"}), spec(Operator::kNotIn, {"b"}), "k NotIn [a b]"},
      {spec(Operator::kExists), spec(Operator::kIn, {"a"}), "k In [a]"},
      {spec(Operator::kExists), spec(Operator::kDoesNotExist), "k In"},
      {spec(Operator::kNotIn, {"a"}), spec(Operator::kDoesNotExist), "k DoesNotExist"},
      {spec(Operator::kGt, {"2"}), spec(Operator::kLt, {"5"}), "k Exists >=3 <=4"},
      {spec(Operator::kGt, {"4"}), spec(Operator::kLt, {"4"}), "k In"},
      {spec(Operator::kGt, {"2"}), spec(Operator::kGt, {"3"}), "k Exists >=4"},
      {spec(Operator::kIn, {"1", "3", "x"}), spec(Operator::kGte, {"2"}), "k In [3]"},
      {spec(Operator::kNotIn, {"1", "3"}), spec(Operator::kGte, {"2"}), "k NotIn [3] >=2"},
      {spec(Operator::kIn, {"a"}, 2), spec(Operator::kIn, {"a"}, 3), "k In [a] minValues 3"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.want);
    EXPECT_EQ(test.want, describe("k", intersection(to_value_set(test.a), to_value_set(test.b))));
    EXPECT_EQ(test.want, describe("k", intersection(to_value_set(test.b), to_value_set(test.a))));
  }
}

RequirementSpec random_spec() {
  const auto op = static_cast<Operator>(*rc::gen::inRange(0, 8));
  if (op == Operator::kIn || op == Operator::kNotIn) {
    std::vector<std::string> values;
    for (const std::string& probe : kProbes)
      if (*rc::gen::inRange(0, 3) == 0) values.push_back(probe);
    return spec(op, values);
  }
  if (op == Operator::kExists || op == Operator::kDoesNotExist) return spec(op);
  return spec(op, {std::to_string(*rc::gen::inRange(-2, 6))});
}

TEST(ValueSet, IntersectionHoldsWhatBothHold) {
  EXPECT_TRUE(rc::check("intersection", [] {
    const ValueSet a = to_value_set(random_spec());
    const ValueSet b = to_value_set(random_spec());
    const ValueSet c = to_value_set(random_spec());
    const ValueSet both = intersection(a, b);
    for (const std::string& probe : kProbes)
      RC_ASSERT(both.contains(probe) == (a.contains(probe) && b.contains(probe)));
    RC_ASSERT(both == intersection(b, a));
    const ValueSet left = intersection(both, c);
    const ValueSet right = intersection(a, intersection(b, c));
    for (const std::string& probe : kProbes)
      RC_ASSERT(left.contains(probe) == right.contains(probe));
  }));
}

TEST(Requirements, SpecsSayTheSameAgain) {
  EXPECT_TRUE(rc::check("specs", [] {
    const Requirements first({random_spec(), random_spec()});
    const Requirements again(first.specs());
    RC_ASSERT(first.all() == again.all());
  }));
}

TEST(ValueSet, Descriptions) {
  EXPECT_EQ("k In [a b c d e and 2 others]",
            describe("k", to_value_set(spec(Operator::kIn, {"g", "f", "e", "d", "c", "b", "a"}))));
  EXPECT_EQ("k In [a b c d e]",
            describe("k", to_value_set(spec(Operator::kIn, {"e", "d", "c", "b", "a"}))));
  EXPECT_EQ("k Exists", describe("k", ValueSet::any()));
  EXPECT_EQ("k DoesNotExist", describe("k", ValueSet::none()));
}

TEST(Operators, NamesThereAndBack) {
  for (int i = 0; i < 8; ++i) {
    const auto op = static_cast<Operator>(i);
    EXPECT_EQ(op, parse_operator(operator_name(op)));
  }
  EXPECT_EQ(std::nullopt, parse_operator("in"));
  EXPECT_EQ(std::nullopt, parse_operator(""));
}

TEST(Requirements, IncompatibleSaysWhy) {
  const std::string zone(kZoneLabel);
  const auto in = [](std::string key, std::vector<std::string> values) {
    return RequirementSpec{std::move(key), Operator::kIn, std::move(values), 0};
  };
  struct Case {
    const char* name;
    std::vector<RequirementSpec> own, incoming;
    std::string want;
  };
  const Case cases[] = {
      {"nothing asked", {in("a", {"x"})}, {}, ""},
      {"same", {in("a", {"x"})}, {in("a", {"x"})}, ""},
      {"overlap", {in("a", {"x", "y"})}, {in("a", {"y", "z"})}, ""},
      {"no overlap", {in("a", {"x"})}, {in("a", {"z"})}, "key a, a In [z] not in a In [x]"},
      {"unknown custom key", {}, {in("a", {"z"})}, "label \"a\" does not have known values"},
      {"unknown, Exists",
       {},
       {{"a", Operator::kExists, {}, 0}},
       "label \"a\" does not have known values"},
      {"unknown, bounds",
       {},
       {{"a", Operator::kGt, {"1"}, 0}},
       "label \"a\" does not have known values"},
      {"unknown, a bound that is no number",
       {},
       {{"a", Operator::kGt, {"b"}, 0}},
       "label \"a\" does not have known values"},
      {"unknown, two demands that exclude each other",
       {},
       {in("a", {"x"}), in("a", {"y"})},
       "label \"a\" does not have known values"},
      {"unknown, wanted and not wanted",
       {},
       {in("a", {"x"}), {"a", Operator::kDoesNotExist, {}, 0}},
       "label \"a\" does not have known values"},
      {"well-known, a bound that no number meets",
       {},
       {{zone, Operator::kGt, {"9223372036854775807"}, 0}},
       "label \"" + zone + "\" does not have known values"},
      {"unknown, NotIn", {}, {{"a", Operator::kNotIn, {"z"}, 0}}, ""},
      {"unknown, DoesNotExist", {}, {{"a", Operator::kDoesNotExist, {}, 0}}, ""},
      {"unknown, NotIn and Exists",
       {},
       {{"a", Operator::kNotIn, {"z"}, 0}, {"a", Operator::kExists, {}, 0}},
       "label \"a\" does not have known values"},
      {"unknown, NotIn and bounds",
       {},
       {{"a", Operator::kGt, {"1"}, 0}, {"a", Operator::kNotIn, {"7"}, 0}},
       "label \"a\" does not have known values"},
      {"absent but wanted, whatever it is",
       {{"a", Operator::kDoesNotExist, {}, 0}},
       {{"a", Operator::kExists, {}, 0}, {"a", Operator::kNotIn, {"x"}, 0}},
       "key a, a NotIn [x] not in a DoesNotExist"},
      {"well-known and undefined", {}, {in(zone, {"z"})}, ""},
      {"absent and must be absent",
       {{"a", Operator::kDoesNotExist, {}, 0}},
       {{"a", Operator::kNotIn, {"x"}, 0}},
       ""},
      {"absent but wanted",
       {{"a", Operator::kDoesNotExist, {}, 0}},
       {in("a", {"x"})},
       "key a, a In [x] not in a DoesNotExist"},
      {"several",
       {in("a", {"x"})},
       {in("a", {"z"}), in("b", {"q"})},
       "key a, a In [z] not in a In [x]; label \"b\" does not have known values"},
  };
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(test.want, Requirements(test.own).incompatible(Requirements(test.incoming),
                                                             well_known_labels()));
  }
  EXPECT_NE("", Requirements().incompatible(Requirements({in(zone, {"z"})}), {}));
}

TEST(Requirements, IntersectsLooksAtSharedKeysOnly) {
  const Requirements a({{"a", Operator::kIn, {"x"}, 0}});
  EXPECT_TRUE(a.intersects(Requirements()));
  EXPECT_TRUE(a.intersects(Requirements({{"b", Operator::kIn, {"y"}, 0}})));
  EXPECT_TRUE(a.intersects(Requirements({{"a", Operator::kExists, {}, 0}})));
  EXPECT_FALSE(a.intersects(Requirements({{"a", Operator::kDoesNotExist, {}, 0}})));
  EXPECT_FALSE(a.intersects(Requirements({{"a", Operator::kIn, {"y"}, 0}})));
  const Requirements labels = Requirements::from_labels({{"a", "x"}, {"b", "y"}});
  EXPECT_TRUE(labels.find("b")->contains("y"));
  EXPECT_EQ(nullptr, labels.find("c"));
}

}  // namespace
}  // namespace karst::model
