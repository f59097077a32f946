#include "scheduling/filling.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace karst::scheduling {
namespace {

constexpr std::size_t kSharesUsual = 8;  // rows of which a claim has pods, or fewer

}  // namespace

Filling::Filling(const Prepared& prepared, const std::vector<HostTies>& ties, const Sector& sector,
                 const Ladder& ladder, std::int64_t& looks)
    : ties_(ties),
      sector_(sector),
      ladder_(ladder),
      looks_(looks),
      all_(prepared, ties, sector.loose),
      dive_(classes_),
      state_(prepared.topology.groups().size()) {
  for (std::size_t i = 0; i < sector.staying.size(); ++i) order_.push_back(i);
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return sector.staying[b].content < sector.staying[a].content;
  });
  nothing_.assign(prepared.columns.size(), 0);
  room_ = loose_ = nothing_;
  for (std::size_t at = 0; at < all_.size(); ++at)
    add_times(loose_, all_.request(at), all_.pods(at));
  sum_ = loose_;
  for (const Sector::Staying& claim : sector.staying) add_times(sum_, claim.content, 1);
}

void Filling::begin(const SizeClasses& classes) {
  classes_ = classes;
  left_ = loose_;
  dive_.restart();
  std::move(found_.claims.begin(), found_.claims.end(), std::back_inserter(spares_));
  found_.claims.clear();
}

void Filling::keep_in(std::optional<Refilled>& best) {
  if (!best) best.emplace();
  std::swap(*best, found_);
}

Refilled::Filled& Filling::add_claim(std::size_t claim, const Rung& rung, const Row& content) {
  if (spares_.empty()) {
    found_.claims.emplace_back().shares.reserve(kSharesUsual);
  } else {
    found_.claims.push_back(std::move(spares_.back()));
    spares_.pop_back();
  }
  Refilled::Filled& added = found_.claims.back();
  added.claim = claim;
  added.rung = rung;
  added.content = content;
  added.shares.clear();
  return added;
}

bool Filling::fill_staying(int larger_max) {
  for (std::size_t place = 0; place < order_.size(); ++place)
    if (looks_ <= 0 || !fill_claim(place, larger_max)) return false;
  for (std::size_t place = 0; place < order_.size() && pods_left() > 0; ++place) top_up(place);
  return true;
}

// Who is on the host: those that stay and those that were dealt to it.
void Filling::look_at(const Sector::Staying* staying, const Refilled::Filled& claim) {
  state_.clear();
  if (staying != nullptr)
    for (const Share& share : staying->shares) state_.add(ties_[share.group], share.count);
  for (const Share& share : claim.shares) state_.add(ties_[share.group], share.count);
}

const Row& Filling::room_beside(const Row& content, const Rung& rung) {
  const Amounts room = rung.machine().room;
  for (std::size_t i = 0; i < room.size(); ++i) room_[i] = room[i] - content[i];
  return room_;
}

bool Filling::fill_claim(std::size_t place, int larger_max) {
  const Sector::Staying& own = staying(place);
  Rung best;
  std::int64_t least = INT64_MAX;
  blocked_.assign(classes_.size(), 0);
  int tried = 0;
  std::int64_t last_price = 0;
  for (const Rung& rung : ladder_.whole(own.view)) {
    if (tried == kFillMachinesMax + larger_max) break;
    const std::int64_t price = rung.machine().price;
    if (tried >= kFillMachinesMax && price - last_price < last_price / 2) continue;
    if (!fits(own.content, rung.machine().room)) continue;
    ++tried;
    last_price = price;
    const std::int64_t worth = dive_.search(room_beside(own.content, rung), blocked_, looks_);
    const std::int64_t unused = price - worth;
    if (unused >= least) continue;
    least = unused;
    best = rung;
    items_ = dive_.best();
  }
  if (best.view == nullptr) return false;
  Refilled::Filled& claim = add_claim(own.claim, best, own.content);
  look_at(&own, claim);
  bool is_refused = false;
  for (const std::size_t item : items_)
    if (!deal(item, claim)) {
      blocked_[item] = 1;
      is_refused = true;
    }
  if (is_refused) {
    dive_.search(room_beside(claim.content, claim.rung), blocked_, looks_);
    for (const std::size_t item : dive_.best()) deal(item, claim);
  }
  return true;
}

// What fits without a larger machine.
void Filling::top_up(std::size_t place) {
  if (looks_ <= 0) return;
  Refilled::Filled& claim = found_.claims[place];
  blocked_.assign(classes_.size(), 0);
  if (dive_.search(room_beside(claim.content, claim.rung), blocked_, looks_) <= 0) return;
  look_at(&staying(place), claim);
  for (const std::size_t item : dive_.best()) deal(item, claim);
}

