#include "scheduling/node_table.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "model/labels.h"

namespace karst::scheduling {
namespace {

using Keys = std::set<std::string, std::less<>>;

void note(const std::vector<model::RequirementSpec>& specs, const Options& options, Keys& keys) {
  for (const model::RequirementSpec& spec : specs) {
    keys.insert(spec.key);
    const auto alias = options.label_aliases.find(spec.key);
    if (alias != options.label_aliases.end()) keys.insert(alias->second);
  }
}

void note(const model::PodShape& shape, const Options& options, Keys& keys) {
  for (const auto& [key, value] : shape.node_selector)
    note({{key, model::Operator::kIn, {value}, 0}}, options, keys);
  for (const model::NodeSelectorTerm& term : shape.required_terms)
    note(term.expressions, options, keys);
  for (const model::PreferredTerm& term : shape.preferred_terms)
    note(term.term.expressions, options, keys);
}

// Every label key that some demand of the problem names.
Keys keys_asked_for(const Problem& problem) {
  Keys keys;
  for (const PodGroup& group : problem.pods) {
    note(group.shape, problem.options, keys);
    for (const Volume& volume : group.volumes)
      for (const auto& way : volume.topology) note(way, problem.options, keys);
  }
  for (const Daemon& daemon : problem.daemons) note(daemon.shape, problem.options, keys);
  return keys;
}

}  // namespace

NodeTable::NodeTable(const Problem& problem, const Columns& columns, RequirementTable& requirements)
    : problem_(problem), requirements_(requirements) {
  const Keys keys = keys_asked_for(problem);
  std::map<model::Labels, std::size_t> ids;
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) {
    const Node& node = problem.nodes[i];
    model::Labels asked;
    for (const auto& label : node.labels)
      if (keys.contains(label.first)) asked.push_back(label);
    // What comes up gets these labels; whoever asks for them waits until then.
    for (const std::string_view coming : {model::kRegisteredLabel, model::kInitializedLabel})
      if (!node.initialized && keys.contains(coming)) model::set_label(asked, coming, "true");
    if (!node.host_name.empty() && keys.contains(model::kHostnameLabel))
      model::set_label(asked, model::kHostnameLabel, node.host_name);
    const auto [at, is_new] = ids.try_emplace(asked, profiles_.size());
    if (is_new) profiles_.push_back(model::Requirements::from_labels(asked));
    profile_of_.push_back(at->second);
    if (node.takes_pods) order_.push_back(i);
  }
  met_.resize(profiles_.size());
  Ways ways;
  for (const Daemon& daemon : problem.daemons)
    ways.push_back(requirements.alternatives_of(daemon.shape));
  for (std::size_t i = 0; i < problem.nodes.size(); ++i) room_.push_back(room_of(i, columns, ways));
  std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    const Node& x = problem.nodes[a];
    const Node& y = problem.nodes[b];
    return std::make_tuple(!x.initialized, std::string_view(x.name), a) <
           std::make_tuple(!y.initialized, std::string_view(y.name), b);
  });
  place_.assign(problem.nodes.size(), 0);
  for (std::size_t at = 0; at < order_.size(); ++at) {
    place_[order_[at]] = at;
    const Row& room = room_[order_[at]];
    room_in_order_.insert(room_in_order_.end(), room.begin(), room.end());
  }
}

void NodeTable::leave(std::size_t node) {
  const std::size_t at = place_[node];
  order_.erase(order_.begin() + static_cast<std::ptrdiff_t>(at));
  for (std::size_t later = at; later < order_.size(); ++later) --place_[order_[later]];
  const auto columns = static_cast<std::ptrdiff_t>(room_[node].size());
  const auto room = room_in_order_.begin() + static_cast<std::ptrdiff_t>(at) * columns;
  room_in_order_.erase(room, room + columns);
}

void NodeTable::come_back(std::size_t node) {
  const std::size_t at = place_[node];
  order_.insert(order_.begin() + static_cast<std::ptrdiff_t>(at), node);
  for (std::size_t later = at + 1; later < order_.size(); ++later) ++place_[order_[later]];
  const std::size_t before = at * room_[node].size();
  room_in_order_.insert(room_in_order_.begin() + static_cast<std::ptrdiff_t>(before),
                        room_[node].begin(), room_[node].end());
}

bool NodeTable::meets(std::size_t node, RequirementId demand) {
  std::vector<std::int8_t>& met = met_[profile_of_[node]];
  if (met.size() <= demand) met.resize(demand + 1, -1);
  if (met[demand] < 0)
    met[demand] =
        profiles_[profile_of_[node]].incompatible(requirements_.at(demand), {}).empty() ? 1 : 0;
  return met[demand] == 1;
}

Row NodeTable::room_of(std::size_t at, const Columns& columns, const Ways& ways) {
  const Node& node = problem_.nodes[at];
  Row room = columns.row(node.available);
  columns.limit_volumes(room, node.attach_limits);
  for (const auto& [driver, claim] : node.volumes)
    if (const std::size_t column = columns.volumes(driver); column < columns.size()) --room[column];
  Row to_come(columns.size(), 0);
  for (std::size_t daemon = 0; daemon < ways.size(); ++daemon) {
    const model::PodShape& shape = problem_.daemons[daemon].shape;
    if (shape.uses_dra || model::first_untolerated(node.taints, shape.tolerations) != nullptr)
      continue;
    if (std::any_of(ways[daemon].begin(), ways[daemon].end(),
                    [&](RequirementId way) { return meets(at, way); }))
      add_times(to_come, columns.row(shape.requests), 1);
  }
  add_times(to_come, columns.row(node.daemon_running), -1);
  for (std::int64_t& amount : to_come) amount = std::max<std::int64_t>(amount, 0);
  add_times(room, to_come, -1);
  return room;
}

}  // namespace karst::scheduling
