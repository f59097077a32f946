#include "providers/aws/drift.h"

#include <algorithm>
#include <map>
#include <set>

#include "model/find_type.h"
#include "model/labels.h"
#include "providers/aws/class_types.h"
#include "providers/aws/images.h"
#include "providers/aws/node_class_spec.h"
#include "providers/aws/resolution.h"
#include "providers/aws/resolved.h"

namespace karst::providers::aws {
namespace {

// A reason; empty: no drift. nullopt: nobody can tell.
using Drift = std::optional<std::string>;

template <class Item>
std::set<std::string> ids_of(const std::vector<Item>& items) {
  std::set<std::string> ids;
  for (const Item& item : items) ids.insert(item.id);
  return ids;
}

// The class as its machines are compared with it.
class Compared {
 public:
  Compared(const model::Catalogue& catalogue, const model::NodeClass& node_class,
           const NodeClassSpec& spec, const Resolved& resolved, std::string_view resolution)
      : catalogue_(catalogue),
        node_class_(node_class),
        spec_(spec),
        resolved_(resolved),
        settings_(settings_of(spec, resolved)),
        hash_(node_class_hash(node_class.spec_json, resolved.cluster.ca).value_or("")),
        subnets_(ids_of(resolved.subnets)),
        groups_(ids_of(resolved.security_groups)),
        reservations_(ids_of(resolved.reservations)) {
    for (const model::Condition& one : conditions_of(resolution))
      if (one.status != model::ConditionStatus::kTrue) unread_.insert(one.type);
  }

  Drift of(const DriftSubject& subject) {
    const model::NodeClaim& claim = *subject.claim;
    if (Drift drift = of_hash(claim); !drift || !drift->empty()) return drift;
    const model::Instance* machine = subject.instance;
    if (machine == nullptr) return std::nullopt;
    for (const Drift& drift : {of_image(*machine), of_groups(*machine), of_subnet(*machine),
                               of_reservation(*machine), of_placement_group(claim)})
      if (!drift || !drift->empty()) return drift;
    return "";
  }

 private:
  static Drift unless(bool same, const char* reason) { return same ? "" : reason; }
  // A question that failed leaves less than there is; so does an alias that cannot be used here.
  bool unread(std::string_view condition) const { return unread_.contains(condition); }

  // nullopt: the class's own annotation is about to change, and the claim may be ahead of it.
  Drift of_hash(const model::NodeClaim& claim) const {
    const model::NodeClassRef& ref = node_class_.ref;
    const auto hash =
        model::label_value(claim.annotations, model::class_hash_key(ref.group, ref.kind));
    const auto version =
        model::label_value(claim.annotations, model::class_hash_version_key(ref.group, ref.kind));
    if (hash.empty() || version.empty() || node_class_.hash.empty() ||
        node_class_.hash_version != version)
      return "";
    if (version == kNodeClassHashVersion && node_class_.hash != hash_) return std::nullopt;
    return unless(node_class_.hash == hash, "NodeClassDrift");
  }

  Drift of_image(const model::Instance& machine) {
    if (machine.image.empty() || resolved_.images.empty() || unread("AMIsReady"))
      return std::nullopt;
    const Drift image = image_of(machine.offer.instance_type);
    if (!image) return std::nullopt;
    return unless(*image == machine.image, "AMIDrift");
  }

  // What such machines get; empty: no image is for them. nullopt: the type is not known.
  Drift image_of(const std::string& type) {
    const auto [at, is_new] = images_.try_emplace(type);
    if (!is_new) return at->second;
    const model::InstanceType* known = model::find_type(catalogue_.types, type);
    if (known == nullptr) return std::nullopt;
    const Image* image =
        image_for(resolved_.images, model::Requirements(adapted(*known, settings_).requirements));
    at->second = image == nullptr ? "" : image->id;
    return at->second;
  }

  Drift of_groups(const model::Instance& machine) const {
    const std::vector<std::string>& has = machine.security_groups;
    if (has.empty() || groups_.empty() || unread("SecurityGroupsReady")) return std::nullopt;
    return unless(std::set<std::string>(has.begin(), has.end()) == groups_, "SecurityGroupDrift");
  }

  Drift of_subnet(const model::Instance& machine) const {
    if (machine.subnet.empty() || subnets_.empty() || unread("SubnetsReady")) return std::nullopt;
    return unless(subnets_.contains(machine.subnet), "SubnetDrift");
  }

  Drift of_reservation(const model::Instance& machine) const {
    const model::Offer& offer = machine.offer;
    if (offer.capacity_type != "reserved" || offer.reservation.empty()) return "";
    if (unread("CapacityReservationsReady")) return std::nullopt;
    return unless(reservations_.contains(offer.reservation), "CapacityReservationDrift");
  }

  // A group that is asked for and not found is nothing to compare with.
  Drift of_placement_group(const model::NodeClaim& claim) const {
    const bool asked = !spec_.placement_group_name.empty() || !spec_.placement_group_id.empty();
    const std::string& id = resolved_.placement_group.id;
    if (asked && id.empty()) return std::nullopt;
    return unless(model::label_value(claim.labels, kPlacementGroupIdLabel) == id,
                  "PlacementGroupDrift");
  }

  const model::Catalogue& catalogue_;
  const model::NodeClass& node_class_;
  const NodeClassSpec& spec_;
  const Resolved& resolved_;
  const NodeClassSettings settings_;
  const std::string hash_;
  const std::set<std::string> subnets_;
  const std::set<std::string> groups_;
  const std::set<std::string> reservations_;
  std::set<std::string, std::less<>> unread_;  // conditions that do not hold
  std::map<std::string, Drift> images_;        // by instance type
};

}  // namespace

std::vector<std::optional<std::string>> drift_of(const model::Catalogue& catalogue,
                                                 const model::NodeClass& node_class,
                                                 std::string_view resolved,
                                                 std::span<const DriftSubject> subjects) {
  std::vector<std::optional<std::string>> drifts(subjects.size());
  const auto spec = read_node_class_spec(node_class.spec_json);
  const auto found = read_resolved(resolved);
  if (!spec || !found) return drifts;
  Compared compared(catalogue, node_class, *spec, *found, resolved);
  for (std::size_t i = 0; i < subjects.size(); ++i) drifts[i] = compared.of(subjects[i]);
  return drifts;
}

}  // namespace karst::providers::aws
