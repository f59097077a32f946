// `audit export --format jsonl`: the trail that carries its proof, and `--format tiles`: the log's
// static files.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/sync_folder.h"
#include "base/system_error.h"
#include "daemon/head_file.h"
#include "exports/byte_sink.h"
#include "exports/redaction.h"
#include "exports/walk.h"
#include "proof/paths.h"
#include "proof/trail.h"
#include "tools/audit_tree.h"
#include "tools/export_filter.h"
#include "tools/talk.h"
#include "tools/tile_files.h"

namespace karst::tools {
namespace {

void say_unsigned() {
  fmt::print(
      stderr,
      "karst: not signed, for want of a key; --signing-key FILE is the one of 'karst run'\n");
}

struct Trail {
  const ReadLog& log;
  exports::Filter filter;
  exports::Redaction redaction;
  std::optional<proof::SignerKey> key;
  std::unique_ptr<LogTree> tree;               // of a partial trail
  std::optional<proof::InclusionPaths> paths;  // in it
  std::uint64_t size = 0;
};

// False: nobody reads any more.
base::Result<bool> write_event(Trail& trail, proof::TrailWriter& writer,
                               const events::Event& event) {
  const std::uint64_t position = event.envelope.position.value();
  std::vector<proof::Hash> path;
  if (trail.tree) {
    auto found = trail.paths->of(position - 1);
    if (!found) return base::fail(found.error());
    path = std::move(*found);
  }
  return print_text(writer.event(event, trail.redaction.withholds(event.envelope.type),
                                 trail.tree ? &path : nullptr));
}

base::Status write_trail(Trail& trail) {
  proof::TrailHeader header;
  header.log = trail.log->id().str();
  header.size = trail.size;
  header.complete = !trail.tree;
  header.filter = trail.filter.text();
  for (char& c : header.filter)  // names of objects are ASCII: nothing is of any other name
    if (c < 0x20 || c >= 0x7f) c = '?';
  header.redacted = trail.redaction.text();
  if (trail.key) header.key = trail.key->verifier().text();
  proof::TrailWriter writer(header, trail.log.log->secret());
  if (trail.filter.needs_history()) {
    projections::ClusterState state;
    KARST_TRY(exports::begin_at_baseline(*trail.log, trail.filter, {}, state));
  }
  if (!print_text(writer.begin())) return {};
  auto cursor = trail.log->read(trail.filter.first_in(*trail.log));
  if (!cursor) return base::fail(cursor.error());
  Progress progress("exporting", trail.size, Meanwhile::kData);
  std::uint64_t next = 1, taken = 0;
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event || (*event)->envelope.position.value() > trail.size) break;
    if (trail.filter.ends_before((*event)->envelope)) break;
    next = (*event)->envelope.position.value() + 1;
    if (trail.filter.takes(**event)) {
      ++taken;
      auto more = write_event(trail, writer, **event);
      if (!more) return base::fail(more.error());
      if (!*more) return {};
    }
    progress.at(next - 1);
  }
  KARST_TRY(trail.filter.complete());
  if (taken == 0 && !trail.filter.takes_all()) say_nothing_fits(trail.filter.text(), trail.log);
  // No end line then: what has none is no trail. finish() says where the damage is.
  if (trail.log.sound->damage() || (!trail.tree && next != trail.size + 1)) return {};
  const proof::Checkpoint head{proof::origin_of(trail.log->id()), trail.size,
                               trail.tree ? trail.tree->root : writer.root()};
  print_text(writer.end(checkpoint_bytes(head, trail.key ? &*trail.key : nullptr)));
  return {};
}

bool begins_at_one(const ReadLog& log) {
  if (log->first().value() > 1) return false;
  auto cursor = log->read(model::Position(1));
  auto event = cursor ? (*cursor)->next() : base::Result<std::optional<events::Event>>();
  return event && *event && (*event)->envelope.position.value() == 1;
}

void say_streams_stay() {
  fmt::print(
      stderr,
      "karst: a trail proves its streams: names in streams of what is withheld (of nodes and "
      "claims, namespaces, budgets, workloads) can be read; the other formats replace those "
      "of your users\n");
}

