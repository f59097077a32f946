#include "scheduling/reasons.h"

#include <algorithm>
#include <string>

#include "model/quantity.h"

namespace karst::scheduling {
namespace {

PoolReason reason(const PoolTable& pool, std::string code, std::string text) {
  return {pool.spec().name.str(), std::move(code), std::move(text), 0, 0, {}};
}

std::string untolerated(const PoolTable& pool, const model::PodShape& shape) {
  std::string text;
  for (const model::Taint& taint : pool.spec().taints) {
    if (model::first_untolerated({taint}, shape.tolerations) == nullptr) continue;
    text += (text.empty() ? "" : "; ") + std::string("did not tolerate taint (taint=") + taint.key +
            (taint.value.empty() ? "" : "=" + taint.value) + ":" +
            std::string(model::taint_effect_name(taint.effect)) + ")";
  }
  return text;
}

// Which of the three demands are met by some instance type, alone and together.
struct Met {
  bool requirements = false;
  bool fits = false;
  bool offering = false;
  bool requirements_and_fits = false;
  bool requirements_and_offering = false;
  bool fits_and_offering = false;
  bool all = false;
};

bool has_offering(const PoolTable& pool, const TypeRow& type, const model::Requirements& wanted) {
  const auto allows = [&](std::string_view key, const std::string& value) {
    const model::ValueSet* set = wanted.find(key);
    return set == nullptr || set->contains(value);
  };
  for (std::size_t bit = type.first_offer; bit < type.last_offer; ++bit)
    if (allows(model::kZoneLabel,
               std::string(value_of(pool.source(type, bit), model::kZoneLabel))) &&
        allows(model::kCapacityTypeLabel,
               std::string(value_of(pool.source(type, bit), model::kCapacityTypeLabel))))
      return true;
  return false;
}

Met what_is_met(const PoolTable& pool, const Row& request, const model::Requirements& wanted,
                bool limited) {
  Met met;
  for (const TypeRow& type : pool.types()) {
    if (limited && !pool.within_limits(type, {})) continue;
    const bool requirements = type.requirements.intersects(wanted);
    const bool fits = fit_count(type.room, request, 1) > 0;
    const bool offering = has_offering(pool, type, wanted);
    met.requirements |= requirements;
    met.fits |= fits;
    met.offering |= offering;
    met.requirements_and_fits |= requirements && fits;
    met.requirements_and_offering |= requirements && offering;
    met.fits_and_offering |= fits && offering;
    met.all |= requirements && fits && offering;
  }
  return met;
}

struct Said {
  const char* code;
  const char* text;
};

Said say(const Met& met) {
  if (!met.requirements && !met.fits && !met.offering)
    return {"requirements",
            "no instance type met the scheduling requirements or had enough resources or had a "
            "required offering"};
  if (!met.requirements && !met.fits)
    return {"requirements",
            "no instance type met the scheduling requirements or had enough resources"};
  if (!met.requirements && !met.offering)
    return {"requirements",
            "no instance type met the scheduling requirements or had a required offering"};
  if (!met.fits && !met.offering)
    return {"resources", "no instance type had enough resources or had a required offering"};
  if (!met.requirements) return {"requirements", "no instance type met all requirements"};
  if (!met.fits) return {"resources", "no instance type has enough resources"};
  if (!met.offering) return {"no_offering", "no instance type has the required offering"};
  if (met.requirements_and_fits)
    return {"no_offering",
            "no instance type which met the scheduling requirements and had enough resources, had "
            "a required offering"};
  if (met.fits_and_offering)
    return {"requirements",
            "no instance type which had enough resources and the required offering met the "
            "scheduling requirements"};
  if (met.requirements_and_offering)
    return {"resources",
            "no instance type which met the scheduling requirements and the required offering had "
            "the required resources"};
  return {"resources", "no instance type met the requirements/resources/offering tuple"};
}

std::string resources_json(const model::Resources& resources) {
  std::vector<std::pair<std::string, std::string>> amounts;
  const auto add = [&](std::string name, std::string amount) {
    amounts.emplace_back(std::move(name), std::move(amount));
  };
  if (resources.cpu_millis != 0) add("cpu", model::format_millis(resources.cpu_millis));
  if (resources.memory_bytes != 0) add("memory", model::format_bytes(resources.memory_bytes));
  if (resources.ephemeral_bytes != 0)
    add("ephemeral-storage", model::format_bytes(resources.ephemeral_bytes));
  if (resources.pods != 0) add("pods", std::to_string(resources.pods));
  for (const auto& [name, amount] : resources.extended) add(name, std::to_string(amount));
  std::sort(amounts.begin(), amounts.end());
  std::string text = "{";
  for (const auto& [name, amount] : amounts)
    text += (text.size() == 1 ? "\"" : ",\"") + name + "\":\"" + amount + "\"";
  return text + "}";
}

// The pod's request with the DaemonSets' overhead, as "{…}" or "min={…}, max={…}" where types
// differ.
std::string resources_text(const PoolTable& pool, const Row& request, const Columns& columns) {
  Row least = pool.types().front().overhead;
  Row most = least;
  for (const TypeRow& type : pool.types())
    for (std::size_t i = 0; i < least.size(); ++i) {
      least[i] = std::min(least[i], type.overhead[i]);
      most[i] = std::max(most[i], type.overhead[i]);
    }
  const bool same = least == most;
  add_times(least, request, 1);
  add_times(most, request, 1);
  if (same) return resources_json(columns.resources(least));
  return "min=" + resources_json(columns.resources(least)) +
         ", max=" + resources_json(columns.resources(most));
}

PoolReason instance_type_reason(const GroupRow& group, const PoolTable& pool,
                                const Columns& columns, const model::Requirements& wanted) {
  const std::string name = "(NodePool=" + pool.spec().name.str() + ")";
  if (what_is_met(pool, group.request, wanted, false).all) {
    if (!what_is_met(pool, group.request, wanted, true).all)
      return reason(pool, "limit",
                    "all available instance types exceed limits for nodepool " + name);
    return reason(pool, "unsupported", "host ports are taken by DaemonSets on every instance type");
  }
  const Said said = say(what_is_met(pool, group.request, wanted, false));
  constexpr std::int64_t kLikelyTypoCpuMillis = 1'000'000'000;
  std::string text = said.text;
  if (std::string_view(said.text) == "no instance type has enough resources" &&
      group.source->shape.requests.cpu_millis >= kLikelyTypoCpuMillis)
    text += " (CPU request >= 1 Million, m vs M typo?)";
  return reason(pool, said.code,
                text + ", requirements=" + describe(wanted) +
                    ", resources=" + resources_text(pool, group.request, columns));
}

PoolReason pool_reason(const GroupRow& group, const PoolTable& pool, const Columns& columns,
                       const RequirementTable& requirements) {
  const std::string name = "(NodePool=" + pool.spec().name.str() + ")";
  if (!pool.unsupported().empty())
    return reason(pool, "unsupported", pool.unsupported() + " " + name);
  if (pool.types().empty())
    return reason(pool, "no_offering",
                  "nodepool requirements filtered out all available instance types " + name);
  if (pool.nodes_remaining && *pool.nodes_remaining <= 0)
    return reason(pool, "limit", "node limits have been exhausted for nodepool " + name);
  if (std::string text = untolerated(pool, group.source->shape); !text.empty())
    return reason(pool, "taint", std::move(text));
  if (group.alternatives.empty())
    return reason(pool, "requirements",
                  "incompatible requirements, no node affinity term can be met by any node");
  std::string conflict;
  for (const RequirementId wanted : group.alternatives) {
    conflict = requirements.conflict(pool.base(), wanted);
    if (!conflict.empty()) continue;
    model::Requirements both = requirements.at(pool.base());
    both.add(requirements.at(wanted));
    return instance_type_reason(group, pool, columns, both);
  }
  return reason(pool, "requirements", "incompatible requirements, " + conflict);
}

}  // namespace

std::vector<PoolReason> reasons_for(const GroupRow& group, const std::vector<PoolTable>& pools,
                                    const Columns& columns, const RequirementTable& requirements) {
  if (!group.unsupported.empty()) return {{"", "unsupported", group.unsupported, 0, 0, {}}};
  if (pools.empty()) return {{"", "no_pool", "no dynamic nodepools found", 0, 0, {}}};
  std::vector<PoolReason> reasons;
  for (const PoolTable& pool : pools)
    reasons.push_back(pool_reason(group, pool, columns, requirements));
  return reasons;
}

}  // namespace karst::scheduling
