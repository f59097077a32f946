// Any bytes as an object of any kind: refused or reduced, never a crash; what is reduced twice is
// equal.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "objects/cluster.h"
#include "objects/named.h"
#include "objects/pod.h"
#include "objects/yaml.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace karst::objects;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)parse_yaml(bytes);
  Parser parser;
  const auto object = parser.parse(bytes, kObjectBytesMax);
  if (!object) return 0;
  const auto pod = reduce_pod(*object);
  if (pod && pod->pod.shape != reduce_pod(*object)->pod.shape) std::abort();
  (void)reduce_daemon_set(*object);
  (void)reduce_node(*object);
  (void)reduce_node_pool(*object);
  (void)reduce_node_claim(*object);
  for (const std::string_view kind : karst::model::kNamedKinds) {
    const auto named = reduce_named(kind, *object, true);
    if (named && !(named->object == reduce_named(kind, *object, true)->object)) std::abort();
    if (named && named->shape &&
        karst::model::shape_of(named->object) != karst::model::hash_of(*named->shape))
      std::abort();
  }
  if (const auto node_class = reduce_node_class(*object, "g", "K"); node_class) {
    Parser again;
    if (!again.parse(node_class->spec_json, 8 * kObjectBytesMax))
      std::abort();  // canonical JSON is JSON
  }
  return 0;
}
