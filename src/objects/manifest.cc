#include "objects/manifest.h"

#include "objects/manifest_reader.h"
#include "objects/schema.h"

namespace karst::objects {
namespace {

// "line N: what" of the tree readers, as a refusal of the file.
std::string file_error(const std::string& file, const std::string& message) {
  constexpr std::string_view kLine = "line ";
  if (!message.starts_with(kLine)) return file + ": " + message;
  return file + ":" + message.substr(kLine.size());
}

base::Error joined(const std::vector<std::string>& lines, std::size_t count) {
  std::string text = lines.size() == 1 && count == 1 ? "" : std::to_string(count) + " errors:";
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n  ") + line;
  if (count > lines.size()) text += "\n  and " + std::to_string(count - lines.size()) + " more";
  return {base::Kind::kInvalid, std::move(text)};
}

}  // namespace

base::Result<Manifests> read_manifests(const std::vector<ManifestText>& texts) {
  Manifests manifests;
  ManifestReader reader(manifests);
  std::vector<std::string> lines;
  std::size_t count = 0;
  for (const ManifestText& text : texts) {
    auto documents = read_documents(text.text, kManifestBytesMax);
    if (!documents) {
      lines.push_back(file_error(text.file, documents.error().message));
      ++count;
      continue;
    }
    Review review(text.file);
    for (const TreeValue& document : *documents) reader.read(review, document);
    count += review.count();
    for (const Refusal& refusal : review.refusals())
      if (lines.size() < kRefusalsMax) lines.push_back(refusal.text());
  }
  if (count > 0) return base::fail(joined(lines, count));
  return manifests;
}

std::string located(const Manifests& manifests, const std::string& object, const std::string& field,
                    const std::string& what) {
  auto at = manifests.places.find(object + ": " + field);
  if (at == manifests.places.end()) at = manifests.places.find(object);
  return (at == manifests.places.end() ? "" : at->second + ": ") + object + ": " + field + ": " +
         what;
}

}  // namespace karst::objects
