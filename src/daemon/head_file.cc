#include "daemon/head_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace karst::daemon {
namespace {

constexpr std::size_t kHeadBytesMax = 64 << 10;

// The size of the tree in a file that is there; 0: none that could be kept to.
std::uint64_t size_in(const std::string& path, const std::string& origin) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes(kHeadBytesMax, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  const auto head = proof::parse_checkpoint_bytes(bytes);
  return head && head->checkpoint.origin == origin ? head->checkpoint.size : 0;
}

tl::unexpected<base::Error> failed(const std::string& path) {
  const base::Kind kind = errno == ENOSPC || errno == EDQUOT ? base::Kind::kFull
                          : errno == EACCES || errno == EPERM || errno == EROFS
                              ? base::Kind::kDenied
                              : base::Kind::kInvalid;
  return base::fail(kind, path + ": " + std::strerror(errno));
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
  return status;
}

}  // namespace

std::string head_file(const std::string& data) {
  return data + "/checkpoint";
}

HeadFile::HeadFile(const std::string& data, const model::LogId& log, proof::SignerKey key)
    : path_(head_file(data)),
      origin_(proof::origin_of(log)),
      key_(std::move(key)),
      written_(size_in(path_, origin_)) {}

base::Status HeadFile::see(std::uint64_t size, const proof::Hash& root,
                           std::int64_t monotonic_millis, bool now) {
  const bool due = now || !tried_millis_ || monotonic_millis - *tried_millis_ >= kHeadEveryMillis;
  if (size <= written_ || !due) return {};
  tried_millis_ = monotonic_millis;
  KARST_TRY(replace(path_, checkpoint_bytes({origin_, size, root}, &key_)));
  written_ = size;
  return {};
}

}  // namespace karst::daemon
