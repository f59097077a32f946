// `audit verify`: a trail, a proof, a checkpoint or a folder of tiles, without the log and without
// a network. Says what is proven and what is not.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/base64.h"
#include "base/one_line.h"
#include "base/system_error.h"
#include "base/time.h"
#include "daemon/words.h"
#include "proof/consistency.h"
#include "proof/tile_check.h"
#include "proof/trail_check.h"
#include "tools/talk.h"

namespace karst::tools {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;
constexpr std::size_t kSmallFileMax =
    17 << 20;  // whole in memory: all but trails; the largest is a bundle

// Errors: kGone, kInvalid when it is no file or too large, kDenied when it cannot be read.
base::Result<std::string> read_small(const std::filesystem::path& path) {
  std::error_code error;
  const auto there = std::filesystem::status(path, error);
  if (there.type() == std::filesystem::file_type::not_found)
    return base::fail(base::Kind::kGone, path.string() + " is not there");
  if (error)
    return base::fail(base::kind_of_errno(error.value(), base::Kind::kDenied),
                      path.string() + ": " + error.message());
  if (!std::filesystem::is_regular_file(there))
    return base::fail(base::Kind::kInvalid, path.string() + " is no regular file");
  std::ifstream in(path, std::ios::binary);
  std::string bytes;
  // By read(), which tells: a buffer's iterator throws.
  while (in && bytes.size() <= kSmallFileMax) {
    const std::size_t have = bytes.size();
    bytes.resize(have + kPieceBytes);
    in.read(bytes.data() + have, static_cast<std::streamsize>(kPieceBytes));
    bytes.resize(have + static_cast<std::size_t>(in.gcount()));
  }
  if (!in.is_open() || in.bad())
    return base::fail(base::Kind::kDenied, path.string() +
                                               " cannot be read; see its permissions, or the "
                                               "kernel's log of that disk");
  if (bytes.size() > kSmallFileMax)
    return base::fail(base::Kind::kInvalid, path.string() + " is too large for what it should be");
  return bytes;
}

// --key: the text, or a file that holds it.
base::Result<std::optional<proof::VerifierKey>> key_of(const std::optional<std::string>& option) {
  if (!option) return std::optional<proof::VerifierKey>();
  const std::string& given = *option;
  if (given.empty())
    return base::fail(base::Kind::kInvalid,
                      "--key: is empty; expected NAME+ID+BASE64, or a file with it");
  std::string text = given, place = "--key";
  std::error_code ignored;
  const std::filesystem::file_status file = std::filesystem::status(given, ignored);
  if (std::filesystem::exists(file)) {
    place += " " + given;
    if (!std::filesystem::is_regular_file(file))
      return base::fail(base::Kind::kInvalid,
                        place + ": is no regular file; expected one that holds NAME+ID+BASE64");
    auto bytes = read_small(given);
    if (!bytes) return base::fail(bytes.error().with_context("--key"));
    text = *bytes;
  } else if (given.find('+') == given.npos) {
    return base::fail(base::Kind::kInvalid,
                      "--key " + given +
                          ": there is no such file, and it is no key; expected NAME+ID+BASE64, or "
                          "a file with it");
  }
  while (text.ends_with('\n') || text.ends_with('\r') || text.ends_with(' ') ||
         text.ends_with('\t'))
    text.pop_back();
  auto key = proof::parse_verifier_key(text);
  if (!key) return base::fail(key.error().with_context(place));
  return std::optional(std::move(*key));
}

// What the person who asks brings along.
struct Trusted {
  std::optional<proof::VerifierKey> key;
  std::optional<proof::SignedCheckpoint> since;
  bool since_is_signed = false;  // with the key; else it counts because somebody kept it
};

// Errors: kCorrupt: there is a signature of the key, of another text.
base::Result<bool> has_signature(const proof::SignedCheckpoint& head, const Trusted& trusted,
                                 const char* which) {
  const proof::Signed found = signed_by(head.note, *trusted.key);
  if (found == proof::Signed::kBroken)
    return base::fail(
        base::Kind::kCorrupt,
        fmt::format("{}: the signature of {} is not one of this text", which, trusted.key->name));
  return found == proof::Signed::kHolds;
}

base::Status check_signature(const proof::SignedCheckpoint& head, const Trusted& trusted,
                             const char* which) {
  if (!trusted.key) return {};
  const auto found = has_signature(head, trusted, which);
  if (!found) return base::fail(found.error());
  if (*found) return {};
  return base::fail(base::Kind::kCorrupt, fmt::format("{}: it is not signed with the given key {}",
                                                      which, trusted.key->text()));
}

base::Result<Trusted> trusted_of(const AuditVerifyOptions& options) {
  Trusted trusted;
  auto key = key_of(options.key);
  if (!key) return base::fail(key.error());
  trusted.key = std::move(*key);
  if (options.since.empty()) return trusted;
  auto bytes = read_small(options.since);
  if (!bytes)
    return base::fail(
        bytes.error().with_context("--since, which takes a checkpoint that was kept"));
  auto since = proof::parse_checkpoint_bytes(*bytes);
  if (!since) return base::fail(since.error().with_context("--since " + options.since));
  trusted.since = std::move(*since);
  if (!trusted.key) return trusted;
  const auto found = has_signature(*trusted.since, trusted, "the checkpoint of --since");
  if (!found) return base::fail(found.error());
  trusted.since_is_signed = *found;
  return trusted;
}

void proven(const std::string& what) {
  say("proven      " + what);
}
void not_proven(const std::string& what) {
  say("not proven  " + what);
}

void tell_head(const proof::Checkpoint& head) {
  say(fmt::format("checkpoint  {} size {} root {}", head.origin, head.size,
                  base::encode_base64(proof::as_text(head.root))));
}

// The last lines: who signed, and the sum of it.
void tell_signer(const proof::SignedCheckpoint& head, const Trusted& trusted,
                 const std::string& own_key) {
  if (trusted.key) {
    proven(fmt::format("signed with the key that was given, {}", trusted.key->text()));
    say("proven");
    return;
  }
  if (!own_key.empty())
    not_proven("who signed: the key is what this says of itself, " + own_key +
               "; get it from whom you trust, and give it with --key");
  else if (!head.note.signatures.empty())
    not_proven("who signed: give the key with --key");
  else
    not_proven("who wrote it: it is not signed");
  say("consistent, signer unknown");
}

// That the tree of --since is the beginning of this one.
base::Status check_since(const Trusted& trusted, const proof::Checkpoint& head,
                         const std::optional<proof::Hash>& root) {
  if (!trusted.since) return {};
  const proof::Checkpoint& old = trusted.since->checkpoint;
  if (old.origin != head.origin)
    return base::fail(base::Kind::kCorrupt,
                      "the checkpoint of --since is of another log, " + old.origin);
  if (old.size > head.size)
    return base::fail(base::Kind::kInvalid,
                      fmt::format("--since: the checkpoint that you kept is of a larger tree, {} "
                                  "beside {} here: this was made before it, or the log was cut; "
                                  "get a newer one of the same log",
                                  old.size, head.size));
  const std::optional<proof::Hash> then = old.size == head.size ? head.root : root;
  if (!then)
    return base::fail(base::Kind::kInvalid,
                      fmt::format("--since: nothing here leads from the tree of size {} to that of "
                                  "size {}; expected a whole trail, tiles, or what 'audit prove "
                                  "--from {}' writes",
                                  old.size, head.size, old.size));
  if (*then != old.root)
    return base::fail(base::Kind::kCorrupt,
                      fmt::format("the tree of size {} had another root in the checkpoint of "
                                  "--since: the past was rewritten",
                                  old.size));
  proven(fmt::format("since the checkpoint of size {} the log only grew", old.size));
  if (trusted.key && !trusted.since_is_signed)
    not_proven("who signed the checkpoint of --since: not the given key; it counts as you kept it");
  return {};
}

// `begin`: what was read of it already.
base::Status verify_trail(const std::string& file, std::ifstream& in, const std::string& begin,
                          const Trusted& trusted) {
  const std::uint64_t since = trusted.since ? trusted.since->checkpoint.size : 0;
  std::error_code ignored;
  Progress progress("verifying", std::filesystem::file_size(file, ignored), Meanwhile::kSilence);
  proof::TrailCheck check(since);
  std::string piece(kPieceBytes, '\0');
  KARST_TRY(check.feed(begin));
  for (std::uint64_t done = begin.size(); in;) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto count = static_cast<std::size_t>(in.gcount());
    KARST_TRY(check.feed(std::string_view(piece).substr(0, count)));
    progress.at(done += count);
    if (in.bad())
      return base::fail(
          base::Kind::kDenied,
          fmt::format("{} cannot be read on after {} bytes, which says nothing of the trail: "
                      "see the kernel's log of that disk, or try another copy",
                      file, done));
  }
  auto found = check.finish();
  if (!found) return base::fail(found.error());
  const proof::TrailHeader& header = found->header;
  const proof::Checkpoint& head = found->checkpoint.checkpoint;
  KARST_TRY(check_signature(found->checkpoint, trusted, "the checkpoint"));
  tell_head(head);
  const bool to_the_end = found->events > 0 && !found->gaps && found->last == head.size;
  if (header.complete)
    proven(fmt::format("all {} events of the log up to there, none missing, none added, in order",
                       found->events));
  else if (to_the_end)
    proven(
        fmt::format("all {} events from position {} on, up to there, none missing, none added, "
                    "in order",
                    found->events, found->first));
  else
    proven(fmt::format("{} events are in the log, at the positions that they say", found->events));
  if (found->events > 0)
    proven(fmt::format("their times, {} to {}, types, streams and causes",
                       base::format_rfc3339(found->first_millis),
                       base::format_rfc3339(found->last_millis)));
  proven(fmt::format("the readable form of {} payloads is that of their bytes",
                     found->events - found->withheld));
  KARST_TRY(check_since(trusted, head, found->since_root));
  if (!header.complete && to_the_end && found->first == 1)
    say("the writer says   asked for was: " + header.filter + "; that is all of the log");
  else if (!header.complete && to_the_end)
    not_proven(fmt::format("what the positions 1 to {} hold: {}", found->first - 1,
                           header.filter.empty() ? "its writer says that the log was trimmed there"
                                                 : "asked for was: " + header.filter));
  else if (!header.complete)
    not_proven("that nothing is left out; asked for was: " + header.filter);
  if (found->withheld > 0)
    not_proven(fmt::format("{} payloads, which are withheld ({}); their commitments are proven",
                           found->withheld, header.redacted));
  if (found->logged_at != 0 && !proof::parse_verifier_key(found->logged_key))
    not_proven(fmt::format("which key the log names: position {} holds none", found->logged_at));
  else if (found->logged_at != 0)
    say(fmt::format("the log says   since position {} its key is {}{}", found->logged_at,
                    found->logged_key,
                    header.complete || to_the_end ? "" : ", as far as this part tells"));
  if (found->logged_at != 0 && trusted.key && found->logged_key != trusted.key->text())
    not_proven(fmt::format("that the given key still counts: position {} names another one",
                           found->logged_at));
  tell_signer(found->checkpoint, trusted, header.key);
  return {};
}

