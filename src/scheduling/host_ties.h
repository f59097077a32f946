// What pods have to do with others on their own host, and who is on the host that is being filled.
// Whatever is let in here is right in any order of binding: a spread looks at all pods that will be
// there in the end, those that come later too.
// Rules: scheduling/topology.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "scheduling/pod_rows.h"
#include "scheduling/topology.h"

namespace karst::scheduling {

struct HostTies {
  std::vector<GroupId> counted;                  // groups that count the pod
  std::vector<std::pair<GroupId, int>> at_most;  // its spreads: so many of the group
  std::vector<GroupId> repelled;                 // whom its anti-affinity keeps away
  bool is_bound = false;  // wants to be beside others, or others beside it, or repels
  // Nobody on the host matters, nor it to them.
  bool is_none() const { return counted.empty() && at_most.empty() && repelled.empty(); }
};

HostTies host_ties(const PodRow& row, const std::vector<TopologyGroup>& groups);

// One host at a time. Owned by one search.
class HostState {
 public:
  explicit HostState(std::size_t groups) : groups_(groups) {}
  void clear();
  // Whether one more such pod may be there.
  bool takes(const HostTies& ties) const;
  void add(const HostTies& ties, std::int64_t count);

 private:
  struct Group {
    std::int64_t pods = 0;
    std::int64_t at_most = INT64_MAX;
    bool is_repelled = false;
    bool is_touched = false;
  };
  Group& touch(GroupId group);

  std::vector<Group> groups_;
  std::vector<GroupId> touched_;
};

}  // namespace karst::scheduling
