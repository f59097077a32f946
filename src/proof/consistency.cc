#include "proof/consistency.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"

namespace karst::proof {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

Hash hash_of(const std::string& text) {
  const auto bytes = base::decode_base64(text);
  return bytes && bytes->size() == kHashSize ? as_hash(*bytes) : Hash{};
}

tl::unexpected<base::Error> untrue(const std::string& what) {
  return base::fail(base::Kind::kCorrupt, what);
}

}  // namespace

std::string consistency_line(const ConsistencyProof& proof) {
  Json path = Json::array();
  for (const Hash& hash : proof.path) path.push_back(base::encode_base64(as_text(hash)));
  const Json json = {{"consistency", kConsistencyFormat},
                     {"log", proof.log},
                     {"old_size", proof.old_size},
                     {"old_root", base::encode_base64(as_text(proof.old_root))},
                     {"path", path},
                     {"checkpoint", proof.checkpoint},
                     {"key", proof.key}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

base::Status check_own_key(const Note& note, const std::string& key) {
  if (key.empty()) {
    if (note.signatures.empty()) return {};
    return untrue("its checkpoint is signed, and no key is named");
  }
  auto verifier = parse_verifier_key(key);
  if (!verifier) return untrue("the key that it names: " + verifier.error().message);
  if (signed_by(note, *verifier) != Signed::kHolds)
    return untrue("its checkpoint is not signed with the key that it names");
  if (note.signatures.size() != 1)
    return untrue("its checkpoint has signatures by others, which nothing here can check");
  return {};
}

base::Result<ConsistencyFindings> check_consistency(std::string_view bytes) {
  const Json json = Json::parse(bytes, nullptr, false);
  if (!json.is_object() || text_of(json, "consistency") != kConsistencyFormat)
    return base::fail(base::Kind::kInvalid,
                      "this does not say that it is a " + std::string(kConsistencyFormat));
  ConsistencyFindings found;
  ConsistencyProof& proof = found.proof;
  proof.log = text_of(json, "log");
  const auto size = json.find("old_size");
  if (size != json.end() && size->is_number_unsigned()) proof.old_size = size->get<std::uint64_t>();
  proof.old_root = hash_of(text_of(json, "old_root"));
  const auto path = json.find("path");
  if (path != json.end() && path->is_array())
    for (const Json& hash : *path)
      if (hash.is_string()) proof.path.push_back(hash_of(hash.get<std::string>()));
  proof.checkpoint = text_of(json, "checkpoint");
  proof.key = text_of(json, "key");
  if (consistency_line(proof) + "\n" != bytes)
    return untrue("it is not written as such a proof is");
  auto checkpoint = parse_checkpoint_bytes(proof.checkpoint);
  if (!checkpoint) return untrue(checkpoint.error().message);
  found.checkpoint = std::move(*checkpoint);
  const Checkpoint& head = found.checkpoint.checkpoint;
  if (head.origin != origin_of(model::LogId(proof.log)))
    return untrue("its checkpoint is of another log, " + head.origin);
  if (!consistency_holds(proof.old_size, proof.old_root, head.size, head.root, proof.path))
    return untrue("its path does not lead from the old root to the one of its checkpoint");
  KARST_TRY(check_own_key(found.checkpoint.note, proof.key));
  return found;
}

}  // namespace karst::proof
