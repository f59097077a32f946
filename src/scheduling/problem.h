// The solver's input and output: a pure problem, a placement with reasons. Knows no events and no
// cluster. Units: model/resources.h. Everything is referred to by index into the problem's vectors,
// and every vector's order is part of the problem: the same problem always has the same answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/cloud.h"
#include "model/cluster.h"
#include "model/pod.h"
#include "model/requirements.h"

namespace karst::scheduling {

// Equal pods are one row with a count.
struct PodGroup {
  model::PodShape shape;
  std::string namespace_name;
  model::Labels labels;  // projected on the keys that any selector of the problem uses
  std::int64_t count = 1;
};

// A pool with the instance types it may use.
struct Pool {
  model::NodePool pool;
  std::vector<model::InstanceType> types;
  // What is used of the pool's limits already, claims in flight included; the key "nodes" counts
  // nodes.
  std::vector<std::pair<std::string, std::int64_t>> used;
};

// A node or a claim in flight that takes pods.
struct Node {
  std::string name;
  model::Labels labels;
  std::vector<model::Taint>
      taints;  // those that count now: startup and ephemeral taints are left out by the caller
  model::Resources available;  // allocatable less everything bound or expected there
  bool initialized = true;
};

struct Daemon {
  model::PodShape shape;
};

struct Problem {
  std::vector<Pool> pools;
  std::vector<Node> nodes;
  std::vector<PodGroup> pods;
  std::vector<Daemon> daemons;
  std::size_t instance_types_max = 600;  // per claim, cheapest first
};

struct Share {
  std::size_t group = 0;  // index into Problem::pods
  std::int64_t count = 0;
  friend bool operator==(const Share&, const Share&) = default;
};

struct NodePlacement {
  std::size_t node = 0;  // index into Problem::nodes
  std::vector<Share> pods;
  friend bool operator==(const NodePlacement&, const NodePlacement&) = default;
};

struct NewClaim {
  std::size_t pool = 0;  // index into Problem::pools
  std::vector<model::RequirementSpec>
      requirements;  // narrowed by the pods; without instance-type and capacity-type lists
  std::vector<std::size_t> types;  // compatible types that fit, cheapest compatible offering first,
                                   // at most instance_types_max
  std::vector<model::Offer> offers;  // compatible available offerings of `types`, cheapest first
  std::vector<Share> pods;
  model::Resources requests;  // pods and daemons
  model::Resources
      max_capacity;  // per resource the largest capacity among `types`: what limits must reserve
  friend bool operator==(const NewClaim&, const NewClaim&) = default;
};

// Why a pool could not take a pod of this group.
struct PoolReason {
  std::string pool;
  std::string code;  // taint, requirements, resources, limit, no_offering, unsupported
  std::string text;  // for people, in Karpenter's message grammar
  friend bool operator==(const PoolReason&, const PoolReason&) = default;
};

struct Unplaced {
  std::size_t group = 0;
  std::int64_t count = 0;
  std::vector<PoolReason> reasons;
  friend bool operator==(const Unplaced&, const Unplaced&) = default;
};

struct Answer {
  std::vector<NodePlacement> placements;
  std::vector<NewClaim> claims;
  std::vector<Unplaced> unplaced;
  friend bool operator==(const Answer&, const Answer&) = default;
};

// Pure, total, bounded by the size of the problem. Single-threaded in this form.
Answer solve(const Problem& problem);

}  // namespace karst::scheduling
