// Reading answers to a class's questions: all pages of several at once, item by item. Internal to
// the resolution of node classes. Pure.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "providers/aws/selectors.h"
#include "providers/aws/xml.h"

namespace karst::providers::aws {

// A service's message without what is another text each time, so that an equal refusal is an equal
// condition; cut to a length.
std::string stable_text(const std::string& message);

// Null where there is no answer of that key.
const Answer* answer_of(const Answers& answers, std::string_view key);

// All the answers whose keys start with `prefix`, and the first error among them.
struct Pages {
  std::vector<const std::string*> pages;
  std::string error;  // "Code: message"
};
// `not_found`: codes that say there is nothing, and are no errors.
Pages pages_of(const Answers& answers, std::string_view prefix,
               std::initializer_list<std::string_view> not_found = {});

// Calls read(item) for each <item> of the list in every page.
template <class Read>
void each_answered(Pages& pages, const char* list, Read read) {
  for (const std::string* page : pages.pages) {
    const auto document = read_xml(*page);
    if (!document) {
      if (pages.error.empty()) pages.error = document.error().message;
      continue;
    }
    each_item(document->document_element(), list, read);
  }
}

template <class T>
void sort_unique_by_id(std::vector<T>& all) {
  std::stable_sort(all.begin(), all.end(), [](const T& a, const T& b) { return a.id < b.id; });
  all.erase(
      std::unique(all.begin(), all.end(), [](const T& a, const T& b) { return a.id == b.id; }),
      all.end());
}

}  // namespace karst::providers::aws
