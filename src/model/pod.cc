#include "model/pod.h"

#include "base/bytes.h"
#include "base/sha256.h"

namespace karst::model {

ShapeHash hash_of(const PodShape& shape) {
  base::ByteWriter writer;
  writer(shape);
  const auto digest = base::sha256(writer.view());
  ShapeHash hash;
  for (std::size_t i = 0; i < 8; ++i) {
    hash.high = hash.high << 8 | digest[i];
    hash.low = hash.low << 8 | digest[8 + i];
  }
  return hash;
}

}  // namespace karst::model
