#include "scheduling/dive.h"

#include <algorithm>

namespace karst::scheduling {

std::int64_t Dive::search(const Row& room, const std::vector<char>& blocked, std::int64_t& looks) {
  room_ = room;
  taken_.assign(classes_.size(), 0);
  blocked_ = &blocked;
  looks_ = &looks;
  visits_ = kFillVisitsMax;
  if (is_new_) note_least();
  best_worth_ = -1;
  items_.clear();
  visit(0, 0);
  return best_worth_;
}

void Dive::note_least() {
  const std::size_t columns = room_.size();
  is_new_ = false;
  least_.resize(classes_.size() * columns);
  for (std::size_t at = classes_.size(); at-- > 0;) {
    const Amounts request = classes_.request(at);
    for (std::size_t i = 0; i < columns; ++i)
      least_[at * columns + i] = at + 1 == classes_.size()
                                     ? request[i]
                                     : std::min(request[i], least_[(at + 1) * columns + i]);
  }
}

bool Dive::has_room_for_any(std::size_t from) const {
  for (std::size_t i = 0; i < room_.size(); ++i)
    if (const std::int64_t least = least_[from * room_.size() + i]; least > 0 && least > room_[i])
      return false;
  return true;
}

void Dive::visit(std::size_t from, std::int64_t worth) {
  if (worth > best_worth_) {
    best_worth_ = worth;
    best_ = items_;
  }
  if (--visits_ <= 0 || from == classes_.size()) return;
  --*looks_;
  if (!has_room_for_any(from)) return;
  for (std::size_t at = classes_.first_of_cpu(from, room_[0]); at < classes_.size() && visits_ > 0;
       ++at) {
    --*looks_;
    if (classes_.pods(at) <= taken_[at] || (*blocked_)[at] != 0 ||
        !fits(classes_.request(at), room_))
      continue;
    ++taken_[at];
    const Amounts request = classes_.request(at);
    for (std::size_t i = 0; i < request.size(); ++i) room_[i] -= request[i];
    items_.push_back(at);
    visit(at, worth + classes_.worth(at));
    items_.pop_back();
    for (std::size_t i = 0; i < request.size(); ++i) room_[i] += request[i];
    --taken_[at];
  }
}

}  // namespace karst::scheduling
