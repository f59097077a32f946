#include "scheduling/dive.h"

#include <algorithm>

namespace karst::scheduling {

std::int64_t Dive::search(const Row& room, const std::vector<char>& blocked, std::int64_t& looks) {
  room_ = room;
  taken_.assign(classes_.size(), 0);
  blocked_ = &blocked;
  looks_ = &looks;
  visits_ = kFillVisitsMax;
  least_.resize((classes_.size() + 1) * room.size());
  if (is_new_) note_least();
  best_value_ = -1;
  items_.clear();
  visit(0, 0);
  return best_value_;
}

// By class and column the least that it or any smaller class asks for.
void Dive::note_least() {
  const std::size_t columns = room_.size();
  is_new_ = false;
  for (std::size_t at = classes_.size(); at-- > 0;)
    for (std::size_t i = 0; i < columns; ++i)
      least_[at * columns + i] =
          at + 1 == classes_.size()
              ? classes_[at].request[i]
              : std::min(classes_[at].request[i], least_[(at + 1) * columns + i]);
}

bool Dive::has_room_for_any(std::size_t from) const {
  for (std::size_t i = 0; i < room_.size(); ++i)
    if (const std::int64_t least = least_[from * room_.size() + i]; least > 0 && least > room_[i])
      return false;
  return true;
}

bool Dive::has_room_for(const SizeClass& one) const {
  for (std::size_t i = 0; i < room_.size(); ++i)
    if (one.request[i] > 0 && one.request[i] > room_[i]) return false;
  return true;
}

void Dive::visit(std::size_t from, std::int64_t value) {
  if (value > best_value_) {
    best_value_ = value;
    best_ = items_;
  }
  if (--visits_ <= 0 || from == classes_.size()) return;
  --*looks_;
  if (!has_room_for_any(from)) return;
  // The largest first: those that ask for more CPU than there is are passed over at once.
  from = static_cast<std::size_t>(
      std::partition_point(classes_.begin() + static_cast<std::ptrdiff_t>(from), classes_.end(),
                           [&](const SizeClass& one) { return one.request[0] > room_[0]; }) -
      classes_.begin());
  for (std::size_t at = from; at < classes_.size() && visits_ > 0; ++at) {
    const SizeClass& one = classes_[at];
    --*looks_;
    if (one.pods <= taken_[at] || (*blocked_)[at] != 0 || !has_room_for(one)) continue;
    ++taken_[at];
    for (std::size_t i = 0; i < room_.size(); ++i) room_[i] -= one.request[i];
    items_.push_back(at);
    visit(at, value + one.value);
    items_.pop_back();
    for (std::size_t i = 0; i < room_.size(); ++i) room_[i] += one.request[i];
    --taken_[at];
  }
}

}  // namespace karst::scheduling