base::Status verify_growth(const std::string& bytes, const Trusted& trusted) {
  auto found = proof::check_consistency(bytes);
  if (!found) return base::fail(found.error());
  const proof::ConsistencyProof& growth = found->proof;
  KARST_TRY(check_signature(found->checkpoint, trusted, "the checkpoint"));
  tell_head(found->checkpoint.checkpoint);
  proven(fmt::format("the tree of size {} with root {} is its beginning", growth.old_size,
                     base::encode_base64(proof::as_text(growth.old_root))));
  if (trusted.since)
    KARST_TRY(check_since(trusted, found->checkpoint.checkpoint,
                          trusted.since->checkpoint.size == growth.old_size
                              ? std::optional(growth.old_root)
                              : std::nullopt));
  else
    not_proven(
        "that this was ever the log's root: compare it with the checkpoint that you kept "
        "(--since FILE)");
  tell_signer(found->checkpoint, trusted, growth.key);
  return {};
}

base::Status verify_checkpoint(const std::string& bytes, const Trusted& trusted) {
  auto head = proof::parse_checkpoint_bytes(bytes);
  if (!head)
    return base::fail(base::Kind::kInvalid,
                      "this is no trail, no proof, and no checkpoint: " + head.error().message);
  KARST_TRY(check_signature(*head, trusted, "the checkpoint"));
  tell_head(head->checkpoint);
  KARST_TRY(check_since(trusted, head->checkpoint, std::nullopt));
  not_proven("any event: this is the head of a tree, and nothing of the tree");
  tell_signer(*head, trusted, "");
  return {};
}

