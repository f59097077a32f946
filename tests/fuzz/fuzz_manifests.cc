// Any bytes as a manifest: refused with a place, or read; never a crash. What is read as YAML and
// printed as JSON reads the same again.
#include <cstdint>
#include <cstdlib>

#include "objects/manifest.h"
#include "objects/value_tree.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace karst::objects;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto manifests = read_manifests({{"f", text}});
  if (!manifests && manifests.error().message.empty()) std::abort();
  const auto documents = read_documents(text, kManifestBytesMax);
  if (!documents) return 0;
  for (const TreeValue& document : *documents) {
    if (!document.is(TreeValue::Type::kMap)) continue;
    const std::string json = to_json(document);
    const auto again = read_documents(json, 8 * kManifestBytesMax);
    if (!again || again->size() != 1 || to_json(again->front()) != json) std::abort();
  }
  return 0;
}
