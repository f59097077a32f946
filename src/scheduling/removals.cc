#include "scheduling/removals.h"

#include <algorithm>
#include <functional>

#include "model/labels.h"
#include "scheduling/reasons.h"

namespace karst::scheduling {
namespace {

// The catalogue of one pool, and questions about every offering of it.
class Catalogue {
 public:
  explicit Catalogue(const PoolTable& pool) {
    for (const InstanceType& type : pool.source->types) {
      types_.push_back({&type, model::Requirements(type.requirements), {}});
      for (const Offering& offering : type.offerings)
        types_.back().offers.emplace_back(&offering, model::Requirements(offering.requirements));
    }
  }

  using Keeps = std::function<bool(const InstanceType&, const model::Requirements&, const Offering&,
                                   const model::Requirements&)>;

  void count(PoolReason& reason) const {
    reason.types = static_cast<std::int64_t>(types_.size());
    for (const Entry& type : types_)
      reason.offerings += static_cast<std::int64_t>(type.offers.size());
  }
  void remove(const std::string& constraint, const Keeps& keeps, PoolReason& reason) const {
    Removal removal{constraint, 0, 0};
    for (const Entry& type : types_) {
      std::size_t kept = 0;
      for (const auto& [offering, demands] : type.offers)
        if (keeps(*type.type, type.requirements, *offering, demands)) ++kept;
      removal.offerings += static_cast<std::int64_t>(type.offers.size() - kept);
      if (kept == 0) ++removal.types;
    }
    if (removal.types > 0 || removal.offerings > 0) reason.removals.push_back(std::move(removal));
  }

 private:
  struct Entry {
    const InstanceType* type;
    model::Requirements requirements;
    std::vector<std::pair<const Offering*, model::Requirements>> offers;
  };
  std::vector<Entry> types_;
};

Catalogue::Keeps meeting(const model::Requirements& wanted) {
  return [wanted](const InstanceType&, const model::Requirements& type, const Offering&,
                  const model::Requirements& offer) {
    return type.intersects(wanted) && offer.intersects(wanted);
  };
}

void remove_by_labels(const Catalogue& catalogue, const model::Requirements& wanted,
                      const std::string& whose, PoolReason& reason) {
  for (const auto& [key, set] : wanted.all()) {
    if (key == model::kHostnameLabel) continue;
    model::Requirements one;
    one.add(key, set);
    catalogue.remove(whose + model::describe(key, set), meeting(one), reason);
  }
}

bool removed(const PoolReason& reason, const std::string& constraint) {
  return std::any_of(reason.removals.begin(), reason.removals.end(),
                     [&](const Removal& removal) { return removal.constraint == constraint; });
}

void remove_by_size(const Catalogue& catalogue, const Prepared& prepared, const Row& request,
                    const View& base, const PoolTable& pool, PoolReason& reason) {
  for (std::size_t column = 0; column < request.size(); ++column) {
    if (request[column] <= 0) continue;
    // Room under the DaemonSets; types that the pool cannot use count with what they offer.
    std::map<const InstanceType*, std::int64_t> room;
    for (const Machine& machine : base.machines) {
      std::int64_t& most = room.try_emplace(&pool.type(machine), INT64_MIN).first->second;
      most = std::max(most, machine.room[column]);
    }
    catalogue.remove(
        std::string(prepared.columns.name(column)),
        [&](const InstanceType& type, const model::Requirements&, const Offering& offering,
            const model::Requirements&) {
          const auto known = room.find(&type);
          if (known != room.end()) return request[column] <= known->second;
          Row own = prepared.columns.row(offering.allocatable.value_or(type.allocatable));
          prepared.columns.limit_volumes(own, type.attach_limits);
          return request[column] <= own[column];
        },
        reason);
  }
}

void remove_by_limits(const Catalogue& catalogue, const PoolTable& pool,
                      const std::vector<std::int64_t>& left, PoolReason& reason) {
  for (std::size_t i = 0; i < left.size(); ++i)
    catalogue.remove(
        "limit " + pool.limited_names[i],
        [&](const InstanceType& type, const model::Requirements&, const Offering&,
            const model::Requirements&) {
          return type.capacity.amount(pool.limited_names[i]) <= left[i];
        },
        reason);
}

// What the pod demands of labels. A key that neither the pool nor its types know rules out
// everything.
void remove_by_pod_labels(const Catalogue& catalogue, const Prepared& prepared, const PodRow& pod,
                          RequirementId base, const Packer::Probe& probe, PoolReason& reason) {
  const std::vector<Way>& ways = pod.stages.back().ways;
  const auto none = [](auto&&...) { return false; };
  if (ways.empty()) {
    catalogue.remove("node affinity", none, reason);
    return;
  }
  const model::Requirements& wanted =
      prepared.requirements.at(probe.strict == kImpossible ? ways.front().strict : probe.strict);
  remove_by_labels(catalogue, wanted, "", reason);
  for (const auto& [key, set] : wanted.all()) {
    model::Requirements one;
    one.add(key, set);
    if (key != model::kHostnameLabel && !removed(reason, model::describe(key, set)) &&
        !prepared.requirements.at(base)
             .incompatible(one, prepared.requirements.may_be_undefined())
             .empty())
      catalogue.remove(model::describe(key, set), none, reason);
  }
}

}  // namespace

void count_removals(Prepared& prepared, Packer& packer, std::size_t row, std::size_t pool,
                    const Packer::Probe& probe, PoolReason& reason) {
  const PoolTable& table = prepared.pools.pools()[pool];
  const PodRow& pod = prepared.rows[row];
  const Catalogue catalogue(table);
  catalogue.count(reason);
  const auto none = [](auto&&...) { return false; };
  catalogue.remove(
      "not available now",
      [](const InstanceType&, const model::Requirements&, const Offering& offering,
         const model::Requirements&) { return offering.available; },
      reason);
  remove_by_labels(catalogue, prepared.requirements.at(table.base), "nodepool: ", reason);
  if (table.limits_nodes && packer.nodes_left(pool) <= 0)
    catalogue.remove("limit nodes", none, reason);
  remove_by_limits(catalogue, table, packer.limits_left()[pool], reason);
  for (const model::Taint& taint : table.spec().taints)
    if (model::first_untolerated({taint}, pod.source->shape.tolerations) != nullptr)
      catalogue.remove("taint " + describe(taint), none, reason);
  remove_by_pod_labels(catalogue, prepared, pod, table.base, probe, reason);
  remove_by_size(catalogue, prepared, pod.request, prepared.pools.view(pool, table.base), table,
                 reason);
  if (probe.obstacle == Packer::Obstacle::kTopology) catalogue.remove("topology", none, reason);
  if (probe.obstacle == Packer::Obstacle::kVolumes) catalogue.remove("volumes", none, reason);
}

}  // namespace karst::scheduling
