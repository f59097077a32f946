// Volumes of a scheduling case: claims, volumes and storage classes of the document, resolved to
// what the solver needs. Owner: one reader.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "objects/json.h"
#include "scheduling/problem.h"

namespace karst::tools {

class VolumeReader {
 public:
  // The document's `volumes`.
  void read(const objects::Object& volumes);
  // Every pod to be placed, before any is resolved: which claims are shared.
  void note(const objects::Object& pod);
  void note_mounted(const std::string& claim) { ++users_[claim]; }
  // Claims that do not exist are left out.
  std::vector<scheduling::Volume> of(const objects::Object& pod) const;
  // CSI drivers of the document.
  const std::set<std::string>& drivers() const { return drivers_; }

 private:
  using Topology = std::vector<std::vector<model::RequirementSpec>>;
  struct Source {
    std::string driver;
    Topology topology;
  };
  struct Claim {
    std::string volume;
    std::string storage_class;
  };
  void read_volume(const objects::Object& volume);
  void read_storage_class(const objects::Object& storage_class);
  static std::vector<std::string> claims_of(const objects::Object& pod);

  std::map<std::string, Claim> claims_;  // by "namespace/name"
  std::map<std::string, Source> volumes_;
  std::map<std::string, Source> storage_classes_;
  std::set<std::string> drivers_;
  std::map<std::string, int> users_;  // pods and nodes by claim
};

}  // namespace karst::tools
