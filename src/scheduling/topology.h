// Topology groups: whose pods a spread or an affinity counts, and per domain of its key how many
// there are. A group is shared by every pod that counts the same pods; what each demands of the
// counts (skew, minDomains) is its own. Topology is the part that does not change while pods are
// placed; Counts the part that does. Owned by one solve call. Source:
// https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/,
// .../assign-pod-node/#inter-pod-affinity-and-anti-affinity; where karst counts otherwise than
// Karpenter: docs/oracle.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "scheduling/node_table.h"
#include "scheduling/pool_table.h"
#include "scheduling/problem.h"
#include "scheduling/requirement_table.h"

namespace karst::scheduling {

struct PodRow;

using GroupId = std::uint32_t;
inline constexpr int kHostKey = -1;  // hostname: domains are nodes, then claims
inline constexpr int kNoDomain = -1;

// Which nodes' pods a spread counts.
struct NodeFilter {
  bool by_affinity = false;
  std::vector<RequirementId> terms;  // one must hold; with by_affinity
  bool by_taints = false;
  std::vector<model::Toleration> tolerations;
  friend auto operator<=>(const NodeFilter&, const NodeFilter&) = default;
};

struct TopologyGroup {
  int key = kHostKey;  // index into DomainNames::keys
  model::LabelSelector selector;
  std::vector<std::string> namespaces;  // sorted
  NodeFilter filter;
  bool is_spread = false;
  bool attracts = false;    // some affinity goes by its counts
  bool repels = false;      // required anti-affinity counts these pods: they repel its owners
  bool is_asked = true;     // some row of the question has to do with it, or somebody bound repels
  std::size_t order = 0;    // of those asked: in which a topology of the question alone has them
  std::int64_t owners = 0;  // bound pods that repel
  // Of a spread: the domains of nodes that are there. Under SpreadDomains::kAllPools also every
  // other one that some pool could make.
  std::vector<int> universe;
  // By domain: nodes that have it in the universe, and pools under SpreadDomains::kAllPools.
  std::vector<std::int32_t> holders;
};

enum class ConstraintKind { kSpread, kAffinity, kAntiAffinity };

// What one pod demands of one group.
struct Constraint {
  ConstraintKind kind = ConstraintKind::kSpread;
  GroupId group = 0;
  int max_skew = 1;
  int min_domains = 0;
  bool self = false;  // the group counts the pod itself
};

// Pods per domain of one group. A pod on a claim whose domain is still open counts as possible in
// each that it may become, and as sure in none.
struct GroupCounts {
  std::vector<std::int32_t> sure;
  std::vector<std::int32_t> possible;
  std::vector<std::int32_t> owners;  // pods that repel the group's pods, as possible
  std::int64_t total = 0;
};
using Counts = std::vector<GroupCounts>;

inline std::int32_t count_at(const std::vector<std::int32_t>& counts, int domain) {
  const auto at = static_cast<std::size_t>(domain);
  return at < counts.size() ? counts[at] : 0;
}
inline void add_at(std::vector<std::int32_t>& counts, int domain, std::int32_t count) {
  const auto at = static_cast<std::size_t>(domain);
  if (at >= counts.size()) counts.resize(at + 1, 0);
  counts[at] += count;
}

class Topology {
 public:
  Topology(const Problem& problem, RequirementTable& requirements, DomainNames& domains);

  // Registering, before anything is asked for.
  Constraint spread(const PodGroup& pod, const model::SpreadConstraint& spread);
  Constraint affinity(const model::PodAffinityTerm& term, const std::string& namespace_name,
                      const model::Labels& labels);
  void mark_repelling(GroupId group) { groups_[group].repels = true; }
  // After the last one: universes, and the counts of bound pods.
  void finish(NodeTable& nodes);

  // After finish(): so many such pods, which these groups count or keep away, are bound on the node
  // besides; negative: are not.
  void count(const std::vector<GroupId>& matched, const std::vector<GroupId>& repels,
             std::size_t node, std::int64_t pods, NodeTable& nodes);
  // The node, whose pods were counted anew before, is there for pods or has left (`change` -1).
  void hold(std::size_t node, std::int32_t change, NodeTable& nodes);

  const std::vector<TopologyGroup>& groups() const { return groups_; }
  const Counts& start() const { return start_; }
  // Groups that count such pods.
  std::vector<GroupId> matching(const std::string& namespace_name,
                                const model::Labels& labels) const;
  // Whether some group that is asked goes by the key (not kHostKey).
  bool is_key_asked(std::size_t key) const { return key_asked_[key]; }
  // The node's domain of a key; kNoDomain when it has no such label.
  int node_domain(int key, std::size_t node) const {
    return key == kHostKey ? static_cast<int>(node)
                           : node_domains_[static_cast<std::size_t>(key)][node];
  }
  // Whether pods there count now, and once the node is without startup taints: those that are to
  // come wait for that.
  bool node_counts(GroupId group, std::size_t node, NodeTable& nodes) const;
  bool node_will_count(GroupId group, std::size_t node, NodeTable& nodes) const;
  bool claim_counts(GroupId group, const std::vector<model::Taint>& taints, RequirementId claim);
  // The universe's domains that any of the demands of a row (by its index) on the key allows.
  const std::vector<int>& universe(GroupId group, std::size_t row,
                                   const std::vector<RequirementId>& demands);
  bool allows(RequirementId demand, int key, int domain) const;
  // The rows are these now, of those that were registered, and bound are those that are not gone
  // (by index into Problem::bound): groups are as if there never were others.
  void ask_for(const std::vector<PodRow>& rows, const std::vector<bool>& is_gone);
  const DomainNames& domains() const { return domains_; }
  std::string key_name(int key) const;

 private:
  using Identity = std::tuple<std::string, bool, std::vector<model::RequirementSpec>, bool,
                              std::vector<std::string>, NodeFilter>;
  GroupId group_of(const std::string& key, bool is_spread, model::LabelSelector selector,
                   std::vector<std::string> namespaces, NodeFilter filter);
  void make_universe(TopologyGroup& group, NodeTable& nodes);
  bool is_in_universe(const TopologyGroup& group, int domain) const;
  void add_domains(const Pool& pool, std::size_t key, std::set<int>& found);
  void count_bound(NodeTable& nodes);
  void put_in_order(const std::vector<PodRow>& rows, const std::vector<bool>& is_gone);
  bool takes_taints(const NodeFilter& filter, const std::vector<model::Taint>& taints) const;
  bool counts_under(const std::vector<model::Taint>& taints, GroupId group, std::size_t node,
                    NodeTable& nodes) const;

  const Problem& problem_;
  RequirementTable& requirements_;
  DomainNames& domains_;
  std::map<Identity, GroupId> ids_;
  std::vector<TopologyGroup> groups_;
  std::vector<bool> key_asked_;
  std::vector<std::vector<int>> node_domains_;                           // by key and node
  std::map<std::pair<GroupId, std::size_t>, std::vector<int>> allowed_;  // by group and row
  std::vector<std::pair<std::size_t, GroupId>> bound_owners_;  // bound row and its anti group
  std::vector<std::vector<std::size_t>> owners_of_;            // by group: indices into these
  Counts start_;
};

bool selects(const model::LabelSelector& selector, const model::Labels& labels);

}  // namespace karst::scheduling
