// YAML as Kubernetes reads it, and the inputs that are made to hurt.
#include "objects/yaml.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace karst::objects {
namespace {

std::string repeated(const std::string& text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

// 90 lists in each other, each with an anchor, around 12,000 values.
std::string nested_anchors() {
  std::string text;
  for (int i = 0; i < 90; ++i) text += "&a" + std::to_string(i) + " [";
  return text + repeated("1, ", 12'000) + "1" + repeated("]", 90) + "\n";
}

TEST(Yaml, ReadsScalarsListsMapsAnchorsAndJson) {
  struct Case {
    const char* yaml;
    const char* json;
  };
  const Case cases[] = {
      {"a: 1\nb: [x, 2.5, true, ~]\n", R"({"a":1,"b":["x",2.5,true,null]})"},
      {"a: 'yes'\nb: yes\nc: \"1\"\nd: off\n", R"({"a":"yes","b":true,"c":"1","d":false})"},
      {"{\"a\": {\"b\": [1, 2]}}", R"({"a":{"b":[1,2]}})"},
      {"a: &x {k: v}\nb: *x\n", R"({"a":{"k":"v"},"b":{"k":"v"}})"},
      {"# only a comment\n---\na: 1\n---\nb: 2\n", R"({"a":1})"},
      {"a: |\n  two\n  lines\n", R"({"a":"two\nlines\n"})"},
      {"a: 127.0.0.1\nb: 1e3\nc: -5\nd: 2024-01-01\n",
       R"({"a":"127.0.0.1","b":1000.0,"c":-5,"d":"2024-01-01"})"},
      {"a: y\nb: N\nc: \"n\"\n", R"({"a":true,"b":false,"c":"n"})"},
      {"a: 0x1f\nb: 0644\nc: 0b11\nd: 1_000\ne: +3\nf: 08\ng: 1.\nh: 0x\n",
       R"({"a":31,"b":420,"c":3,"d":1000,"e":3,"f":8,"g":1,"h":"0x"})"},
      {"a: 1_0.5\nc: .\nd: 1e\ne: 99999999999999999999\n",
       R"({"a":"1_0.5","c":".","d":"1e","e":1e20})"},
      {"a: &x {b: 1}\nc: {<<: *x, d: 2}\ne: {<<: [*x, {b: 3, f: 4}]}\n",
       R"({"a":{"b":1},"c":{"b":1,"d":2},"e":{"b":1,"f":4}})"},
      {"", "null"},
  };
  for (const Case& test : cases) {
    const auto parsed = parse_yaml(test.yaml);
    ASSERT_TRUE(parsed) << test.yaml << parsed.error().message;
    EXPECT_EQ(*parsed, nlohmann::json::parse(test.json)) << test.yaml;
  }
}

TEST(Yaml, SaysWhatIsWrongAndWhere) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    const std::string before(1, static_cast<char>(c - 1));
    bomb += std::string(1, c) + ": &" + c + " [*" + before;
    for (int i = 0; i < 9; ++i) bomb += ", *" + before;
    bomb += "]\n";
  }
  struct Case {
    const char* name;
    std::string yaml;
    const char* message;
  };
  const Case cases[] = {
      {"a key twice", "a: 1\nb: 2\na: 3\n", "line 3: the key \"a\" comes twice"},
      {"not closed", "a: [1, 2\n", "line 2: "},
      {"unknown anchor", "a: *x\n", "line 1: nothing is named by &x"},
      {"too deep", std::string(200, '[') + std::string(200, ']'), "line 1: nested deeper than 100"},
      {"a list as key", "? [a]\n: b\n", "line 1: expected a key that is a plain word"},
      {"unfolding aliases", bomb, "line 5: aliases unfold to too many values"},
      {"a key twice beside a merge", "a: &x {b: 1}\nc: {<<: *x, b: 2, b: 3}\n",
       "line 2: the key \"b\" comes twice"},
      {"a merge of a word", "c: {<<: x}\n", "line 1: expected a map to merge"},
      {"no number", "a: -.inf\n", "line 1: \"-.inf\" is no number that JSON knows"},
      {"too many aliases", "a: &x 1\nb: [" + repeated("*x, ", 101) + "*x]\n",
       "line 2: more than 100 aliases"},
      {"anchors in anchors", "a: " + nested_anchors(), "line 1: anchors name too many values"},
      {"not UTF-8", "a: \xff\xfe\n", "line 1: invalid leading UTF-8 octet"},
      {"not UTF-8 further on",
       "\xef\xbb\xbf"
       "a: 1\nb:\n  c: \"x\xff\"\nd: 1\n",
       "line 3: invalid leading UTF-8 octet"},
      {"not UTF-8 beyond what is read at once", repeated("a: 1 # \xc3\xa9\n", 20'000) + "\xc3\n",
       "line 20001: invalid trailing UTF-8 octet"},
      {"a control character", "a: 1\nb: \x01\n", "line 2: control characters are not allowed"},
      {"too large", std::string(kYamlBytesMax + 1, ' '), "3145729 bytes of YAML"},
  };
  for (const Case& test : cases) {
    const auto parsed = parse_yaml(test.yaml);
    ASSERT_FALSE(parsed) << test.name;
    EXPECT_EQ(parsed.error().message.substr(0, std::string(test.message).size()), test.message)
        << test.name << parsed.error().message;
  }
}

TEST(Yaml, WhatAMapSaysItselfComesBeforeWhatItMerges) {
  for (const char* own : {"{<<: *x, b: 2}", "{b: 2, <<: *x}", "{<<: [*x, {d: 5}], b: 2}"}) {
    const auto parsed = parse_yaml("a: &x {b: 1, c: 3}\ne: " + std::string(own) + "\n");
    ASSERT_TRUE(parsed) << own << ": " << parsed.error().message;
    EXPECT_EQ((*parsed)["e"]["b"], 2) << own;
    EXPECT_EQ((*parsed)["e"]["c"], 3) << own;
  }
}

}  // namespace
}  // namespace karst::objects
