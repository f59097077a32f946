#include "tools/solve_place.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/labels.h"

namespace karst::tools {
namespace {

namespace aws = providers::aws;

// Zones that something names, by region; a region that is named alone has none.
class Mentions {
 public:
  void label(std::string_view key, const std::string& value) {
    if (key == model::kRegionLabel) add(value);
    if (key == model::kZoneLabel)
      if (const std::string region(aws::region_of(value)); add(region))
        found_[region].insert(value);
  }
  void labels(const model::Labels& all) {
    for (const auto& [key, value] : all) label(key, value);
  }
  void specs(const std::vector<model::RequirementSpec>& all) {
    for (const model::RequirementSpec& spec : all)
      if (spec.op == model::Operator::kIn)
        for (const std::string& value : spec.values) label(spec.key, value);
  }
  void topology(const model::Topology& all) {
    for (const auto& term : all) specs(term);
  }
  const std::map<std::string, std::set<std::string>>& found() const { return found_; }

 private:
  bool add(const std::string& region) {
    const auto& known = aws::regions();
    if (std::find(known.begin(), known.end(), region) == known.end()) return false;
    found_[region];
    return true;
  }
  std::map<std::string, std::set<std::string>> found_;
};

Mentions mentions_of(const objects::Manifests& manifests) {
  Mentions mentions;
  for (const model::NodePool& pool : manifests.pools) {
    mentions.labels(pool.template_labels);
    mentions.specs(pool.requirements);
  }
  for (const objects::ManifestReservation& one : manifests.reservations)
    mentions.label(model::kZoneLabel, one.zone);
  for (const model::Node& node : manifests.nodes) mentions.labels(node.labels);
  for (const model::NodeClaim& claim : manifests.claims) {
    mentions.labels(claim.labels);
    mentions.specs(claim.requirements);
  }
  for (const model::PersistentVolume& volume : manifests.volumes)
    mentions.topology(volume.topology);
  for (const model::StorageClass& one : manifests.storage_classes) mentions.topology(one.topology);
  for (const objects::ManifestPods& pods : manifests.pods) {
    mentions.labels(pods.pod.shape.node_selector);
    for (const model::NodeSelectorTerm& term : pods.pod.shape.required_terms)
      mentions.specs(term.expressions);
  }
  return mentions;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

base::Result<aws::Place> place_of(const objects::Manifests& manifests,
                                  const std::vector<std::string>& zones,
                                  std::vector<std::string>& notes) {
  if (!zones.empty()) {
    auto place = aws::place_of(zones);
    if (!place) return base::fail(base::Kind::kInvalid, "--zones: " + place.error().message);
    return place;
  }
  const Mentions mentions = mentions_of(manifests);
  const auto& found = mentions.found();
  if (found.size() > 1)
    return base::fail(base::Kind::kInvalid, "the files name zones of " + found.begin()->first +
                                                " and of " + std::next(found.begin())->first +
                                                "; say with --zones where new machines may be");
  if (found.empty() || found.begin()->first == aws::kRegion) return aws::Place{};
  const auto& [region, named] = *found.begin();
  aws::Place place{region, {named.begin(), named.end()}};
  // A single name says nothing about the others.
  if (named.size() < 2)
    for (const char* letter : {"a", "b", "c"})
      if (!named.contains(region + letter)) place.zones.push_back(region + letter);
  std::sort(place.zones.begin(), place.zones.end());
  notes.push_back("the files are of " + region + ": its machines count as sold in " +
                  joined(place.zones) + "; --zones names others");
  return place;
}

}  // namespace karst::tools
