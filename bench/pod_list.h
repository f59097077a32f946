// PodLists as the API server sends them, made from the templates in bench/data: `bare` is a pod as
// kwok shows it, `full` one of a real cluster with managedFields. For benchmarks only.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "bench/cluster.h"

namespace karst::bench {

inline constexpr int kPodShapes = 200;
inline constexpr int kPodsPerNode = 30;

// A template of bench/data on one line: line breaks and indents go, as the API server sends it.
inline std::string read_template(bool full) {
  const std::string path =
      std::string(KARST_BENCH_DATA) + (full ? "/pod_full.json" : "/pod_bare.json");
  std::ifstream file(path);
  std::string text, line;
  while (std::getline(file, line)) {
    const auto first = line.find_first_not_of(' ');
    if (first != std::string::npos) text += line.substr(first);
  }
  if (text.empty()) {
    std::fprintf(stderr, "bench: cannot read %s\n", path.c_str());
    std::exit(2);
  }
  for (std::size_t at = 0; (at = text.find("\": ", at)) != std::string::npos; at += 2)
    text.erase(at + 2, 1);
  return text;
}

inline std::string value_of(std::string_view place, int number) {
  if (place == "APP") return numbered("app-", number % kPodShapes, 3);
  if (place == "SIX") return numbered("", number, 6);
  if (place == "UID") return uid_of("pod", number);
  if (place == "VERSION") return std::to_string(1'000'000 + number);
  if (place == "TEAM") return numbered("team-", number % 10, 2);
  if (place == "CPU") return std::to_string(100 + number % 40);
  if (place == "NODE") return numbered("node-", number / kPodsPerNode, 6);
  std::abort();
}

// The template with every @PLACE@ filled in for this pod.
inline std::string pod_json(const std::string& shape, int number) {
  std::string text;
  std::size_t at = 0;
  for (;;) {
    const auto open = shape.find('@', at);
    const auto close = open == std::string::npos ? open : shape.find('@', open + 1);
    if (close == std::string::npos) return text + shape.substr(at);
    text += shape.substr(at, open - at);
    text += value_of(std::string_view(shape).substr(open + 1, close - open - 1), number);
    at = close + 1;
  }
}

// The pods from `first` to before `last` of `pods` as one page of a PodList.
inline std::string list_page(const std::string& shape, int first, int last, int pods) {
  std::string text =
      R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"2000000")" +
      std::string(last < pods ? R"(,"continue":"more")" : "") + R"(},"items":[)";
  for (int number = first; number < last; ++number)
    text += (number == first ? "" : ",") + pod_json(shape, number);
  return text + "]}";
}

}  // namespace karst::bench
