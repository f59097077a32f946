#include "daemon/signing_key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor.h"
#include "base/ed25519.h"
#include "proof/checkpoint.h"

namespace karst::daemon {
namespace {

tl::unexpected<base::Error> wrong(base::Kind kind, const std::string& file,
                                  const std::string& what) {
  return base::fail(kind, "the signing key " + file + ": " + what);
}

tl::unexpected<base::Error> cannot_open(const std::string& file, int reason) {
  const std::string why = std::strerror(reason);
  if (reason == ENOENT)
    return wrong(base::Kind::kGone, file, why + "; 'karst audit keygen' makes a key");
  return wrong(base::Kind::kDenied, file, why + "; whoever runs karst must be able to read it");
}

}  // namespace

std::string own_key_file(const std::string& data) {
  return data + "/signing-key";
}

base::Result<proof::SignerKey> read_signing_key(const std::string& file, const model::LogId& log) {
  const base::Descriptor in(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) return cannot_open(file, errno);
  struct stat about{};
  if (fstat(in.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return wrong(base::Kind::kInvalid, file,
                 S_ISDIR(about.st_mode) ? "is a folder; expected the file in it that holds the key"
                                        : "is no regular file; expected one that holds the key");
  if (about.st_size > static_cast<off_t>(kKeyFileBytesMax))
    return wrong(base::Kind::kInvalid, file,
                 "it has " + std::to_string(about.st_size) + " bytes, a key has at most " +
                     std::to_string(kKeyFileBytesMax) +
                     "; expected what 'karst audit keygen' made");
  if ((about.st_mode & S_IRWXO) != 0)
    return wrong(base::Kind::kDenied, file,
                 "everybody on this machine can read it; chmod 600 it (in Kubernetes: "
                 "defaultMode: 0400 of the secret's volume), and think of a new key");
  std::string bytes(kKeyFileBytesMax, '\0');
  const ssize_t count = read(in.get(), bytes.data(), bytes.size());
  if (count < 0) return wrong(base::Kind::kDenied, file, std::strerror(errno));
  bytes.resize(static_cast<std::size_t>(count));
  auto key = proof::parse_key_file(bytes, proof::origin_of(log));
  if (!key) return wrong(base::Kind::kInvalid, file, key.error().message);
  return key;
}

base::Result<proof::SignerKey> make_signing_key(const std::string& file, const std::string& name) {
  const base::Descriptor out(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (out.get() < 0)
    return errno == EEXIST ? wrong(base::Kind::kTaken, file,
                                   "it exists, and a key is never written over; name another file")
                           : wrong(base::Kind::kDenied, file, std::strerror(errno));
  proof::SignerKey key{name, base::new_ed25519_seed()};
  const std::string text = key.text() + "\n";
  if (write(out.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      fsync(out.get()) != 0) {
    const std::string why = std::strerror(errno);
    unlink(file.c_str());
    return wrong(base::Kind::kFull, file, why);
  }
  return key;
}

}  // namespace karst::daemon