// Files of the folder that are none of these: tiles of a smaller tree, say.
std::size_t files_beside(const std::filesystem::path& folder, const std::set<std::string>& these) {
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error)) {
    std::error_code ignored;
    if (!it->is_directory(ignored))
      count += these.contains(it->path().lexically_relative(folder).string()) ? 0 : 1;
  }
  return count;
}

base::Status verify_folder(const std::string& folder, const Trusted& trusted) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::path(folder) / "CURRENT", error))
    return base::fail(base::Kind::kInvalid,
                      "this is a log's data folder; expected what 'audit export' wrote of it, or "
                      "its file 'checkpoint'");
  std::set<std::string> looked_at;
  const auto read = [&](const std::string& path) {
    looked_at.insert(path);
    return read_small(std::filesystem::path(folder) / path);
  };
  auto found = proof::check_tiles(read, trusted.since ? trusted.since->checkpoint.size : 0);
  if (!found) return base::fail(found.error());
  const proof::Checkpoint& head = found->checkpoint.checkpoint;
  KARST_TRY(check_signature(found->checkpoint, trusted, "the checkpoint"));
  tell_head(head);
  proven(fmt::format("{} leaves in {} bundles, and {} tiles: all of the tree, none missing",
                     head.size - found->hashes_alone, found->bundles, found->tiles));
  KARST_TRY(check_since(trusted, head, found->since_root));
  if (found->hashes_alone > 0)
    not_proven(
        fmt::format("what the positions 1 to {} hold: their leaves are here as hashes alone, "
                    "as of a log that was trimmed there",
                    found->hashes_alone));
  if (const std::size_t others = files_beside(folder, looked_at); others > 0)
    not_proven(
        fmt::format("what {} beside them {}: the tree does not need them, and they were "
                    "not read",
                    daemon::counted(others, "file"), others == 1 ? "holds" : "hold"));
  not_proven("any payload: leaves hold commitments to them; a trail holds the payloads");
  tell_signer(found->checkpoint, trusted, "");
  return {};
}

