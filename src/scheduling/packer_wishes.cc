// The part of Packer that thinks of rows which were left over before: pods that these go by get
// their domains at once, and where these can follow.
#include <algorithm>

#include "scheduling/packer.h"

namespace karst::scheduling {

void Packer::note_wishes() {
  fixed_keys_.resize(prepared_.rows.size());
  wishes_.resize(prepared_.rows.size());
  rivals_.resize(prepared_.rows.size());
  balances_.resize(prepared_.rows.size());
  in_steps_.resize(prepared_.rows.size(), false);
  company_.resize(prepared_.rows.size());
  if (strategy_.troubled.empty()) return;
  note_rivals();
  const std::vector<std::vector<Wish>> rivals = rivals_;  // not those that are handed on here
  for (const std::size_t troubled : strategy_.troubled)
    for (const Constraint& constraint : prepared_.rows[troubled].stages.back().constraints) {
      if (prepared_.topology.groups()[constraint.group].key == kHostKey) {
        if (constraint.kind == ConstraintKind::kAffinity) note_company(troubled, constraint.group);
        continue;
      }
      if (constraint.kind == ConstraintKind::kSpread)
        note_balance(troubled, constraint);
      else
        note_wish(troubled, constraint, rivals[troubled]);
    }
}

// Nobody counts twice.
void Packer::add_rival(std::size_t row, const Wish& wish) {
  std::vector<Wish>& rivals = rivals_[row];
  const auto same = [&](const Wish& one) { return one.row == wish.row && one.group == wish.group; };
  if (rivals.size() < kRivalsMax && std::none_of(rivals.begin(), rivals.end(), same))
    rivals.push_back(wish);
}

// A spread that counts zones where its pods cannot be waits for others to be there. These get their
// zones at once, where there are fewest, and rather where those in trouble cannot go.
void Packer::note_balance(std::size_t troubled, const Constraint& constraint) {
  const Wish wish = wish_of(prepared_.rows[troubled], constraint.group);
  for (const PodRow& row : prepared_.rows) {
    if (row.group == prepared_.rows[troubled].group ||
        std::find(row.matched.begin(), row.matched.end(), wish.group) == row.matched.end())
      continue;
    add_rival(row.group, wish);
    fixed_keys_[row.group].push_back(prepared_.topology.groups()[wish.group].key);
    in_steps_[row.group] = strategy_.troubled_first;
    const auto& own = row.stages.back().constraints;
    if (std::any_of(own.begin(), own.end(),
                    [&](const Constraint& one) { return one.group == constraint.group; }))
      continue;
    balances_[row.group].push_back({constraint, troubled});
    balances_[row.group].back().constraint.self = true;
  }
}

Wish Packer::wish_of(const PodRow& row, GroupId group) {
  Wish wish{row.group, group, {}};
  for (const RequirementId demand : row.demands)
    for (const RequirementId volumes : row.volume_ways)
      if (const RequirementId both = prepared_.requirements.both(demand, volumes);
          both != kImpossible)
        wish.ways.push_back(both);
  return wish;
}

void Packer::note_wish(std::size_t troubled, const Constraint& constraint,
                       const std::vector<Wish>& rivals) {
  const PodRow& wishing = prepared_.rows[troubled];
  const Wish wish = wish_of(wishing, constraint.group);
  for (const PodRow& row : prepared_.rows) {
    if (row.group == wishing.group ||
        std::find(row.matched.begin(), row.matched.end(), wish.group) == row.matched.end())
      continue;
    fixed_keys_[row.group].push_back(prepared_.topology.groups()[wish.group].key);
    if (constraint.kind != ConstraintKind::kAffinity) continue;
    wishes_[row.group].push_back(wish);
    for (const Wish& rival : rivals) add_rival(row.group, rival);
  }
}

// Who keeps whom away.
void Packer::note_rivals() {
  for (const PodRow& owner : prepared_.rows)
    for (const GroupId group : owner.repels) {
      if (prepared_.topology.groups()[group].key == kHostKey) continue;
      for (const PodRow& row : prepared_.rows) {
        if (row.group == owner.group ||
            std::find(row.matched.begin(), row.matched.end(), group) == row.matched.end())
          continue;
        add_rival(row.group, wish_of(owner, group));
        add_rival(owner.group, wish_of(row, group));
      }
    }
}

// By row: 0 for those in trouble; 2 for who keeps them away, or those that they want to be beside,
// and can wait; 1 for the rest.
std::vector<int> Packer::turns_for_troubled() const {
  std::vector<int> turns(prepared_.rows.size(), 1);
  const auto rivals_wait = [&](std::size_t row) {
    for (const Wish& rival : rivals_[row]) turns[rival.row] = 2;
  };
  for (const std::size_t troubled : strategy_.troubled) rivals_wait(troubled);
  for (std::size_t row = 0; row < turns.size(); ++row)
    if (!wishes_[row].empty()) rivals_wait(row);
  for (const std::size_t troubled : strategy_.troubled) turns[troubled] = 0;
  return turns;
}

// How many others that the row's pods keep away could use the domain.
std::int64_t Packer::contested(const PodRow& row, int key, int domain) const {
  const auto& rivals = rivals_[row.group];
  return std::count_if(rivals.begin(), rivals.end(), [&](const Wish& rival) {
    return prepared_.topology.groups()[rival.group].key == key && is_meant(rival, domain);
  });
}

// Where the pods fit nowhere at all, what they ask of labels is all that is known.
bool Packer::is_meant(const Wish& wish, int domain) const {
  const int key = prepared_.topology.groups()[wish.group].key;
  const std::vector<int>& places = prepared_.reach.places(key, prepared_.rows[wish.row]);
  if (!places.empty() && !std::binary_search(places.begin(), places.end(), domain)) return false;
  return std::any_of(wish.ways.begin(), wish.ways.end(), [&](RequirementId way) {
    return prepared_.topology.allows(way, key, domain);
  });
}

// Where the wishing pods may go and nobody who is there keeps them away.
bool Packer::would_do(const Wish& wish, int domain) const {
  const auto& groups = prepared_.topology.groups();
  const int key = groups[wish.group].key;
  const PodRow& wishing = prepared_.rows[wish.row];
  const auto& constraints = wishing.stages.back().constraints;
  return is_meant(wish, domain) &&
         std::none_of(wishing.matched.begin(), wishing.matched.end(),
                      [&](GroupId group) {
                        return groups[group].repels && groups[group].key == key &&
                               count_at(counts_[group].owners, domain) > 0;
                      }) &&
         std::none_of(constraints.begin(), constraints.end(), [&](const Constraint& constraint) {
           return constraint.kind == ConstraintKind::kAntiAffinity &&
                  groups[constraint.group].key == key &&
                  count_at(counts_[constraint.group].possible, domain) > 0;
         });
}

// The first wish for the row's pods over this key that no pod fulfils yet. Pods that must be beside
// each other have no choice once the first is there.
const Wish* Packer::open_wish(const PodRow& row, int key) const {
  const auto& constraints = row.stages.back().constraints;
  for (const Wish& wish : wishes_[row.group]) {
    const bool follows =
        std::any_of(constraints.begin(), constraints.end(), [&](const Constraint& constraint) {
          return constraint.kind == ConstraintKind::kAffinity && constraint.group == wish.group;
        });
    if (prepared_.topology.groups()[wish.group].key != key || left_[wish.row] == 0 ||
        (follows && counts_[wish.group].total > 0))
      continue;
    const std::vector<std::int32_t>& sure = counts_[wish.group].sure;
    bool is_fulfilled = false;
    for (std::size_t domain = 0; domain < sure.size() && !is_fulfilled; ++domain)
      is_fulfilled = sure[domain] > 0 && would_do(wish, static_cast<int>(domain));
    if (!is_fulfilled) return &wish;
  }
  return nullptr;
}

bool Packer::wishes_allow(const PodRow& row, std::size_t node) const {
  for (const Wish& one : wishes_[row.group]) {
    const int key = prepared_.topology.groups()[one.group].key;
    const Wish* wish = open_wish(row, key);
    if (wish == nullptr) continue;
    const int domain = prepared_.topology.node_domain(key, node);
    if (domain == kNoDomain || !would_do(*wish, domain)) return false;
  }
  return true;
}

}  // namespace karst::scheduling
