#include "scheduling/relaxation_cuts.h"

#include <algorithm>

#include "model/quantity.h"

namespace karst::scheduling {
namespace {

std::string amount_text(std::string_view resource, std::int64_t amount) {
  if (resource == "cpu" && amount > 1'000) {
    std::string text = std::to_string(amount % 1'000 + 1'000);
    text.replace(0, 1, std::to_string(amount / 1'000) + ".");
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
  }
  if (resource == "cpu") return model::format_millis(amount);
  if (resource == "memory" || resource == "ephemeral-storage") return model::format_bytes(amount);
  return std::to_string(amount);
}

// A figure that people would write, no larger.
std::int64_t rounded_down(std::string_view resource, std::int64_t amount) {
  constexpr std::int64_t kMi = std::int64_t{1} << 20;
  std::int64_t unit = 1;
  if (resource == "cpu") unit = 10;
  if (resource == "memory" || resource == "ephemeral-storage")
    unit = amount >= 32 * 1024 * kMi ? 1024 * kMi : kMi;
  return amount < unit ? amount : amount / unit * unit;
}

// What is left of a pool's limits, in the order of PoolTable::limited_names.
std::vector<std::int64_t> limits_left(const PoolTable& table, const Pool& pool) {
  std::vector<std::int64_t> left;
  for (const std::string& name : table.limited_names) {
    left.push_back(INT64_MAX);
    for (const auto& [limited, limit] : pool.pool.limits)
      if (limited == name) left.back() = limit;
    for (const auto& [used, amount] : pool.used)
      if (used == name) left.back() -= amount;
  }
  return left;
}

// Calls look(room) for each machine within its pool's limits and each node: what it has for pods.
// `by_labels`: only where the row's demands on labels are met.
template <class Look>
void each_room(Prepared& prepared, const Problem& there_is, const PodRow& row, bool by_labels,
               const Look& look) {
  const auto look_at_pool = [&](std::size_t at, RequirementId requirements) {
    if (requirements == kImpossible) return;
    const PoolTable& table = prepared.pools.pools()[at];
    const std::vector<std::int64_t> left = limits_left(table, there_is.pools[table.pool]);
    for (const Machine& machine : prepared.pools.view(at, requirements).machines) {
      if (covers(left, table.types[machine.type].limited)) look(machine.room);
    }
  };
  // Its room once what has a place is there.
  const auto look_at_node = [&](std::size_t node) {
    Row room = prepared.nodes.room()[node];
    model::Resources taken = prepared.problem.nodes[node].available;
    taken -= there_is.nodes[node].available;
    add_times(room, prepared.columns.row(taken), -1);
    look(room);
  };
  for (const Way& way : row.stages.back().ways) {
    for (std::size_t pool = 0; pool < prepared.pools.pools().size(); ++pool) {
      const RequirementId base = prepared.pools.pools()[pool].base;
      look_at_pool(pool, by_labels ? prepared.requirements.combine(base, way.strict) : base);
    }
    for (const std::size_t node : prepared.nodes.order())
      if (!by_labels || prepared.nodes.meets(node, way.strict)) look_at_node(node);
    if (!by_labels) return;
  }
}

// The most of one resource that a machine or a node which has enough of the others offers a pod of
// this row; where none meets its demands on labels, the most of any.
std::int64_t most_offered(Prepared& prepared, const Problem& there_is, const PodRow& row,
                          std::size_t column) {
  Row rest = row.request;  // what the pod asks of the other columns
  rest[column] = 0;
  std::int64_t most = 0;
  for (const bool by_labels : {true, false}) {
    each_room(prepared, there_is, row, by_labels, [&](Amounts room) {
      if (fits(rest, room)) most = std::max(most, room[column]);
    });
    if (most > 0) break;
  }
  return most;
}

// A pod that asks for much less is another pod: such a cut is no advice.
constexpr std::int64_t kCutDivisorMax = 4;

bool can_be_cut(const Prepared& prepared, std::size_t column) {
  const std::string resource(prepared.columns.name(column));
  return column != kPodsColumn && prepared.columns.volumes(resource) == prepared.columns.size();
}

// Of several resources, each to so much.
struct Cuts {
  std::vector<std::pair<std::size_t, std::int64_t>> to;  // column and amount
  // The share that is left of the resource that loses most.
  std::int64_t least = 0;
  std::int64_t of = 1;
};

// What the pod would have to ask for to fit there; nothing to cut, or too much: empty.
Cuts cuts_for(const Prepared& prepared, const PodRow& row, Amounts room) {
  Cuts cuts{{}, 1, 1};
  for (std::size_t column = 0; column < row.request.size(); ++column) {
    const std::int64_t asked = row.request[column];
    if (asked <= 0 || asked <= room[column]) continue;
    if (!can_be_cut(prepared, column)) return {};
    const std::int64_t most = rounded_down(prepared.columns.name(column), room[column]);
    if (most <= 0 || most < asked / kCutDivisorMax) return {};
    cuts.to.emplace_back(column, most);
    if (static_cast<Wide>(most) * cuts.of < static_cast<Wide>(cuts.least) * asked) {
      cuts.least = most;
      cuts.of = asked;
    }
  }
  return cuts;
}

Change cut(const Prepared& prepared, const PodRow& row, const Cuts& cuts) {
  const bool is_small = static_cast<Wide>(cuts.least) * 4 >= static_cast<Wide>(cuts.of) * 3;
  Change all = change(is_small ? kSmallCut : kLargeCut, "", "", "", {});
  std::vector<std::pair<std::string, std::int64_t>> amounts;
  for (const auto& [column, most] : cuts.to) {
    const std::string resource(prepared.columns.name(column));
    const Change one = change(kSmallCut, resource, amount_text(resource, row.request[column]),
                              amount_text(resource, most), {});
    const bool is_first = amounts.empty();
    amounts.emplace_back(resource, most);
    all.relaxation = is_first ? one.relaxation : joined(all.relaxation, one.relaxation);
  }
  all.apply = [amounts](PodGroup& one) {
    for (const auto& [resource, most] : amounts) one.shape.requests.set_amount(resource, most);
  };
  return all;
}

}  // namespace

void add_cuts(Prepared& prepared, const Problem& there_is, const PodRow& row,
              std::vector<Change>& changes) {
  for (std::size_t column = 0; column < row.request.size(); ++column) {
    const std::int64_t asked = row.request[column];
    if (asked <= 0 || !can_be_cut(prepared, column)) continue;
    const std::int64_t most =
        rounded_down(prepared.columns.name(column), most_offered(prepared, there_is, row, column));
    if (asked <= most || most <= 0 || most < asked / kCutDivisorMax) continue;
    changes.push_back(cut(prepared, row, {{{column, most}}, most, asked}));
  }
  if (!changes.empty()) return;
  Cuts nearest;
  each_room(prepared, there_is, row, true, [&](Amounts room) {
    Cuts found = cuts_for(prepared, row, room);
    if (found.to.size() > 1 &&
        static_cast<Wide>(found.least) * nearest.of > static_cast<Wide>(nearest.least) * found.of)
      nearest = std::move(found);
  });
  if (!nearest.to.empty()) changes.push_back(cut(prepared, row, nearest));
}

}  // namespace karst::scheduling