base::Status export_trail(const AuditExportOptions& options, const ReadLog& log) {
  widen_output();
  auto filter = filter_of(options.filter, log);
  if (!filter) return base::fail(filter.error());
  auto redaction = exports::Redaction::make(options.redact);
  if (!redaction) return base::fail(redaction.error());
  auto key = signer_of(options.signing_key, options.data, log->id());
  if (!key) return base::fail(key.error());
  Trail trail{log, std::move(*filter),    std::move(*redaction), std::move(*key), nullptr,
              {},  log->end().value() - 1};
  const bool part = !trail.filter.takes_all() || !begins_at_one(log);
  // A whole trail needs no tree, but to be held against the head that was signed before.
  std::error_code ignored;
  if (part || std::filesystem::exists(daemon::head_file(options.data), ignored)) {
    auto tree = tree_of(log, options.data);
    if (!tree) return base::fail(tree.error());
    if (part) {
      KARST_TRY(refuse_damaged(log, "a trail of a part of it, whose proofs lead to its head,"));
      trail.size = (*tree)->size;
      trail.tree = std::move(*tree);
      trail.paths.emplace(*trail.tree, trail.size);
    }
  }
  if (trail.size == 0) return {};  // damaged at its first event: finish() says so
  if (!trail.key) say_unsigned();
  if (!trail.redaction.none()) say_streams_stay();
  return write_trail(trail);
}

// What is printed goes to the file, which appears when it is whole.
base::Status export_to_file(const AuditExportOptions& options, const ReadLog& log) {
  auto file = exports::OutputFile::make(options.out);
  if (!file) return base::fail(file.error());
  if (dup2(file->descriptor(), STDOUT_FILENO) < 0)
    return base::fail(base::kind_of_errno(errno, base::Kind::kDenied),
                      options.out + " cannot be written: " + std::strerror(errno));
  KARST_TRY(export_trail(options, log));
  KARST_TRY(refuse_damaged(log, options.out));
  // What was not written is told where output ends.
  return flush_output() && std::ferror(stdout) == 0 ? file->finish() : base::Status();
}

// Bundles of leaves, below DIR/tile/entries: of those at hand. A log begins with a bundle.
base::Status write_entries(const ReadLog& log, const std::filesystem::path& out,
                           std::uint64_t size) {
  auto cursor = log->read(log->first());
  if (!cursor) return base::fail(cursor.error());
  std::string bundle;
  unsigned width = 0;
  for (std::uint64_t index = log->first().value() - 1; index < size; ++index) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) return refuse_damaged(log, "a folder of tiles");
    const std::string leaf = events::leaf_bytes((*event)->raw, log.log->secret());
    bundle += static_cast<char>(leaf.size() >> 8);
    bundle += static_cast<char>(leaf.size() & 0xff);
    bundle += leaf;
    if (++width < proof::kTileWidth && index + 1 < size) continue;
    KARST_TRY(write_tile_file(out / proof::bundle_path(index / proof::kTileWidth, width), bundle));
    bundle.clear();
    width = 0;
  }
  return {};
}

base::Status write_tiles(const LogTree& tree, const std::filesystem::path& out) {
  for (unsigned level = 0; level <= proof::kTileLevelMax; ++level) {
    proof::TileAt at{level, 0};
    for (; const unsigned width = proof::tile_width(at, tree.size); ++at.index) {
      auto hashes = tree.read(at, width);
      if (!hashes) return base::fail(hashes.error());
      KARST_TRY(write_tile_file(out / proof::tile_path(at, width), *hashes));
    }
  }
  return {};
}

