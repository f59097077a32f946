#include "scheduling/node_packer.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace karst::scheduling {
namespace {

// What decides whether a pod may go to a node, apart from room: many nodes share it.
struct Profile {
  model::Labels labels;  // projected on the keys that some group asks about
  std::vector<model::Taint> taints;
  friend auto operator<=>(const Profile&, const Profile&) = default;
};

bool may_run(const GroupRow& group, const Profile& profile, const RequirementTable& requirements) {
  if (model::first_untolerated(profile.taints, group.source->shape.tolerations) != nullptr)
    return false;
  const auto own = model::Requirements::from_labels(profile.labels);
  for (const RequirementId wanted : group.alternatives)
    if (own.incompatible(requirements.at(wanted), {}).empty()) return true;
  return false;
}

std::vector<Profile> profiles_of(const Problem& problem, const RequirementTable& requirements,
                                 const std::vector<GroupRow>& groups,
                                 std::vector<std::size_t>& of_node) {
  std::set<std::string, std::less<>> keys;
  for (const GroupRow& group : groups)
    for (const RequirementId wanted : group.alternatives)
      for (const auto& [key, set] : requirements.at(wanted).all()) keys.insert(key);
  std::map<Profile, std::size_t> ids;
  std::vector<Profile> profiles;
  for (const Node& node : problem.nodes) {
    Profile profile;
    for (const auto& label : node.labels)
      if (keys.contains(label.first)) profile.labels.push_back(label);
    profile.taints = node.taints;
    const auto [at, is_new] = ids.try_emplace(profile, profiles.size());
    if (is_new) profiles.push_back(std::move(profile));
    of_node.push_back(at->second);
  }
  return profiles;
}

std::vector<std::size_t> node_order(const std::vector<Node>& nodes) {
  std::vector<std::size_t> order(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::make_tuple(!nodes[a].initialized, std::string_view(nodes[a].name), a) <
           std::make_tuple(!nodes[b].initialized, std::string_view(nodes[b].name), b);
  });
  return order;
}

}  // namespace

std::vector<NodePlacement> place_on_nodes(const Problem& problem, const Columns& columns,
                                          const RequirementTable& requirements,
                                          const std::vector<GroupRow>& groups,
                                          const std::vector<std::size_t>& order,
                                          std::vector<std::int64_t>& left) {
  std::vector<std::size_t> profile_of;
  const auto profiles = profiles_of(problem, requirements, groups, profile_of);
  const auto nodes = node_order(problem.nodes);
  std::vector<Row> room;
  for (const Node& node : problem.nodes) room.push_back(columns.row(node.available));

  std::map<std::size_t, NodePlacement> placed;
  for (const std::size_t at : order) {
    const GroupRow& group = groups[at];
    if (!group.unsupported.empty() || group.new_nodes_only) continue;
    std::vector<std::int8_t> verdicts(profiles.size(), -1);
    for (const std::size_t node : nodes) {
      const std::int64_t count = fit_count(room[node], group.request, left[at]);
      if (count == 0) continue;
      std::int8_t& verdict = verdicts[profile_of[node]];
      if (verdict < 0) verdict = may_run(group, profiles[profile_of[node]], requirements) ? 1 : 0;
      if (verdict == 0) continue;
      add_times(room[node], group.request, -count);
      left[at] -= count;
      NodePlacement& placement = placed[node];
      placement.node = node;
      placement.pods.push_back({group.group, count});
      if (left[at] == 0) break;
    }
  }
  std::vector<NodePlacement> placements;
  for (auto& [node, placement] : placed) placements.push_back(std::move(placement));
  return placements;
}

}  // namespace karst::scheduling
