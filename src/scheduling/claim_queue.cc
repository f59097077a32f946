#include "scheduling/claim_queue.h"

#include <algorithm>
#include <functional>

namespace karst::scheduling {

void ClaimQueue::clear() {
  with_room_.clear();
  dearer_.clear();
  taken_with_room_.clear();
  taken_dearer_.clear();
}

void ClaimQueue::add_with_room(std::int64_t pods, std::size_t claim) {
  push(with_room_, {0, pods, claim});
}

void ClaimQueue::add_dearer(Entry entry) {
  push(dearer_, entry);
}

void ClaimQueue::put_back() {
  for (const Entry& entry : taken_with_room_) push(with_room_, entry);
  for (const Entry& entry : taken_dearer_) push(dearer_, entry);
  taken_with_room_.clear();
  taken_dearer_.clear();
}

ClaimQueue::Entry ClaimQueue::pop(Heap& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  const Entry entry = heap.back();
  heap.pop_back();
  return entry;
}

void ClaimQueue::push(Heap& heap, Entry entry) {
  heap.push_back(entry);
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

}  // namespace karst::scheduling
