// The claims of one attempt in the order in which a pod of one size should look at them: those that
// have room as they are, the emptiest first; then those that would have to become dearer, by the
// least that could cost. Kept while pods of that size are placed, so that a pod costs what it looks
// at and not what there is. Claims under the same view share a lane, which can be passed over as a
// whole. Owned by a Packer; knows claims by index, and a claim as it was when it was put in (its
// pods): one that has changed since is no longer in.
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
  enum class Kind { kWithRoom, kDearer };
  struct First {
    Entry entry;
    Kind kind = Kind::kWithRoom;
    std::size_t lane = 0;
  };

  void clear();
  void add(Kind kind, std::size_t lane, const Entry& entry);

  // The first of the kind, of all lanes that are open, whose claim still has so many pods;
  // `pods_of(claim)` tells. It stays where it is until it is passed, parked or its lane closed.
  template <class PodsOf>
  std::optional<First> first(Kind kind, PodsOf&& pods_of) {
    std::optional<First> found;
    for (const std::size_t lane : open_) {
      if (lanes_[lane].is_closed) continue;
      Heap& heap = lanes_[lane].of(kind);
      while (!heap.empty() && pods_of(heap.front().claim) != heap.front().pods) pop(heap);
      if (!heap.empty() && (!found || heap.front() < found->entry))
        found = First{heap.front(), kind, lane};
    }
    return found;
  }
  // Not for this pod; not for any pod of its row; none of the lane for this pod.
  void pass(const First& first) { move(first, passed_); }
  void park(const First& first) { move(first, parked_); }
  void close(const First& first);

  // After a pod, and before the pods of another row: what was left out is in again. Lanes that
  // `is_open(lane)` refuses have nothing for the row.
  void end_pod();
  template <class IsOpen>
  void begin_row(IsOpen&& is_open) {
    end_pod();
    put_back(parked_);
    open_.clear();
    for (const std::size_t lane : used_)
      if (is_open(lane)) open_.push_back(lane);
    seen_ = used_.size();
  }
  // Lanes that have come since.
  template <class IsOpen>
  void open_new(IsOpen&& is_open) {
    for (; seen_ < used_.size(); ++seen_)
      if (is_open(used_[seen_])) open_.push_back(used_[seen_]);
  }

 private:
  using Heap = std::vector<Entry>;
  struct Lane {
    Heap with_room, dearer;
    bool is_used = false;
    bool is_closed = false;
    Heap& of(Kind kind) { return kind == Kind::kWithRoom ? with_room : dearer; }
  };
  static Entry pop(Heap& heap);
  static void push(Heap& heap, const Entry& entry);
  void move(const First& first, std::vector<First>& into);
  void put_back(std::vector<First>& from);

  std::vector<Lane> lanes_;
  std::vector<std::size_t> used_;  // lanes with entries, in the order of their first one
  std::size_t seen_ = 0;           // of those
  std::vector<std::size_t> open_;
  std::vector<std::size_t> closed_;
  std::vector<First> passed_, parked_;
};

}  // namespace karst::scheduling
