#include "tools/audit_tree.h"

#include <vector>

#include "daemon/head_file.h"
#include "daemon/signing_key.h"
#include "events/codec.h"
#include "tools/talk.h"

namespace karst::tools {

namespace {

// Makes the tree of a log as it is read, tile by tile. What the index has of it stays there.
class Growing {
 public:
  explicit Growing(LogTree& tree) : tree_(tree) {}

  std::uint64_t size() const { return builder_.size(); }
  void append(const proof::Hash& leaf) {
    builder_.append(leaf);
    if (size() % proof::kTileWidth == 0) keep();
  }
  void finish() {
    keep();
    tree_.size = size();
    tree_.root = builder_.root();
  }

 private:
  void keep() {
    for (const proof::Tile& tile : builder_.take()) {
      const auto width = static_cast<unsigned>(tile.hashes.size() / proof::kHashSize);
      const auto indexed = tree_.index == nullptr ? base::fail(base::Kind::kGone, "")
                                                  : tree_.index->tiles().read(tile.at, width);
      if (!indexed || *indexed != tile.hashes) tree_.fresh.put({&tile, 1});
    }
  }

  LogTree& tree_;
  proof::TileBuilder builder_;
};

// Of what was trimmed the leaves are kept, as whole tiles.
base::Status add_trimmed(const ReadLog& log, Growing& tree) {
  while (tree.size() + 1 < log->first().value()) {
    auto leaves = log->trimmed_leaves(tree.size() / proof::kTileWidth);
    if (!leaves) return base::fail(leaves.error());
    for (std::size_t at = 0; at < proof::kTileWidth; ++at)
      tree.append(proof::as_hash(
          std::string_view(*leaves).substr(at * proof::kHashSize, proof::kHashSize)));
  }
  return {};
}

// Up to `size`, or to where the log is damaged. `keys`: those that the log names are added.
base::Status add_leaves(const ReadLog& log, std::uint64_t size, Growing& tree,
                        std::vector<proof::VerifierKey>& keys) {
  auto cursor = log->read(model::Position(tree.size() + 1));
  if (!cursor) return base::fail(cursor.error());
  Progress progress("reading the log", size, Meanwhile::kSilence);
  while (tree.size() < size) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) break;
    tree.append(proof::event_leaf_hash((*event)->raw, log.log->secret()));
    progress.at(tree.size());
    if ((*event)->envelope.type != events::EventType::kSigningKeyChanged) continue;
    const events::Body body = events::decode_body(**event);
    auto key = proof::parse_verifier_key(std::get<events::SigningKeyChanged>(body).key);
    if (key) keys.push_back(std::move(*key));
  }
  return {};
}

// The head that the daemon signed. The log is read on when it is of more than was there at its
// opening.
base::Result<std::optional<proof::SignedCheckpoint>> signed_head(const ReadLog& log,
                                                                 const std::string& data) {
  auto head = daemon::kept_head(data, log->id());
  if (head && *head && (*head)->checkpoint.size >= log->end().value() && !log.log->damage())
    KARST_TRY(log.log->refresh());
  return head;
}

}  // namespace

base::Result<std::string> LogTree::read(proof::TileAt at, unsigned width) const {
  auto tile = fresh.read(at, width);
  return tile || index == nullptr ? tile : index->tiles().read(at, width);
}

base::Result<std::unique_ptr<LogTree>> tree_of(const ReadLog& log, const std::string& data) {
  const auto head = signed_head(log, data);
  if (!head) return base::fail(head.error());
  auto tree = std::make_unique<LogTree>();
  tree->index = open_index(log, data);
  Growing growing(*tree);
  std::vector<proof::VerifierKey> keys;
  KARST_TRY(add_trimmed(log, growing));
  KARST_TRY(add_leaves(log, log->end().value() - 1, growing, keys));
  growing.finish();
  if (*head) {
    KARST_TRY(daemon::check_signed(**head, keys, data));
    const bool whole = !log.sound->damage();
    KARST_TRY(daemon::continues({*tree, tree->size, whole}, (*head)->checkpoint, data));
  }
  return tree;
}

base::Result<std::optional<proof::SignerKey>> signer_of(const std::string& file,
                                                        const std::string& data,
                                                        const model::LogId& log) {
  auto key = daemon::read_signing_key(file.empty() ? daemon::own_key_file(data) : file, log);
  if (key) return std::optional(std::move(*key));
  if (file.empty() && key.error().kind == base::Kind::kGone)
    return std::optional<proof::SignerKey>();
  // kGone is what a reader of the output is that went away.
  if (key.error().kind == base::Kind::kGone)
    return base::fail(base::Kind::kInvalid, key.error().message);
  return base::fail(key.error());
}

}  // namespace karst::tools
