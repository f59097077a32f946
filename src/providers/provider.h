// The pure half of a cloud: what it offers, how an order becomes request bytes, what an answer
// means. No I/O, no clock. One implementation per cloud: kwok/ and aws/. The
// hands are in src/cloud.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/cloud.h"
#include "model/cluster.h"
#include "model/command.h"

namespace karst::providers {

// The least memory that a machine of this type and image has reported when it registered.
struct SeenMemory {
  std::string_view instance_type;
  std::string_view image;
  std::int64_t bytes = 0;
};

// One claim that is to be launched, with what the request needs to say about it.
struct LaunchSubject {
  const model::NodeClaim* claim = nullptr;
  std::uint32_t attempt = 1;
  std::string_view node_class;  // its spec as JSON; empty: it is gone
  std::string_view resolved;    // what the class's selectors found; empty: nothing was asked
  std::span<const SeenMemory> seen_memory = {};  // sorted by type and image
  // Addresses that orders since `resolved` was found may take: `each` of a subnet in all.
  std::span<const model::AddressUse> promised = {};
};

// A launched claim that is compared with what its class says now.
struct DriftSubject {
  const model::NodeClaim* claim = nullptr;
  const model::Instance* instance = nullptr;  // as the cloud tells of it; null: not known
};

// What a node class's status says: conditions without their times, and the rest.
struct NodeClassStatus {
  std::vector<model::Condition> conditions;  // sorted by type, "Ready" among them
  std::string fields_json;                   // as MirrorStatus has them, keys sorted
};

// A node whose condition has had this status for longer than it tolerates is replaced.
struct RepairPolicy {
  std::string_view condition;  // one of model::kRepairConditions
  model::ConditionStatus status = model::ConditionStatus::kFalse;
  std::int64_t toleration_millis = 0;
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;

  // The node class kind it understands, e.g. {"karpenter.kwok.sh", "KWOKNodeClass"}.
  virtual bool understands(const model::NodeClassRef& ref) const = 0;

  // What it offers when nothing better is known: embedded, same for every call. Sorted by type
  // name.
  virtual const model::Catalogue& embedded_catalogue() const = 0;
  // Whether its hands read what it sells: the embedded catalogue only stands in until they have.
  virtual bool reads_catalogue() const { return false; }

  // Label keys that its instance types define beyond the well-known ones.
  virtual std::span<const std::string_view> label_keys() const = 0;

  // Labels of this domain, and of those below it, are the provider's own: a key that own_labels()
  // does not have means nothing, and is mostly misspelt. Empty: it has no domain.
  virtual std::string_view label_domain() const { return {}; }
  // label_keys() and what machines get by how they are bought. Sorted.
  virtual std::span<const std::string_view> own_labels() const { return label_keys(); }

  // The label whose value is a reservation's id; empty: nothing is reserved here.
  virtual std::string_view reservation_label() const { return {}; }

  // What machines of a class can be, of what the cloud offers now by the log. `resolved`: what the
  // class's selectors found, this provider's own words; empty while nobody has asked.
  // `seen_memory`, sorted by type and image, takes the place of what was estimated. Only called
  // when depends_on_class(): otherwise every class has the catalogue's types as they are.
  virtual bool depends_on_class() const { return false; }
  virtual std::vector<model::InstanceType> types_for(
      const model::Catalogue& catalogue, const model::NodeClass& node_class,
      std::string_view resolved, std::span<const SeenMemory> seen_memory) const {
    (void)node_class, (void)resolved, (void)seen_memory;
    return catalogue.types;
  }

  // The bytes of a ResolveNodeClass, whose outcome is `resolved`; empty: there is nothing to ask.
  // Only called when depends_on_class(), like status_of().
  virtual std::string encode_resolve(const model::NodeClass&) const { return {}; }
  // What claims of the class are compared with to find drift, and the recipe by which this build
  // makes it. Empty: not known, or its claims are not compared.
  virtual std::string class_hash(const model::NodeClass&, std::string_view resolved) const {
    (void)resolved;
    return {};
  }
  virtual std::string_view class_hash_version() const { return {}; }
  // The bytes of a ReleaseNodeClass: what was made in the account for a class that is being deleted
  // is to go. Empty: nothing is made for classes, so that they need no finalizer.
  virtual std::string encode_release(const model::NodeClass&) const { return {}; }
  // The status of a class. `resolved` is empty before the first answer.
  virtual NodeClassStatus status_of(const model::NodeClass&, std::string_view resolved) const {
    (void)resolved;
    return {};
  }

  // For each of a class's claims, in their order: why its machine is no longer what the class says,
  // in the one word that condition Drifted shows; empty: it still is. nullopt: nobody can tell now.
  virtual std::vector<std::optional<std::string>> drift_of(
      const model::Catalogue& catalogue, const model::NodeClass&, std::string_view resolved,
      std::span<const DriftSubject> subjects) const {
    (void)catalogue, (void)resolved;
    return std::vector<std::optional<std::string>>(subjects.size(), std::string());
  }

  // The zones that, by what a class's selectors found, nothing is to be bought in for now; sorted.
  virtual std::vector<std::string> shifted_zones(std::string_view resolved) const {
    (void)resolved;
    return {};
  }

  // The reservations that, by what a class's selectors found, come to their end: their machines are
  // given up, so that they drain before they are taken; sorted.
  virtual std::vector<std::string> ending_reservations(std::string_view resolved) const {
    (void)resolved;
    return {};
  }

  // For which conditions of a node its machine is given up (feature gate NodeRepair).
  virtual std::span<const RepairPolicy> repair_policies() const { return {}; }

  // How many claims of the class one order can carry; at least 1, at most model::kLaunchItemsMax.
  virtual std::size_t claims_per_order(const model::NodeClass&) const {
    return model::kLaunchItemsMax;
  }

  // The bytes to send for an order. The same arguments give the same bytes. `catalogue`: what it
  // offers now, by the log. `command_tag` is the CommandId as text.
  virtual std::string encode_launch(const model::Catalogue& catalogue,
                                    std::span<const LaunchSubject> subjects,
                                    const model::LaunchToken& token,
                                    std::span<const model::Offer> offers,
                                    const std::string& command_tag) const = 0;

  // What machines of an order with these bytes may take of each subnet's addresses.
  virtual std::vector<model::AddressUse> addresses_of(std::string_view request) const {
    (void)request;
    return {};
  }
};

// The provider of that name; nullptr if this build has none.
const Provider* find_provider(std::string_view name);

}  // namespace karst::providers