std::string read_up_to(const std::filesystem::path& path, std::size_t bytes_max) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(bytes_max, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

tl::unexpected<base::Error> not_ours(const std::filesystem::path& out, const std::string& what) {
  return base::fail(base::Kind::kInvalid,
                    fmt::format("--out {}: {}; nothing was written. Expected an empty folder, or "
                                "one with older tiles of this log: give --out another one",
                                out.string(), what));
}

// Where no checkpoint says whose tiles they are, as an export leaves it that was cut short: the
// first leaf has the log's id in it.
base::Status check_first_leaf(const LogTree& tree, const std::filesystem::path& out) {
  auto leaf = tree.read({0, 0}, 1);
  if (!leaf) return base::fail(leaf.error());
  std::error_code ignored;
  const std::filesystem::path whole = out / proof::tile_path({0, 0}, proof::kTileWidth);
  std::vector<std::filesystem::path> found = {whole};
  for (const auto& entry : std::filesystem::directory_iterator(whole.string() + ".p", ignored))
    found.push_back(entry.path());
  for (const std::filesystem::path& tile : found)
    if (const std::string first = read_up_to(tile, proof::kHashSize);
        first.size() == proof::kHashSize && first != *leaf)
      return not_ours(out, "its tiles are those of another log");
  return {};
}

// Tiles of one log only, which only grow: a reader of the folder keeps what it saw.
base::Status check_out(const LogTree& tree, const std::string& origin,
                       const std::filesystem::path& out) {
  std::error_code ignored;
  if (!std::filesystem::exists(out / "checkpoint", ignored)) return check_first_leaf(tree, out);
  const auto head =
      proof::parse_checkpoint_bytes(read_up_to(out / "checkpoint", proof::kNoteBytesMax));
  if (!head) return not_ours(out, "its file 'checkpoint' is none: " + head.error().message);
  const proof::Checkpoint& there = head->checkpoint;
  if (there.origin != origin)
    return not_ours(out,
                    fmt::format("holds the tiles of {}, this log is {}", there.origin, origin));
  if (there.size > tree.size)
    return not_ours(out, fmt::format("holds a later tree of this log, of size {} beside {} here",
                                     there.size, tree.size));
  if (there.size == 0) return {};
  auto root = proof::tree_root(tree, there.size);
  if (!root) return base::fail(root.error());
  if (*root != there.root)
    return not_ours(out, fmt::format("holds a tree of size {} that is not the beginning of this "
                                     "log's, though of its id",
                                     there.size));
  return {};
}

base::Status export_tiles(const AuditExportOptions& options, const ReadLog& log) {
  if (options.out.empty())
    return base::fail(base::Kind::kInvalid,
                      "--format tiles: a folder of files; expected --out FOLDER");
  auto key = signer_of(options.signing_key, options.data, log->id());
  if (!key) return base::fail(key.error());
  auto made = tree_of(log, options.data);
  if (!made) return base::fail(made.error());
  KARST_TRY(refuse_damaged(log, "a folder of tiles"));
  const LogTree& tree = **made;
  const std::filesystem::path out = options.out;
  const std::string origin = proof::origin_of(log->id());
  KARST_TRY(check_out(tree, origin, out));
  KARST_TRY(write_tiles(tree, out));
  KARST_TRY(write_entries(log, out, tree.size));
  if (!*key) say_unsigned();
  // Last: whoever sees it finds all that it speaks of.
  if (tree.size > 0) KARST_TRY(sync_tile_files(out));
  const proof::Checkpoint head{origin, tree.size, tree.root};
  KARST_TRY(write_tile_file(out / "checkpoint", checkpoint_bytes(head, *key ? &**key : nullptr)));
  (void)base::sync_folder(out);  // not every file system can
  return {};
}

bool asks_for_part(const exports::FilterOptions& filter) {
  return !filter.from.empty() || !filter.to.empty() || !filter.subjects.empty() ||
         !filter.kinds.empty();
}

}  // namespace

int audit_export_jsonl(const AuditExportOptions& options) {
  if (!options.view.empty())
    return report({base::Kind::kInvalid,
                   "--format jsonl, which is what it is without --format: has no views; leave "
                   "--view away"});
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  record_access(options.data, access_text(options));
  say_trimmed(*log);
  auto status = options.out.empty() ? export_trail(options, *log) : export_to_file(options, *log);
  return finish(*log, status ? kExitDone : report(status.error()));
}

int audit_export_tiles(const AuditExportOptions& options) {
  if (!options.view.empty() || !options.redact.empty() || asks_for_part(options.filter))
    return report({base::Kind::kInvalid,
                   "--format tiles: holds the whole tree and no payloads; views, filters and "
                   "--redact are not for it"});
  auto log = open_for_reading(options.data);
  if (!log) return report(log.error());
  record_access(options.data, access_text(options));
  say_trimmed(*log);
  auto status = export_tiles(options, *log);
  return finish(*log, status ? kExitDone : report(status.error()));
}

}  // namespace karst::tools
