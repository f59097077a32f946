// Files, folders and stdin as texts of manifests.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "tools/solve_manifests.h"

namespace karst::tools {
namespace {

namespace fs = std::filesystem;

bool is_manifest(const fs::path& path) {
  const std::string ending = path.extension().string();
  return ending == ".yaml" || ending == ".yml" || ending == ".json";
}

base::Result<std::string> read_stream(std::FILE* in, const std::string& name) {
  std::string text;
  char buffer[65536];
  errno = 0;
  while (const std::size_t count = std::fread(buffer, 1, sizeof buffer, in)) {
    text.append(buffer, count);
    if (text.size() > objects::kManifestBytesMax)
      return base::fail(base::Kind::kInvalid, name + ": larger than 64 MiB; split it");
  }
  if (std::ferror(in) != 0)
    return base::fail(base::Kind::kInvalid, name + ": cannot be read: " + std::strerror(errno));
  return text;
}

base::Status read_file(const std::string& path, std::vector<objects::ManifestText>& texts) {
  if (texts.size() == kManifestFilesMax)
    return base::fail(base::Kind::kInvalid,
                      "more than " + std::to_string(kManifestFilesMax) + " files");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  if (!file) return base::fail(base::Kind::kInvalid, path + ": " + std::strerror(errno));
  auto text = read_stream(file.get(), path);
  if (!text) return base::fail(std::move(text.error()));
  texts.push_back({path, std::move(*text)});
  return {};
}

base::Status read_folder(const std::string& path, std::vector<objects::ManifestText>& texts) {
  std::error_code error;
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    if (at->is_regular_file(error) && is_manifest(at->path())) files.push_back(at->path().string());
    if (files.size() > kManifestFilesMax) break;
  }
  if (error) return base::fail(base::Kind::kInvalid, path + ": " + error.message());
  if (files.empty())
    return base::fail(base::Kind::kInvalid,
                      path + ": no *.yaml, *.yml or *.json file in this folder");
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) KARST_TRY(read_file(file, texts));
  return {};
}

}  // namespace

base::Result<std::vector<objects::ManifestText>> read_manifest_files(
    const std::vector<std::string>& paths) {
  std::vector<objects::ManifestText> texts;
  for (const std::string& path : paths) {
    std::error_code error;
    if (path == "-") {
      auto text = read_stream(stdin, "stdin");
      if (!text) return base::fail(std::move(text.error()));
      texts.push_back({"stdin", std::move(*text)});
    } else if (fs::is_directory(path, error)) {
      KARST_TRY(read_folder(path, texts));
    } else {
      KARST_TRY(read_file(path, texts));
    }
  }
  return texts;
}

}  // namespace karst::tools
