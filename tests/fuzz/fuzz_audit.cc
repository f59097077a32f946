// What an auditor's program reads comes from anybody: notes, checkpoints, keys, trails, proofs of
// growth, and files of tiles. The first byte chooses. Whatever is taken has one form: written
// again, it is the same bytes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <string>

#include "proof/consistency.h"
#include "proof/tile_check.h"
#include "proof/trail_check.h"

namespace {

using namespace karst::proof;

void require(bool condition, std::source_location at = std::source_location::current()) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_audit.cc:%u: this does not hold\n", static_cast<unsigned>(at.line()));
  std::abort();
}

void keys(const std::string& bytes) {
  if (auto key = parse_verifier_key(bytes)) require(key->text() == bytes);
  if (auto key = parse_signer_key(bytes)) require(key->text() == bytes);
  (void)parse_key_file(bytes, "n");
}

void checkpoint(const std::string& bytes) {
  auto head = parse_checkpoint_bytes(bytes);
  if (!head) return;
  require(head->checkpoint.text() == head->note.text);
  if (head->note.signatures.empty()) require(head->note.text == bytes);
}

// In two pieces it is the same trail.
void trail(const std::string& bytes, std::size_t cut) {
  TrailCheck whole, pieces;
  const bool good = whole.feed(bytes) && whole.finish();
  const std::string_view text = bytes;
  const bool again =
      pieces.feed(text.substr(0, cut)) && pieces.feed(text.substr(cut)) && pieces.finish();
  require(good == again);
}

void tiles(const std::string& bytes, std::size_t cut) {
  const auto read = [&](const std::string& path) -> karst::base::Result<std::string> {
    if (path == "checkpoint") return bytes.substr(0, cut);
    if (path.starts_with("tile/entries/")) return bytes.substr(cut);
    return karst::base::fail(karst::base::Kind::kGone, "no such tile");
  };
  (void)check_tiles(read, 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t cut = bytes.empty() ? 0 : data[1] * bytes.size() / 256;
  switch (data[0] % 5) {
    case 0:
      keys(bytes);
      break;
    case 1:
      checkpoint(bytes);
      break;
    case 2:
      trail(bytes, cut);
      break;
    case 3:
      (void)check_consistency(bytes);
      break;
    default:
      tiles(bytes, cut);
  }
  return 0;
}
