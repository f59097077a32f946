// The part of Packer that places pods on existing nodes: which of them have room, which take the
// pod, and what is left of one once it is there.
#include <algorithm>

#include "scheduling/packer.h"

namespace karst::scheduling {

bool Packer::place_on_node(std::size_t row, const Stage& stage) {
  const std::vector<std::size_t>& order = prepared_.nodes.order();
  // A node that has refused a pod without ties to others will refuse the next one too, and so will
  // one without room.
  const bool for_ever = has_no_ties(prepared_.rows[row]);
  std::size_t& first = first_node_[row];
  first = next_with_room(row, first);
  if (first == order.size()) return false;
  forget_verdicts(stage);
  for (std::size_t at = first; at < order.size(); at = next_with_room(row, at + 1)) {
    if (for_ever) first = at;
    if (is_out(prepared_.rows[row], order[at]) || !node_takes(row, stage, order[at])) continue;
    put_on_node(row, order[at]);
    return true;
  }
  if (for_ever) first = order.size();
  return false;
}

void Packer::note_most_free() {
  const std::size_t columns = nothing_.size(), nodes = free_.size() / columns;
  most_free_.assign((nodes + kBlockNodes - 1) / kBlockNodes * columns, INT64_MIN);
  for (std::size_t at = 0; at < nodes; ++at) {
    std::int64_t* most = &most_free_[at / kBlockNodes * columns];
    for (std::size_t i = 0; i < columns; ++i) most[i] = std::max(most[i], free_[at * columns + i]);
  }
}

// The first node from that place in their order that has room for one more pod of the row.
std::size_t Packer::next_with_room(std::size_t row, std::size_t at) const {
  const Row& request = prepared_.rows[row].request;
  const std::size_t nodes = prepared_.nodes.order().size();
  const std::size_t columns = request.size();
  const auto has_room = [&](const std::int64_t* room) {
    return fits_beside(nothing_.data(), request.data(), room, columns);
  };
  while (at < nodes) {
    const std::size_t block = at / kBlockNodes;
    const std::size_t end = std::min(nodes, (block + 1) * kBlockNodes);
    for (; at < end && has_room(&most_free_[block * columns]); ++at)
      if (has_room(&free_[at * columns])) return at;
    at = end;
  }
  return nodes;
}

std::int64_t* Packer::room_of(std::size_t node) {
  return &free_[prepared_.nodes.place(node) * nothing_.size()];
}

Packer::InUse& Packer::in_use(std::size_t node) {
  const auto [at, is_new] = in_use_.try_emplace(node);
  if (is_new) {
    const Node& known = prepared_.problem.nodes[node];
    at->second.ports = known.host_ports;
    for (const auto& [driver, claim] : known.volumes)
      at->second.volumes.push_back(driver + " " + claim);
  }
  return at->second;
}

void Packer::put_on_node(std::size_t row, std::size_t node) {
  const PodRow& pod = prepared_.rows[row];
  std::int64_t* room = room_of(node);
  for (std::size_t i = 0; i < pod.request.size(); ++i) room[i] -= pod.request[i];
  for (const auto& [column, volume] : pod.shared_volumes) {
    std::vector<std::string>& volumes = in_use(node).volumes;
    if (std::find(volumes.begin(), volumes.end(), volume) != volumes.end()) continue;
    volumes.push_back(volume);
    --room[column];
  }
  const auto& ports = pod.source->shape.host_ports;
  if (!ports.empty()) {
    std::vector<model::HostPort>& taken = in_use(node).ports;
    taken.insert(taken.end(), ports.begin(), ports.end());
  }
  count_on_node(row, node);
  order_.push_back({row, false, node, 1});
}

void Packer::forget_verdicts(const Stage& stage) {
  asked_.clear();
  verdicts_.clear();
  for (const Constraint& constraint : stage.constraints) {
    const int key = prepared_.topology.groups()[constraint.group].key;
    if (key == kHostKey || constraint.kind == ConstraintKind::kAffinity) continue;
    asked_.push_back({&constraint, key, verdicts_.size()});
    verdicts_.resize(verdicts_.size() + prepared_.domains.size(static_cast<std::size_t>(key)),
                     Verdict::kUnknown);
  }
}

bool Packer::is_out(const PodRow& row, std::size_t node) {
  return std::any_of(asked_.begin(), asked_.end(), [&](const Asked& one) {
    const int domain = prepared_.topology.node_domain(one.key, node);
    if (domain == kNoDomain) return one.constraint->kind == ConstraintKind::kSpread;
    Verdict& known = verdicts_[one.first + static_cast<std::size_t>(domain)];
    if (known == Verdict::kUnknown)
      known = domain_allowed(nullptr, *one.constraint, row, kAnyWay, domain) ? Verdict::kYes
                                                                             : Verdict::kNo;
    return known == Verdict::kNo;
  });
}

// Of each driver, for the shared volumes that the node does not have yet.
bool Packer::has_volumes_left(const PodRow& pod, std::size_t node) {
  if (pod.shared_volumes.empty()) return true;
  const std::vector<std::string>& volumes = in_use(node).volumes;
  const std::int64_t* room = room_of(node);
  more_volumes_.assign(pod.request.size(), 0);
  for (const auto& [column, volume] : pod.shared_volumes)
    if (std::find(volumes.begin(), volumes.end(), volume) == volumes.end() &&
        ++more_volumes_[column] + pod.request[column] > room[column])
      return false;
  return true;
}

bool Packer::node_takes(std::size_t row, const Stage& stage, std::size_t at) {
  const PodRow& pod = prepared_.rows[row];
  const Node& node = prepared_.problem.nodes[at];
  const auto& ports = pod.source->shape.host_ports;
  if (!fits_beside(nothing_.data(), pod.request.data(), room_of(at), pod.request.size()) ||
      (node.in_consolidate_after && pod.source->voluntary) || !tolerates(pod, stage, node.taints) ||
      (!ports.empty() && ports_conflict(ports, in_use(at).ports)) || !has_volumes_left(pod, at))
    return false;
  const auto meets = [&](RequirementId demand) { return prepared_.nodes.meets(at, demand); };
  if (std::none_of(pod.volume_ways.begin(), pod.volume_ways.end(), meets)) return false;
  return std::any_of(stage.ways.begin(), stage.ways.end(), [&](const Way& way) {
    return meets(way.wanted) && node_topology_allows(pod, stage, at, way.strict);
  });
}

void Packer::count_on_node(std::size_t row, std::size_t node) {
  ++changes_;
  const PodRow& pod = prepared_.rows[row];
  for (const GroupId group : pod.matched) {
    const int domain = prepared_.topology.node_domain(prepared_.topology.groups()[group].key, node);
    if (!prepared_.topology.node_will_count(group, node, prepared_.nodes)) continue;
    ++counts_[group].total;
    if (domain == kNoDomain) continue;
    add_at(counts_[group].sure, domain, 1);
    add_at(counts_[group].possible, domain, 1);
  }
  for (const GroupId group : pod.repels) {
    const int domain = prepared_.topology.node_domain(prepared_.topology.groups()[group].key, node);
    if (domain != kNoDomain) add_at(counts_[group].owners, domain, 1);
  }
}

}  // namespace karst::scheduling
