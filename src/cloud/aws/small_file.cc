#include "cloud/aws/small_file.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace karst::cloud::aws {

using base::Kind;

base::Result<std::string> read_small_file(const std::string& path, std::size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return base::fail(errno == ENOENT || errno == ENOTDIR ? Kind::kGone : Kind::kInvalid,
                      "cannot read " + path + ": " + std::strerror(errno));
  std::string bytes(bytes_max + 1, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (file.bad())
    return base::fail(Kind::kInvalid, "cannot read " + path + ": it is no ordinary file");
  if (bytes.size() > bytes_max)
    return base::fail(Kind::kInvalid, path + ": larger than " + std::to_string(bytes_max) +
                                          " bytes, which such a file never is");
  return bytes;
}

}  // namespace karst::cloud::aws
