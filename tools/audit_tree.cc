#include "tools/audit_tree.h"

#include <fmt/format.h>

#include "daemon/head_file.h"
#include "daemon/signing_key.h"
#include "tools/talk.h"

namespace karst::tools {

namespace {

// Of what was trimmed the leaves are kept, as whole tiles.
base::Status add_trimmed(const ReadLog& log, proof::TileBuilder& builder,
                         proof::MemoryTiles& fresh) {
  while (builder.size() + 1 < log->first().value()) {
    auto leaves = log->trimmed_leaves(builder.size() / proof::kTileWidth);
    if (!leaves) return base::fail(leaves.error());
    for (std::size_t at = builder.size() % proof::kTileWidth; at < proof::kTileWidth; ++at)
      builder.append(proof::as_hash(
          std::string_view(*leaves).substr(at * proof::kHashSize, proof::kHashSize)));
    fresh.put(builder.take());
  }
  return {};
}

// The leaves after those that `builder` has.
base::Status add_leaves(const ReadLog& log, std::uint64_t size, proof::TileBuilder& builder,
                        proof::MemoryTiles& fresh) {
  KARST_TRY(add_trimmed(log, builder, fresh));
  auto cursor = log->read(model::Position(builder.size() + 1));
  if (!cursor) return base::fail(cursor.error());
  Progress progress("reading the log", size, Meanwhile::kSilence);
  while (builder.size() < size) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) break;
    const std::uint64_t position = (*event)->envelope.position.value();
    builder.append(proof::event_leaf_hash((*event)->raw, log.log->secret()));
    if (builder.size() % proof::kTileWidth == 0) fresh.put(builder.take());
    progress.at(position);
  }
  fresh.put(builder.take());
  return {};
}

// The head that the daemon signed. The log is read on when it is of more than was there at its
// opening.
base::Result<std::optional<proof::Checkpoint>> signed_head(const ReadLog& log,
                                                           const std::string& data) {
  auto head = daemon::kept_head(data, log->id());
  if (head && head->size >= log->end().value() && !log.log->damage()) KARST_TRY(log.log->refresh());
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
  const std::uint64_t size = log->end().value() - 1;
  auto tree = std::make_unique<LogTree>();
  tree->index = open_index(log, data);
  const std::uint64_t stored = tree->index ? tree->index->tree_size() : 0;
  tree->size = size;
  if (stored < size) {
    proof::TileBuilder builder;
    if (stored > 0) {
      auto resumed = proof::TileBuilder::resume(tree->index->tiles(), stored);
      if (!resumed) return base::fail(resumed.error());
      builder = std::move(*resumed);
    }
    KARST_TRY(add_leaves(log, size, builder, tree->fresh));
    tree->size = builder.size();
  }
  auto root = proof::tree_root(*tree, tree->size);
  if (!root) return base::fail(root.error());
  tree->root = *root;
  if (*head) {
    const bool whole = !log.sound->damage();
    KARST_TRY(daemon::continues({*tree, tree->size, whole}, **head, data));
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
  return base::fail(key.error());
}

}  // namespace karst::tools
