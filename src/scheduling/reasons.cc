#include "scheduling/reasons.h"

#include <algorithm>
#include <string>

#include "model/labels.h"
#include "model/quantity.h"
#include "scheduling/label_hint.h"
#include "scheduling/removals.h"

namespace karst::scheduling {

std::string describe(const model::Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" +
         std::string(model::taint_effect_name(taint.effect));
}

namespace {

using Obstacle = Packer::Obstacle;

constexpr std::size_t kCountsShownMax = 25;

struct Said {
  const char* code;
  std::string text;
};

std::string untolerated(const PoolTable& pool, const PodRow& pod) {
  std::string text;
  for (const model::Taint& taint : pool.spec().taints)
    if (!model::tolerates(pod.source->shape.tolerations, taint) &&
        taint.effect != model::TaintEffect::kPreferNoSchedule)
      text += (text.empty() ? "" : "; ") + std::string("did not tolerate taint (taint=") +
              describe(taint) + ")";
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
};

Met what_is_met(Prepared& prepared, std::size_t at, const PodRow& pod, RequirementId together) {
  const PoolTable& pool = prepared.pools.pools()[at];
  const model::Requirements& wanted = prepared.requirements.at(together);
  std::vector<bool> fit(pool.types.size(), false);
  std::vector<bool> known(pool.types.size(), false);
  for (const Machine& machine : prepared.pools.view(at, pool.base).machines) {
    known[machine.type] = true;
    if (fits(pod.request, machine.room)) fit[machine.type] = true;
  }
  Met met;
  for (std::size_t i = 0; i < pool.types.size(); ++i) {
    const TypeRow& type = pool.types[i];
    if (!known[i])
      fit[i] = fits(pod.request, prepared.columns.row(pool.source->types[type.type].allocatable));
    const bool requirements = type.requirements.intersects(wanted);
    const bool offering =
        std::any_of(type.offers.begin(), type.offers.end(), [&](const auto& offer) {
          return wanted.incompatible(offer.demands, prepared.requirements.may_be_undefined())
              .empty();
        });
    met.requirements |= requirements;
    met.fits |= fit[i];
    met.offering |= offering;
    met.requirements_and_fits |= requirements && fit[i];
    met.requirements_and_offering |= requirements && offering;
    met.fits_and_offering |= fit[i] && offering;
  }
  return met;
}

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
std::string resources_text(const Prepared& prepared, const View& base, const PodRow& pod) {
  Row least(prepared.columns.size(), 0);
  if (!base.machines.empty()) least = base.machines.front().overhead->amounts;
  Row most = least;
  for (const Machine& machine : base.machines)
    for (std::size_t i = 0; i < least.size(); ++i) {
      least[i] = std::min(least[i], machine.overhead->amounts[i]);
      most[i] = std::max(most[i], machine.overhead->amounts[i]);
    }
  const bool same = least == most;
  add_times(least, pod.request, 1);
  add_times(most, pod.request, 1);
  if (same) return resources_json(prepared.columns.resources(least));
  return "min=" + resources_json(prepared.columns.resources(least)) +
         ", max=" + resources_json(prepared.columns.resources(most));
}

// Requirements and resources, as Karpenter ends what it says about instance types.
std::string details(Prepared& prepared, std::size_t pool, const PodRow& pod,
                    RequirementId together) {
  return ", requirements=" + describe(prepared.requirements.at(together)) + ", resources=" +
         resources_text(prepared, prepared.pools.view(pool, prepared.pools.pools()[pool].base),
                        pod);
}

Said not_reserved() {
  return {"reserved",
          "one or more instance types with compatible reserved offerings are available, but could "
          "not be reserved"};
}

Said machines_text(Prepared& prepared, Packer& packer, std::size_t row, std::size_t pool,
                   const Packer::Probe& probe) {
  const PodRow& pod = prepared.rows[row];
  const View& view = prepared.pools.view(pool, probe.together);
  const std::vector<std::int64_t>& left = packer.limits_left()[pool];
  bool some_fit = false;
  bool some_within = false;
  bool all_reserved = true;  // of those
  for (const Machine& machine : view.machines) {
    if (!fits(pod.request, machine.room)) continue;
    some_fit = true;
    const bool within = covers(left, prepared.pools.pools()[pool].types[machine.type].limited);
    some_within |= within;
    all_reserved &= !within || machine.reservation != kNotReserved;
  }
  const std::string name = prepared.pools.pools()[pool].spec().name.str();
  if (some_fit && !some_within)
    return {"limit",
            "all available instance types exceed limits for nodepool (NodePool=" + name + ")"};
  if (some_within && all_reserved) return not_reserved();
  if (some_fit) return {"host_port", "host ports are taken by DaemonSets on every instance type"};
  Said said = say(what_is_met(prepared, pool, pod, probe.together));
  constexpr std::int64_t kLikelyTypoCpuMillis = 1'000'000'000;
  if (said.text == "no instance type has enough resources" &&
      pod.source->shape.requests.cpu_millis >= kLikelyTypoCpuMillis)
    said.text += " (CPU request >= 1 Million, m vs M typo?)";
  said.text += details(prepared, pool, pod, probe.together);
  return said;
}

std::string domains_text(const Prepared& prepared, const std::string& key, RequirementId id) {
  const model::ValueSet* set = prepared.requirements.at(id).find(key);
  return model::describe(key, set == nullptr ? model::ValueSet::any() : *set);
}

// `counts`: of pods that the group counts, or of those that keep them away.
std::string counts_text(const Prepared& prepared, const Packer& packer,
                        const std::vector<std::int32_t>& counts, GroupId group, const PodRow& pod) {
  const TopologyGroup& own = prepared.topology.groups()[group];
  std::vector<std::pair<std::string, std::int32_t>> shown;
  const std::size_t nodes = prepared.problem.nodes.size();
  if (own.key == kHostKey) {
    for (std::size_t host = 0; host < counts.size(); ++host)
      if (counts[host] > 0)
        shown.emplace_back(host < nodes ? prepared.problem.nodes[host].name
                                        : "new node " + std::to_string(host - nodes + 1),
                           counts[host]);
  } else {
    const auto key = static_cast<std::size_t>(own.key);
    const std::vector<int> reach =
        own.is_spread ? packer.counted_domains(group, pod) : std::vector<int>();
    for (std::size_t domain = 0; domain < prepared.domains.size(key); ++domain) {
      const int id = static_cast<int>(domain);
      if (own.is_spread && count_at(counts, id) == 0 &&
          !std::binary_search(reach.begin(), reach.end(), id))
        continue;
      shown.emplace_back(prepared.domains.name(key, id), count_at(counts, id));
    }
  }
  std::sort(shown.begin(), shown.end());
  std::string text;
  for (std::size_t i = 0; i < shown.size() && i < kCountsShownMax; ++i)
    text += (i == 0 ? "" : ", ") + shown[i].first + ": " + std::to_string(shown[i].second);
  if (shown.size() > kCountsShownMax)
    text += " and " + std::to_string(shown.size() - kCountsShownMax) + " others";
  return text;
}

std::string topology_text(Prepared& prepared, Packer& packer, std::size_t row, std::size_t pool,
                          const Packer::Probe& probe) {
  const auto [blocks, group, is_anothers] = packer.blocking(row, pool, probe);
  const std::string kind = blocks == ConstraintKind::kSpread     ? "topology spread"
                           : blocks == ConstraintKind::kAffinity ? "pod affinity"
                                                                 : "pod anti-affinity";
  const GroupCounts& own = packer.counts()[group];
  const std::vector<std::int32_t>& counts = is_anothers                               ? own.owners
                                            : blocks == ConstraintKind::kAntiAffinity ? own.possible
                                                                                      : own.sure;
  const std::string key = prepared.topology.key_name(prepared.topology.groups()[group].key);
  return "unsatisfiable topology constraint for " + kind + ", key=" + key +
         " (counts = " + counts_text(prepared, packer, counts, group, prepared.rows[row]) +
         ", podDomains = " + domains_text(prepared, key, probe.strict) +
         ", nodeDomains = " + domains_text(prepared, key, probe.together) + ")";
}

std::string min_values_text(const std::vector<std::string>& unmet) {
  std::string keys;
  for (const std::string& key : unmet) keys += (keys.empty() ? "" : " ") + key;
  return "minValues requirement is not met for label(s) (label(s)=[" + keys + "])";
}

// The first of the pod's demands that the pool or its volumes refuse.
std::string conflict_text(const Prepared& prepared, const PodRow& pod, RequirementId base,
                          bool of_volumes) {
  if (of_volumes)
    return "incompatible volume requirements, " +
           (pod.volume_ways.empty() ? std::string("the pod's volumes are in different places")
                                    : prepared.requirements.conflict(base, pod.volume_ways[0]));
  const std::vector<Way>& ways = pod.stages.back().ways;
  const std::string text = ways.empty() ? "no node affinity term can be met by any node"
                                        : prepared.requirements.conflict(base, ways.back().wanted);
  return "incompatible requirements, " + text +
         label_hint(text, prepared.requirements.may_be_undefined());
}

Said say(Prepared& prepared, Packer& packer, Removals& removals, std::size_t row, std::size_t at,
         const Packer::Probe& probe) {
  const PoolTable& pool = prepared.pools.pools()[at];
  const PodRow& pod = prepared.rows[row];
  switch (probe.obstacle) {
    case Obstacle::kNoTypes:
      return {"no_offering", "nodepool requirements filtered out all available instance types"};
    case Obstacle::kNodeLimit:
      return {"limit", "node limits have been exhausted for nodepool"};
    case Obstacle::kLimit:
      return {"limit", "all available instance types exceed limits for nodepool"};
    case Obstacle::kTaints:
      return {"taint", untolerated(pool, pod)};
    case Obstacle::kRequirements:
      return {"requirements", conflict_text(prepared, pod, pool.base, false)};
    case Obstacle::kVolumes:
      return {"volume", conflict_text(prepared, pod, probe.together, true)};
    case Obstacle::kTopology:
      return {"topology", topology_text(prepared, packer, row, at, probe)};
    case Obstacle::kMachines:
      return machines_text(prepared, packer, row, at, probe);
    case Obstacle::kMinValues:
      return {"min_values", min_values_text(removals.unmet_values(row, at, probe)) +
                                details(prepared, at, pod, probe.together)};
    case Obstacle::kReserved:
      return not_reserved();
    case Obstacle::kNothing:
      break;
  }
  return {"reserved", "a nodepool that comes first may have a reservation free later"};
}

// Karpenter leaves a pod alone that is pinned to a host, and says so. karst gives it the host if
// there is room; a node that comes is another one.
bool is_pinned(const model::PodShape& shape) {
  const auto is_host = [](const auto& expression) {
    return expression.key == model::kHostnameLabel && expression.op != model::Operator::kNotIn &&
           expression.op != model::Operator::kDoesNotExist;
  };
  return model::has_label(shape.node_selector, model::kHostnameLabel) ||
         std::any_of(shape.required_terms.begin(), shape.required_terms.end(),
                     [&](const model::NodeSelectorTerm& term) {
                       return std::any_of(term.expressions.begin(), term.expressions.end(),
                                          is_host);
                     });
}

std::vector<PoolReason> pool_reasons(Prepared& prepared, Packer& packer, Removals& removals,
                                     std::size_t row) {
  const PodRow& pod = prepared.rows[row];
  const bool of_volumes = !pod.source->volume_error.empty();
  if (!pod.unsupported.empty())
    return {{"", of_volumes ? "volume" : "unsupported", pod.unsupported, 0, 0, {}}};
  if (is_pinned(pod.source->shape))
    return {{"",
             "requirements",
             model::restricted_label_text(model::kHostnameLabel,
                                          prepared.requirements.may_be_undefined(),
                                          prepared.problem.options.label_domain),
             0,
             0,
             {}}};
  if (prepared.pools.pools().empty())
    return {{"", "no_pool", "no dynamic nodepools found", 0, 0, {}}};
  std::vector<PoolReason> reasons;
  for (std::size_t pool = 0; pool < prepared.pools.pools().size(); ++pool) {
    const Packer::Probe probe = packer.probe(row, pool);
    Said said = say(prepared, packer, removals, row, pool, probe);
    PoolReason reason;
    reason.pool = prepared.pools.pools()[pool].spec().name.str();
    reason.code = said.code;
    const std::string name = " (NodePool=" + reason.pool + ")";
    reason.text = said.text.ends_with(name) ? std::move(said.text) : said.text + name;
    removals.count(row, pool, probe, reason);
    reasons.push_back(std::move(reason));
  }
  return reasons;
}

}  // namespace

std::vector<Unplaced> explain(Prepared& prepared, Packer& packer) {
  std::vector<Unplaced> unplaced;
  Removals removals(prepared, packer);
  for (std::size_t row = 0; row < prepared.rows.size(); ++row) {
    if (packer.left()[row] <= 0) continue;
    Unplaced one;
    one.group = prepared.rows[row].group;
    one.count = packer.left()[row];
    one.waits_for_reservation = packer.deferred(row);
    one.reasons = pool_reasons(prepared, packer, removals, row);
    one.message = "Failed to schedule pod, ";
    for (const PoolReason& reason : one.reasons)
      one.message += (&reason == &one.reasons.front() ? "" : "; ") + reason.text;
    unplaced.push_back(std::move(one));
  }
  return unplaced;
}

}  // namespace karst::scheduling
