#include "scheduling/claim_queue.h"

#include <algorithm>
#include <functional>

namespace karst::scheduling {

void ClaimQueue::clear() {
  for (const std::size_t lane : used_) {
    lanes_[lane].with_room.clear();
    lanes_[lane].dearer.clear();
    lanes_[lane].is_used = false;
    lanes_[lane].is_closed = false;
  }
  used_.clear();
  open_.clear();
  closed_.clear();
  passed_.clear();
  parked_.clear();
  seen_ = 0;
}

void ClaimQueue::add(Kind kind, std::size_t lane, const Entry& entry) {
  if (lane >= lanes_.size()) lanes_.resize(lane + 1);
  if (!lanes_[lane].is_used) used_.push_back(lane);
  lanes_[lane].is_used = true;
  push(lanes_[lane].of(kind), entry);
}

void ClaimQueue::close(const First& first) {
  lanes_[first.lane].is_closed = true;
  closed_.push_back(first.lane);
}

void ClaimQueue::end_pod() {
  put_back(passed_);
  for (const std::size_t lane : closed_) lanes_[lane].is_closed = false;
  closed_.clear();
}

void ClaimQueue::move(const First& first, std::vector<First>& into) {
  pop(lanes_[first.lane].of(first.kind));
  into.push_back(first);
}

void ClaimQueue::put_back(std::vector<First>& from) {
  for (const First& first : from) push(lanes_[first.lane].of(first.kind), first.entry);
  from.clear();
}

ClaimQueue::Entry ClaimQueue::pop(Heap& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  const Entry entry = heap.back();
  heap.pop_back();
  return entry;
}

void ClaimQueue::push(Heap& heap, const Entry& entry) {
  heap.push_back(entry);
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

}  // namespace karst::scheduling