// Up to so many pods of the class; how many may be there.
std::int64_t Filling::deal(std::size_t at, std::int64_t most, Refilled::Filled& claim) {
  std::int64_t dealt = 0;
  for (std::size_t i = classes_.first_row(at); i < classes_.end_row(at) && dealt < most; ++i) {
    const auto [row, pods] = classes_.row(i);
    if (pods == 0) continue;
    const HostTies& ties = ties_[row];
    std::int64_t count = 0;
    if (ties.is_none())
      count = std::min(most - dealt, pods);
    else
      for (; count < std::min(most - dealt, pods) && state_.takes(ties); ++count)
        state_.add(ties, 1);
    if (count == 0) continue;
    classes_.take(at, i, count);
    dealt += count;
    if (!claim.shares.empty() && claim.shares.back().group == row)
      claim.shares.back().count += count;
    else
      claim.shares.push_back({row, count});
  }
  add_times(claim.content, classes_.request(at), dealt);
  add_times(left_, classes_.request(at), -dealt);
  return dealt;
}

// As many pods of the class as fit, at most so many. room_ is what is left on the claim's machine,
// before and after.
void Filling::deal_up_to(std::int64_t most, std::size_t at, Refilled::Filled& claim) {
  const std::int64_t count = fit_count(room_, classes_.request(at), most);
  looks_ -= count + 1;
  if (count > 0 && deal(at, count, claim) > 0) room_beside(claim.content, claim.rung);
}

// A new one; room_ is all that its machine has.
Refilled::Filled& Filling::open_claim(const Rung& rung) {
  Refilled::Filled& claim = add_claim(kNone, rung, nothing_);
  look_at(nullptr, claim);
  room_beside(claim.content, rung);
  return claim;
}

bool Filling::fill_with(const Rung& rung) {
  Refilled::Filled& claim = open_claim(rung);
  deal_what_fits(0, claim);
  return !claim.shares.empty();
}

bool Filling::fill_new() {
  const Rung rung = rung_for_rest();
  if (rung.view == nullptr) return false;
  Refilled::Filled& claim = open_claim(rung);
  deal_like_parts(claim);
  deal_what_fits(classes_.first_of_cpu(0, room_[0]), claim);
  return !claim.shares.empty();
}

// A like part of every class, so that no resource is left over without the other.
void Filling::deal_like_parts(Refilled::Filled& claim) {
  const Amounts room = claim.rung.machine().room;
  std::size_t scarce = 0;  // the column that is short first
  for (std::size_t i = 1; i < left_.size(); ++i)
    if (static_cast<Wide>(left_[i]) * std::max<std::int64_t>(room[scarce], 1) >
        static_cast<Wide>(left_[scarce]) * std::max<std::int64_t>(room[i], 1))
      scarce = i;
  const std::int64_t all = left_[scarce];
  if (all <= room[scarce]) return;  // then all may come
  looks_ -= static_cast<std::int64_t>(classes_.size() / kGlancesALook);
  // The part of fewer is none.
  const std::int64_t fewest = room[scarce] <= 0 ? INT64_MAX : (all - 1) / room[scarce] + 1;
  for (std::size_t at = 0; at < classes_.size(); ++at)
    if (classes_.pods(at) >= fewest)
      deal_up_to(part_of(classes_.pods(at), room[scarce], all), at, claim);
}

void Filling::deal_what_fits(std::size_t from, Refilled::Filled& claim) {
  looks_ -= static_cast<std::int64_t>((classes_.size() - from) / kGlancesALook);
  for (std::size_t at = from; at < classes_.size(); ++at)
    if (classes_.pods(at) > 0 && fits(classes_.request(at), room_))
      deal_up_to(classes_.pods(at), at, claim);
}

// Some class has a pod that the machine has room for. The smallest first; the smallest of all are
// soon dealt out.
bool Filling::takes_any(const Rung& rung) {
  const std::size_t first = classes_.first_of_cpu(0, rung.machine().room[0]);
  std::size_t at = classes_.size();
  while (at > first &&
         (classes_.pods(at - 1) == 0 || !fits(classes_.request(at - 1), rung.machine().room)))
    --at;
  looks_ -= static_cast<std::int64_t>((classes_.size() - at) / kGlancesALook) + 1;
  return at > first;
}

// Of machines with which all that is left would cost the same the dearest. The one that was best
// before mostly is again, or nearly: the others are held against it.
Rung Filling::rung_for_rest() {
  const std::vector<Rung>& rungs = ladder_.whole();
  looks_ -= static_cast<std::int64_t>(rungs.size() / kGlancesALook) + 1;
  std::size_t best = kNone;
  Wide least = 0;
  if (last_rung_ < rungs.size() && takes_any(rungs[last_rung_])) {
    best = last_rung_;
    least = price_of_all(left_, rungs[best]);
  }
  for (std::size_t at = 0; at < rungs.size(); ++at) {
    if (at == last_rung_) continue;
    if (best != kNone && !costs_at_most(left_, rungs[at], at < best ? least - 1 : least)) continue;
    if (!takes_any(rungs[at])) continue;
    best = at;
    least = price_of_all(left_, rungs[at]);
  }
  if (best == kNone) return {};
  last_rung_ = best;
  return rungs[best];
}

}  // namespace karst::scheduling
