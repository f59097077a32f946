// One document after another into Manifests (manifest.h): the kind is looked up, the object is held
// against the schema, then reduced. Owner: the reading thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "objects/manifest.h"
#include "objects/manifest_kinds.h"
#include "objects/schema.h"

namespace karst::objects {

class ManifestReader {
 public:
  explicit ManifestReader(Manifests& out) : out_(out) {}
  // A document, or a list of objects. What is wrong goes to `review`; a wrong object adds nothing.
  void read(Review& review, const TreeValue& document);

 private:
  void read_lists(Review& review, const TreeValue& object, std::size_t depth);
  void read_object(Review& review, const TreeValue& object);
  bool check_name(Review& review, const TreeValue& object, const KindInfo& info);
  void add(Review& review, const TreeValue& object, const KindInfo& info, const std::string& kind);
  void add_reduced(Review& review, const TreeValue& object, simdjson::dom::element element,
                   const KindInfo& info, const std::string& kind);
  void add_pods(Review& review, const TreeValue& object, const std::string& kind,
                std::int64_t count);
  void add_priority_class(const TreeValue& object);
  void note_places(const Review& review, const TreeValue& object, const std::string& kind);

  Manifests& out_;
  Parser parser_;
  std::size_t objects_ = 0;
  std::int64_t pods_ = 0;
  std::map<std::string, std::string> seen_;  // kind, namespace and name → file and line
};

}  // namespace karst::objects
