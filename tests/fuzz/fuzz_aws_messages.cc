// Any bytes as a message of the interruption queue: always an answer, at least one interruption,
// and a reason where there is nothing to do.
#include <cstdint>
#include <cstdlib>

#include "providers/aws/messages.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace karst;
  using namespace karst::providers::aws;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto all = read_message({"message", body, 1});
  if (all.empty() || all.size() > kEntitiesMax) std::abort();
  for (const model::Interruption& one : all) {
    const bool other = one.kind == model::InterruptionKind::kOther;
    if (other != !one.reason.empty() || other != one.provider_id.empty()) std::abort();
    if (one.message.empty()) std::abort();
    for (const char c : one.reason)
      if (c < ' ' || c > '~') std::abort();
  }
  return 0;
}
