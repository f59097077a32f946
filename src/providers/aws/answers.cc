#include "providers/aws/answers.h"

#include "base/utf8.h"

namespace karst::providers::aws {
namespace {

constexpr std::size_t kErrorTextMax = 300;

}  // namespace

std::string stable_text(const std::string& message) {
  const std::string_view stable(message.data(),
                                std::min(message.find("Encoded authorization"), message.size()));
  return std::string(base::cut_utf8(stable, kErrorTextMax));
}

const Answer* answer_of(const Answers& answers, std::string_view key) {
  const auto at = answers.find(key);
  return at == answers.end() ? nullptr : &at->second;
}

Pages pages_of(const Answers& answers, std::string_view prefix,
               std::initializer_list<std::string_view> not_found) {
  Pages out;
  for (const auto& [key, answer] : answers) {
    if (!key.starts_with(prefix)) continue;
    for (const std::string& page : answer.pages) out.pages.push_back(&page);
    const bool absent =
        std::find(not_found.begin(), not_found.end(), answer.error_code) != not_found.end();
    if (!answer.error_code.empty() && !absent && out.error.empty())
      out.error = answer.error_code + ": " + stable_text(answer.error_message);
  }
  return out;
}

}  // namespace karst::providers::aws
