#include "proof/checkpoint.h"

#include <charconv>

#include "base/base64.h"
#include "base/utf8.h"

namespace karst::proof {
namespace {

tl::unexpected<base::Error> no_checkpoint(const std::string& why) {
  return base::fail(base::Kind::kInvalid, "this is no checkpoint: " + why);
}

}  // namespace

std::string Checkpoint::text() const {
  return origin + "\n" + std::to_string(size) + "\n" + base::encode_base64(as_text(root)) + "\n";
}

std::string origin_of(const model::LogId& log) {
  return "karst.dev/" + log.str();
}

base::Result<Checkpoint> parse_checkpoint(std::string_view text) {
  std::string_view lines[3];
  for (std::string_view& line : lines) {
    const std::size_t end = text.find('\n');
    if (end == text.npos || end == 0) return no_checkpoint("expected three lines");
    line = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  if (!text.empty())
    return no_checkpoint("it has extension lines, which this karst neither writes nor reads");
  Checkpoint checkpoint;
  checkpoint.origin = lines[0];
  if (!base::is_utf8(checkpoint.origin)) return no_checkpoint("its origin is not UTF-8");
  const char* end = lines[1].data() + lines[1].size();
  const auto [stop, error] = std::from_chars(lines[1].data(), end, checkpoint.size);
  if (error != std::errc() || stop != end || std::to_string(checkpoint.size) != lines[1] ||
      checkpoint.size > kTreeSizeMax)
    return no_checkpoint("its second line is not the size of a tree");
  const auto root = base::decode_base64(lines[2]);
  if (!root || root->size() != kHashSize) return no_checkpoint("its third line is not a hash");
  checkpoint.root = as_hash(*root);
  return checkpoint;
}

std::string checkpoint_bytes(const Checkpoint& checkpoint, const SignerKey* key) {
  return key == nullptr ? checkpoint.text() : sign_note(checkpoint.text(), *key);
}

base::Result<SignedCheckpoint> parse_checkpoint_bytes(std::string_view bytes) {
  SignedCheckpoint result;
  if (bytes.find("\n\n") == bytes.npos) {
    result.note.text = bytes;
  } else {
    auto note = parse_note(bytes);
    if (!note) return base::fail(note.error());
    result.note = std::move(*note);
  }
  auto checkpoint = parse_checkpoint(result.note.text);
  if (!checkpoint) return base::fail(checkpoint.error());
  result.checkpoint = std::move(*checkpoint);
  return result;
}

}  // namespace karst::proof