base::Status verify(const AuditVerifyOptions& options) {
  auto trusted = trusted_of(options);
  if (!trusted) return base::fail(trusted.error());
  std::error_code error;
  if (std::filesystem::is_directory(options.file, error))
    return verify_folder(options.file, *trusted);
  std::ifstream in(options.file, std::ios::binary);
  if (!in.is_open())
    return base::fail(base::Kind::kInvalid, options.file +
                                                " cannot be read: expected what 'audit "
                                                "export', 'prove' or 'checkpoint' wrote");
  std::string begin(16, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  if (begin.starts_with("{\"trail\":")) return verify_trail(options.file, in, begin, *trusted);
  std::string bytes = begin;
  for (char next = 0; bytes.size() <= kSmallFileMax && in.get(next);) bytes += next;
  if (in.bad())
    return base::fail(base::Kind::kDenied, options.file +
                                               " cannot be read, which says nothing of the log: "
                                               "see the kernel's log of that disk");
  if (bytes.size() > kSmallFileMax)
    return base::fail(base::Kind::kInvalid, options.file + " is too large for what it should be");
  if (begin.starts_with("{\"consistency\"")) return verify_growth(bytes, *trusted);
  return verify_checkpoint(bytes, *trusted);
}

}  // namespace

int audit_verify(const AuditVerifyOptions& options) {
  const base::Status status = verify(options);
  if (status) return kExitDone;
  const std::string& why = status.error().message;
  // Also where it is all that is read, and lines of what holds came before it.
  say("not proven: " + why);
  const bool says_where = why.starts_with(options.file) || why.starts_with("--");
  base::Error shown = says_where ? status.error() : status.error().with_context(options.file);
  shown.message = base::one_line(shown.message);  // a trail must not say a line of its own
  report(shown);
  return status.error().kind == base::Kind::kCorrupt ? kExitNo : kExitBadInput;
}

}  // namespace karst::tools
