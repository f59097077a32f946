// The part of Packer that asks the claims that there are, in order, and no more of them than it
// must.
#include <algorithm>

#include "scheduling/packer.h"

namespace karst::scheduling {

bool Packer::place_emptiest(std::size_t row, const Stage& stage) {
  const auto pods_of = [&](std::size_t at) { return claims_[at].pods; };
  Fit fit;
  while (const auto first = queue_.first(ClaimQueue::Kind::kWithRoom, pods_of)) {
    const std::size_t at = first->entry.claim;
    if (!fits_claim(claims_[at], row, stage, fit)) {
      refuse(*first, prepared_.rows[row], stage);
      continue;
    }
    join(at, row, fit);
    return true;
  }
  return place_on_new(row, fits_new(row, stage, fit), fit);
}

// First claims that can take the pod as they are; if none, whatever becomes least dearer.
bool Packer::place_cheapest(std::size_t row, const Stage& stage) {
  const auto pods_of = [&](std::size_t at) { return claims_[at].pods; };
  Fit best;
  // Until something is found everything is before it.
  ClaimQueue::Entry place{INT64_MAX, INT64_MAX, kNone};
  std::size_t looks = 0;  // at claims that would take it
  const auto look = [&](const ClaimQueue::First& first) {
    Fit fit;
    const auto& [least, pods, at] = first.entry;
    const Claim& claim = claims_[at];
    if (!fits_claim(claim, row, stage, fit)) return refuse(first, prepared_.rows[row], stage);
    const ClaimQueue::Entry found{fit.price - claim.view->machines[claim.machine].price, pods, at};
    queue_.pass(first);
    ++looks;
    if (!(found < place)) return;
    best = std::move(fit);
    place = found;
  };
  while (place.least > 0) {
    const auto first = queue_.first(ClaimQueue::Kind::kWithRoom, pods_of);
    if (!first) break;
    // Those that have a zone already cost nothing more; the others are much alike.
    if (looks >= kDearerLooksMax &&
        !has_one_domain_each(prepared_.topology, *claims_[first->entry.claim].view))
      queue_.close(*first);
    else
      look(*first);
  }
  queue_.end_pod();
  if (place.least > 0) {
    // Of two that cost the same one with room is better, whatever else it is.
    if (place.claim != kNone) place.pods = 0;
    Fit fresh;
    const Found found = fits_new(row, stage, fresh);
    const std::int64_t most = found == Found::kYes ? fresh.price : INT64_MAX;
    queue_dearer(std::min(most, place.least), prepared_.rows[row], stage);
    looks = 0;
    while (const auto first = queue_.first(ClaimQueue::Kind::kDearer, pods_of)) {
      if (!(first->entry < place) || first->entry.least > most || looks >= kDearerLooksMax) break;
      look(*first);
    }
    if (place.claim == kNone || place.least > most) return place_on_new(row, found, fresh);
  }
  join(place.claim, row, best);
  return true;
}

// Claims in the order in which the row's pods look at them. Pods of one size share it.
void Packer::queue_claims(std::size_t row, const Stage& stage) {
  const PodRow& pod = prepared_.rows[row];
  const auto may_share = [&](std::size_t view) {
    return may_share_lane(prepared_.pools.view_at(view), pod, stage);
  };
  queue_.end_pod();
  const bool same_size =
      queued_row_ != kNone && prepared_.rows[queued_row_].size_class == pod.size_class;
  const bool same_row = queued_row_ == row && queued_stage_ == &stage;
  queued_row_ = row;
  queued_stage_ = &stage;
  if (!same_size) {
    queue_.clear();
    put_off_.clear();
    dearer_up_to_ = INT64_MIN;
    const std::size_t columns = pod.request.size();
    for (std::size_t at = 0; at < claims_.size(); ++at)
      if (!strategy_.cheapest_claim ||
          fits_beside(nothing_.data(), pod.request.data(), &slack_[at * columns], columns))
        queue_claim(at);
  }
  if (same_row)
    queue_.open_new(may_share);
  else
    queue_.begin_row(may_share);
}

// What is left on the claim's machine, and what a dearer one costs more at least.
void Packer::note_slack(std::size_t at) {
  const Claim& claim = claims_[at];
  const View& view = *claim.view;
  const std::size_t columns = claim.content.size();
  slack_.resize(claims_.size() * columns, 0);
  next_growth_.resize(claims_.size(), INT64_MIN);
  const Machine& machine = view.machines[claim.machine];
  for (std::size_t i = 0; i < columns; ++i)
    slack_[at * columns + i] = machine.room[i] - claim.content[i];
  next_growth_[at] = INT64_MIN;
  if (claim.is_reserved || !claim.held.empty()) return;
  const auto step = std::upper_bound(view.steps.begin(), view.steps.end(), claim.machine);
  if (step == view.steps.end())
    next_growth_[at] = INT64_MAX;
  else
    next_growth_[at] =
        view.step_prices[static_cast<std::size_t>(step - view.steps.begin())] - machine.price;
}

void Packer::queue_claim(std::size_t at) {
  const Row& request = prepared_.rows[queued_row_].request;
  const Claim& claim = claims_[at];
  const View& view = *claim.view;
  const bool has_room =
      fits_beside(nothing_.data(), request.data(), &slack_[at * request.size()], request.size());
  const auto may_hold = [&](std::size_t machine) {
    return fits_beside(claim.content.data(), request.data(), view.machines[machine].room.data(),
                       request.size());
  };
  if (has_room ||
      (!strategy_.cheapest_claim &&
       (claim.is_reserved || std::any_of(view.largest.begin(), view.largest.end(), may_hold))))
    return queue_.add(ClaimQueue::Kind::kWithRoom, view.index, {0, claim.pods, at});
  if (strategy_.cheapest_claim && dearer_up_to_ != INT64_MIN && next_growth_[at] <= dearer_up_to_)
    queue_if_larger(at, request, dearer_up_to_);
}

// Once it is known that a machine that holds the pod as well costs up to `most` more; if it costs
// more, the claim is put off, but for one that limits count for: they leave less later.
void Packer::queue_if_larger(std::size_t at, const Row& request, std::int64_t most) {
  const Claim& claim = claims_[at];
  if (!claim.held.empty()) most = INT64_MAX;
  const ClaimQueue::Entry entry{least_growth(claim, request, most), claim.pods, at};
  if (entry.least == INT64_MAX) return;
  if (entry.least <= most)
    queue_.add(ClaimQueue::Kind::kDearer, claim.view->index, entry);
  else
    put_off_.push_back(entry);
}

// Claims without room for whom a larger machine may cost up to `most` more.
void Packer::queue_dearer(std::int64_t most, const PodRow& row, const Stage& stage) {
  if (most <= dearer_up_to_) return;
  const Row& request = row.request;
  for (std::size_t i = put_off_.size(); i-- > 0;) {
    const ClaimQueue::Entry entry = put_off_[i];
    if (entry.least > most) continue;
    put_off_[i] = put_off_.back();
    put_off_.pop_back();
    if (claims_[entry.claim].pods == entry.pods) queue_if_larger(entry.claim, request, most);
  }
  for (std::size_t at = 0; at < claims_.size(); ++at)
    if (next_growth_[at] <= most &&
        (dearer_up_to_ == INT64_MIN || next_growth_[at] > dearer_up_to_) &&
        !fits_beside(nothing_.data(), request.data(), &slack_[at * request.size()], request.size()))
      queue_if_larger(at, request, most);
  dearer_up_to_ = most;
  queue_.open_new(
      [&](std::size_t view) { return may_share_lane(prepared_.pools.view_at(view), row, stage); });
}

// Whether some claim of the view could take such a pod, as far as labels and taints go.
bool Packer::may_share_lane(const View& view, const PodRow& row, const Stage& stage) {
  const PoolTable& table = prepared_.pools.pools()[view.pool];
  if (!tolerates(row, stage, table.spec().taints)) return false;
  RequirementTable& requirements = prepared_.requirements;
  return std::any_of(stage.ways.begin(), stage.ways.end(), [&](const Way& way) {
    const RequirementId with_pod = requirements.combine(view.requirements, way.wanted);
    return with_pod != kImpossible && requirements.combine(table.base, way.wanted) != kImpossible &&
           std::any_of(row.volume_ways.begin(), row.volume_ways.end(), [&](RequirementId volumes) {
             return requirements.combine(with_pod, volumes) != kImpossible;
           });
  });
}

// The claim does not take the pod. Who is on its host will not leave again; and where the claims of
// a view have no choice of domains, the counts refuse one as they refuse the other.
void Packer::refuse(const ClaimQueue::First& first, const PodRow& row, const Stage& stage) {
  const Claim& claim = claims_[first.entry.claim];
  const auto& groups = prepared_.topology.groups();
  const bool seeks_host = std::any_of(stage.constraints.begin(), stage.constraints.end(),
                                      [&](const Constraint& constraint) {
                                        return constraint.kind == ConstraintKind::kAffinity &&
                                               groups[constraint.group].key == kHostKey;
                                      });
  const int host = static_cast<int>(node_count() + first.entry.claim);
  if (!seeks_host && !hosts_are_final_ &&
      std::none_of(stage.ways.begin(), stage.ways.end(),
                   [&](const Way& way) { return host_allows(row, stage, host, way.strict); }))
    return queue_.park(first);
  const View& view = *claim.view;
  if (has_one_domain_each(prepared_.topology, view) &&
      std::none_of(stage.ways.begin(), stage.ways.end(),
                   [&](const Way& way) { return stays_where_it_is(view, row, stage, way.strict); }))
    return queue_.close(first);
  queue_.pass(first);
}

// The first of the view's steps, from `from` on and before `to`, with room for content and request
// that the pool's limits let the claim (nullptr: a new one) come up as.
std::size_t Packer::first_step(const Claim* claim, const View& view, const Row& content,
                               const Row& request, std::size_t from, std::size_t to) {
  const std::vector<std::int64_t>& left = limits_[view.pool];
  if (left.empty()) return view.step_rooms.first_for(content, request, from, to);
  content_and_limits_ = content;
  content_and_limits_.resize(content.size() + left.size(), 0);
  request_and_limits_ = request;
  for (std::size_t i = 0; i < left.size(); ++i)
    request_and_limits_.push_back(kUnlimited - left[i] - (claim == nullptr ? 0 : claim->held[i]));
  return view.step_rooms.first_for(content_and_limits_, request_and_limits_, from, to);
}

// What the claim becomes dearer at least when it takes this too. Where that is more than `most`: at
// least so much; INT64_MAX: nothing would hold it.
std::int64_t Packer::least_growth(const Claim& claim, const Row& request, std::int64_t most) {
  if (claim.is_reserved) return 0;  // what it would become is a matter of reservations
  const View& view = *claim.view;
  const std::int64_t price = view.machines[claim.machine].price;
  // Where limits count, a cheaper machine that was kept out may be let in now.
  std::size_t step = 0;
  if (claim.held.empty())
    step = static_cast<std::size_t>(
        std::lower_bound(view.steps.begin(), view.steps.end(), claim.machine) - view.steps.begin());
  const std::int64_t dearest = most < INT64_MAX - price ? price + most : INT64_MAX;
  const auto end = std::upper_bound(view.step_prices.begin(), view.step_prices.end(), dearest);
  step = first_step(&claim, view, claim.content, request, step,
                    static_cast<std::size_t>(end - view.step_prices.begin()));
  return step == view.steps.size() ? INT64_MAX : view.step_prices[step] - price;
}

// For a view that leaves one domain of every key: whether the row's pods may be there, as far as
// counts go. What is chosen then is what the view has.
bool Packer::stays_where_it_is(const View& view, const PodRow& row, const Stage& stage,
                               RequirementId strict) {
  const auto& groups = prepared_.topology.groups();
  const auto domain_of = [&](GroupId group) {
    return view.domains[static_cast<std::size_t>(groups[group].key)].front();
  };
  for (const GroupId group : row.matched)
    if (groups[group].key != kHostKey && groups[group].repels &&
        count_at(counts_[group].owners, domain_of(group)) > 0)
      return false;
  for (const Constraint& constraint : stage.constraints) {
    if (groups[constraint.group].key == kHostKey) continue;
    const int domain = domain_of(constraint.group);
    const bool allowed = constraint.kind == ConstraintKind::kAffinity
                             ? count_at(counts_[constraint.group].sure, domain) > 0 ||
                                   may_be_first(constraint, strict)
                             : domain_allowed(nullptr, constraint, row, strict, domain);
    if (!allowed) return false;
  }
  return std::all_of(balances_[row.group].begin(), balances_[row.group].end(),
                     [&](const Balance& balance) {
                       return domain_allowed(nullptr, balance.constraint,
                                             prepared_.rows[balance.row], kAnyWay,
                                             domain_of(balance.constraint.group));
                     }) &&
         std::none_of(wishes_[row.group].begin(), wishes_[row.group].end(), [&](const Wish& wish) {
           const Wish* open = open_wish(row, groups[wish.group].key);
           return open != nullptr && !would_do(*open, domain_of(wish.group));
         });
}

}  // namespace karst::scheduling
