#include "scheduling/reservations.h"

#include <algorithm>

namespace karst::scheduling {

Reservations::Reservations(const std::vector<PoolTables::Reservation>& reservations) {
  for (const auto& one : reservations) free_.push_back(one.capacity);
}

// An augmenting path: a free one of `options`, or one whose holder can move on.
bool Reservations::find_room(const std::vector<int>& options, std::vector<char>& seen, int& found,
                             bool apply) {
  for (const int option : options)
    if (free_[static_cast<std::size_t>(option)] > 0) {
      found = option;
      return true;
    }
  for (const int option : options) {
    if (seen[static_cast<std::size_t>(option)] != 0) continue;
    seen[static_cast<std::size_t>(option)] = 1;
    for (Holder& holder : holders_) {
      int next = kNotReserved;
      if (holder.held != option || !find_room(holder.options, seen, next, apply)) continue;
      if (apply) {
        --free_[static_cast<std::size_t>(next)];
        ++free_[static_cast<std::size_t>(option)];
        holder.held = next;
      }
      found = option;
      return true;
    }
  }
  return false;
}

bool Reservations::could_hold(const std::vector<int>& options) {
  std::vector<char> seen(free_.size(), 0);
  int found = kNotReserved;
  return find_room(options, seen, found, false);
}

bool Reservations::could_hold(std::size_t claim, const std::vector<int>& options) {
  Holder& holder = holders_[claim];
  if (std::find(options.begin(), options.end(), holder.held) != options.end()) return true;
  const int held = let_go(holder);
  const bool could = could_hold(options);
  take(holder, held);
  return could;
}

bool Reservations::hold(std::size_t claim, const std::vector<int>& options) {
  if (holders_.size() <= claim) holders_.resize(claim + 1);
  if (options.empty()) return true;
  Holder& holder = holders_[claim];
  if (std::find(options.begin(), options.end(), holder.held) == options.end()) {
    const int held = let_go(holder);
    std::vector<char> seen(free_.size(), 0);
    int found = kNotReserved;
    if (!find_room(options, seen, found, true)) {
      take(holder, held);
      return false;
    }
    take(holder, found);
  }
  holder.options = options;
  return true;
}

void Reservations::hold_all(std::size_t claim, const std::vector<int>& chosen) {
  if (holders_.size() <= claim) holders_.resize(claim + 1);
  Holder& holder = holders_[claim];
  let_go(holder);
  for (const int one : holder.also) ++free_[static_cast<std::size_t>(one)];
  take(holder, chosen.front());
  holder.options = {chosen.front()};
  holder.also.assign(chosen.begin() + 1, chosen.end());
  for (const int one : holder.also) --free_[static_cast<std::size_t>(one)];
}

bool Reservations::may_take(std::size_t claim, int reservation) const {
  if (free_[static_cast<std::size_t>(reservation)] > 0) return true;
  if (claim >= holders_.size()) return false;
  const std::vector<int> own = held(claim);
  return std::find(own.begin(), own.end(), reservation) != own.end();
}

std::vector<int> Reservations::held(std::size_t claim) const {
  std::vector<int> held = holders_[claim].also;
  if (holders_[claim].held != kNotReserved) held.push_back(holders_[claim].held);
  return held;
}

int Reservations::let_go(Holder& holder) {
  const int held = holder.held;
  if (held != kNotReserved) ++free_[static_cast<std::size_t>(held)];
  holder.held = kNotReserved;
  return held;
}

void Reservations::take(Holder& holder, int reservation) {
  holder.held = reservation;
  if (reservation != kNotReserved) --free_[static_cast<std::size_t>(reservation)];
}

bool Reservations::take_free(int reservation) {
  std::int64_t& left = free_[static_cast<std::size_t>(reservation)];
  if (left <= 0) return false;
  --left;
  return true;
}

}  // namespace karst::scheduling
