// The claims of one attempt in the order in which a pod of one row should look at them: those that
// have room as they are, the emptiest first; then those that would have to become dearer, by the
// least that could cost. Kept while pods of that row are placed, so that a pod costs what it looks
// at and not what there is. Owned by a Packer; knows claims by index, and a claim as it was when it
// was put in (its pods): one that has changed since is no longer in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace karst::scheduling {

class ClaimQueue {
 public:
  struct Entry {
    std::int64_t least = 0;  // that the claim becomes dearer; 0 with room
    std::int64_t pods = 0;
    std::size_t claim = 0;
    // Before the other: by `least`, then the emptier, then the older.
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };

  void clear();
  void add_with_room(std::int64_t pods, std::size_t claim);
  void add_dearer(Entry entry);

  // The first of each kind whose claim still has so many pods; `pods_of(claim)` tells. What is
  // taken out is put back by put_back().
  template <class PodsOf>
  std::optional<Entry> take_with_room(PodsOf&& pods_of) {
    return take(with_room_, taken_with_room_, pods_of);
  }
  // nullopt also when the first is not before `bound`.
  template <class PodsOf>
  std::optional<Entry> take_dearer(PodsOf&& pods_of, const Entry& bound) {
    drop_changed(dearer_, pods_of);
    if (dearer_.empty() || !(dearer_.front() < bound)) return std::nullopt;
    return take(dearer_, taken_dearer_, pods_of);
  }
  void put_back();

 private:
  using Heap = std::vector<Entry>;
  static Entry pop(Heap& heap);
  static void push(Heap& heap, Entry entry);
  template <class PodsOf>
  static void drop_changed(Heap& heap, PodsOf& pods_of) {
    while (!heap.empty() && pods_of(heap.front().claim) != heap.front().pods) pop(heap);
  }
  template <class PodsOf>
  static std::optional<Entry> take(Heap& heap, Heap& taken, PodsOf& pods_of) {
    drop_changed(heap, pods_of);
    if (heap.empty()) return std::nullopt;
    taken.push_back(pop(heap));
    return taken.back();
  }

  Heap with_room_, dearer_;
  Heap taken_with_room_, taken_dearer_;
};

}  // namespace karst::scheduling
