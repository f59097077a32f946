// What machines of each node class can be, kept from round to round while the catalogue, the class,
// what its selectors found and the memory that machines have shown stay as they are; what each
// pool has on sale of it, made ready for the solver; what is to be said of the class itself, and
// which claims differ from it. It only saves time: a fresh one answers the same. Owned by whoever
// decides round after round; that thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/cloud.h"
#include "projections/cluster_state.h"
#include "providers/provider.h"
#include "reconcilers/drift_kept.h"
#include "scheduling/type_list.h"

namespace karst::reconcilers {

// What the types of a node class follow from. 0: not there.
struct TypesVersion {
  model::Position catalogue;
  model::Position node_class;
  model::Position resolved;
  model::Position seen_memory;
  friend bool operator==(const TypesVersion&, const TypesVersion&) = default;
};
TypesVersion types_version(const projections::ClusterState& state,
                           const providers::Provider& provider, const model::NodeClassRef& ref);

// The memory that machines have shown, as providers take it. Valid until the state changes.
std::vector<providers::SeenMemory> seen_memory(const projections::ClusterState& state);

// All that a pool's offer follows from.
struct SaleKey {
  TypesVersion types;
  model::NodeClassRef ref;
  std::vector<model::RequirementSpec> requirements;        // the pool's
  model::Labels template_labels;                           // the pool's
  std::vector<model::Offer> exhausted;                     // not for sale now
  std::map<std::string, std::int64_t, std::less<>> taken;  // machines, by reservation
  friend bool operator==(const SaleKey&, const SaleKey&) = default;
};

// What is to be said of a node class, of what its selectors found.
struct ClassStanding {
  std::string hash;
  providers::NodeClassStatus status;
  std::vector<std::string> shifted_zones;
};

class ClassTypes {
 public:
  // None for a class that is not there. Valid until the next call after a change of the state.
  const std::vector<model::InstanceType>& of(const projections::ClusterState& state,
                                             const providers::Provider& provider,
                                             const model::NodeClassRef& ref);

  // REQUIRES: the row is of the state. Valid until the next call after a change of the state.
  const ClassStanding& standing(const projections::ClusterState& state,
                                const providers::Provider& provider,
                                const projections::NodeClassRow& row);

  // The pool's offer: kept, or made when the key is another than the last time.
  const scheduling::TypeList& on_sale(
      const projections::ClusterState& state, const model::PoolName& pool, SaleKey key,
      const std::function<scheduling::TypeList(const SaleKey&)>& make);

  // Of reconcile_drift.
  DriftKept& drift() { return drift_; }

 private:
  struct Sale {
    SaleKey key;
    scheduling::TypeList types;
  };
  struct Kept {
    TypesVersion version;
    std::vector<model::InstanceType> types;
  };
  struct Said {
    model::Position node_class;
    model::Position resolved;
    ClassStanding standing;
  };
  std::map<model::NodeClassRef, Kept> kept_;  // of classes that are there
  std::map<model::NodeClassRef, Said> said_;  // likewise
  std::map<model::PoolName, Sale> sales_;     // of pools that are there
  DriftKept drift_;
};

}  // namespace karst::reconcilers
