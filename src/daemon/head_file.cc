#include "daemon/head_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/sync_folder.h"
#include "base/system_error.h"

namespace karst::daemon {
namespace {

constexpr std::size_t kHeadBytesMax = 64 << 10;

tl::unexpected<base::Error> not_continued(const std::string& data, const proof::Checkpoint& kept,
                                          const std::string& found) {
  return base::fail(base::Kind::kInvalid,
                    head_file(data) + ": a head of this log was signed at size " +
                        std::to_string(kept.size) + ", and " + found +
                        ", so no other head is signed: expected a log that only grew since. Put "
                        "back the log that was signed; or, when this one is to go on, tell those "
                        "who keep its heads, and move the file away, for it shows that there were "
                        "two");
}

tl::unexpected<base::Error> damaged(const std::string& data, const std::string& what) {
  return base::fail(base::Kind::kInvalid,
                    head_file(data) + " is damaged, or was put there: " + what +
                        ". So no other head is signed: expected the head that was signed last. Put "
                        "it back from where heads are kept; or hold the log against one of those "
                        "('karst audit verify --since'), and move the file away");
}

tl::unexpected<base::Error> failed(const std::string& path) {
  const int code = errno;
  return base::fail(base::kind_of_errno(code, base::Kind::kInvalid),
                    path + ": " + std::strerror(code));
}

base::Status replace(const std::string& path, const std::string& bytes) {
  const std::string aside = path + ".new";
  const int file = open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return failed(aside);
  const bool whole =
      write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
      fsync(file) == 0;
  base::Status status = whole ? base::Status() : failed(aside);
  close(file);
  if (status && rename(aside.c_str(), path.c_str()) != 0) status = failed(path);
  if (!status) unlink(aside.c_str());
  // Not every file system can; what was renamed is whole.
  if (status) (void)base::sync_folder(std::filesystem::path(path).parent_path());
  return status;
}

}  // namespace

std::string head_file(const std::string& data) {
  return data + "/checkpoint";
}

base::Result<std::optional<proof::SignedCheckpoint>> kept_head(const std::string& data,
                                                               const model::LogId& log) {
  const std::string path = head_file(data);
  std::error_code error;
  const std::filesystem::file_status file = std::filesystem::status(path, error);
  if (file.type() == std::filesystem::file_type::not_found)
    return std::optional<proof::SignedCheckpoint>();
  if (!std::filesystem::is_regular_file(file) && std::filesystem::exists(file))
    return damaged(data, "it is no regular file");
  std::ifstream in(path, std::ios::binary);
  std::string bytes(kHeadBytesMax, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  if (!in.is_open()) return base::fail(base::Kind::kDenied, path + ": cannot be read");
  auto head = proof::parse_checkpoint_bytes(bytes);
  if (!head) return damaged(data, "it is no signed head: " + head.error().message);
  const std::string& origin = head->checkpoint.origin;
  if (origin != proof::origin_of(log))
    return damaged(data,
                   "it is the head of " + origin + ", and this log is " + proof::origin_of(log));
  return std::optional(std::move(*head));
}

base::Status check_signed(const proof::SignedCheckpoint& head,
                          std::span<const proof::VerifierKey> keys, const std::string& data) {
  if (head.note.signatures.empty()) return damaged(data, "it is not signed");
  for (const proof::VerifierKey& key : keys)
    if (signed_by(head.note, key) == proof::Signed::kBroken)
      return damaged(data, "the signature of " + key.name + " is not one of this text");
  return {};
}

base::Status continues(const TreeNow& tree, const proof::Checkpoint& kept,
                       const std::string& data) {
  if (kept.size > tree.size) {
    if (!tree.whole) return {};  // not known yet
    return not_continued(data, kept,
                         "the log ends at position " + std::to_string(tree.size) + " now");
  }
  const auto root = proof::tree_root(tree.tiles, kept.size);
  if (!root) return base::fail(root.error());
  if (*root == kept.root) return {};
  return not_continued(
      data, kept,
      "the log's first " + std::to_string(kept.size) + " events are other ones than those");
}

HeadFile::HeadFile(const std::string& data, const model::LogId& log, proof::SignerKey key)
    : data_(data), log_(log), key_(std::move(key)) {}

base::Status HeadFile::read() {
  auto head = kept_head(data_, log_);
  if (!head) return base::fail(head.error());
  if (*head) {
    const proof::VerifierKey ours = key_.verifier();
    KARST_TRY(check_signed(**head, {&ours, 1}, data_));
    kept_ = std::move((*head)->checkpoint);
  }
  read_ = true;
  return {};
}

base::Status HeadFile::see(const TreeNow& tree, std::int64_t monotonic_millis, bool now) {
  const bool due = now || !tried_millis_ || monotonic_millis - *tried_millis_ >= kHeadEveryMillis;
  if (!read_ && due) last_ = read();
  if (!read_) {
    if (due) tried_millis_ = monotonic_millis;
    return last_;
  }
  const bool grown = !kept_ || tree.size > kept_->size;
  if (!grown && continued_) return {};
  if (!due) return last_;
  last_ = sign(tree);
  if (grown || !last_) tried_millis_ = monotonic_millis;
  return last_;
}

base::Status HeadFile::sign(const TreeNow& tree) {
  if (kept_) {
    KARST_TRY(continues(tree, *kept_, data_));
    continued_ = tree.size >= kept_->size;
    if (tree.size <= kept_->size) return {};
  }
  const auto root = proof::tree_root(tree.tiles, tree.size);
  if (!root) return base::fail(root.error());
  proof::Checkpoint head{proof::origin_of(log_), tree.size, *root};
  KARST_TRY(replace(head_file(data_), checkpoint_bytes(head, &key_)));
  kept_ = std::move(head);
  continued_ = true;
  return {};
}

}  // namespace karst::daemon
