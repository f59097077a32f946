// The pods, laid out for hundreds of thousands of them: slots with stable addresses, labels packed
// in one string, names of namespaces and nodes interned, and the two indexes that decisions ask for
// (pending pods, pods of a node). Plain value, one thread. Nothing iterates the hash index: order
// comes from the ordered sets or from sorting by uid.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/set_digest.h"
#include "base/time.h"
#include "events/pod_view.h"
#include "model/ids.h"
#include "model/pod.h"
#include "model/resources.h"

namespace karst::projections {

// A refresh touches the first two cache lines alone; names and labels come behind them.
struct alignas(64) PodRow {
  static constexpr std::uint32_t kNoSlot = 0xFFFF'FFFF;

  // Of everything that an observation says but standing and times (content_of): equal contents,
  // nothing to compare.
  base::Hash128 content;
  base::Hash128 hash;
  const std::string* node = nullptr;       // interned; nullptr: not bound
  const model::PodShape* shape = nullptr;  // of the shape table; never nullptr for a stored row
  std::int64_t creation_millis = 0;
  std::int64_t deletion_millis = 0;
  std::int64_t start_millis = 0;
  model::Position position;     // latest observation
  base::LogTime seen_at;        // first observation
  base::LogTime waits_since;    // nothing but a place is missing since then; 0: something is
  base::LogTime pending_since;  // became provisionable; 0: is not
  base::LogTime expected_until;
  model::PodPhase phase = model::PodPhase::kPending;
  bool unschedulable = false;
  bool ready = false;
  std::uint32_t next_of_hash = kNoSlot;  // the next row whose uid has the same short hash

  model::PodUid uid;
  const std::string* namespace_name = nullptr;  // interned
  std::string name;
  std::string packed_labels;  // events::PodView's form
  model::ShapeHash shape_hash;
  const std::string* nominated_node = nullptr;  // interned; the scheduler's preemption
  const std::string* owner_name = nullptr;      // interned
  // Where karst expects it until expected_until (PodsNominated); both empty when that is 0.
  model::ClaimName expected_claim;
  model::NodeName expected_node;

  bool terminal() const {
    return phase == model::PodPhase::kSucceeded || phase == model::PodPhase::kFailed;
  }
  bool active() const { return !terminal() && deletion_millis == 0; }
  bool daemon() const { return shape->owner_kind == model::OwnerKind::kDaemonSet; }
  bool mirror() const { return shape->owner_kind == model::OwnerKind::kNode; }
  // Not bound, and not about to be by preemption; a node that karst made could take it.
  bool waits() const {
    return node == nullptr && nominated_node == nullptr && active() && !daemon() && !mirror() &&
           !shape->gated;
  }
  // kube-scheduler has no place for it (Karpenter 1.14: provisionable).
  bool provisionable() const { return unschedulable && waits(); }
  // kube-scheduler has not come to it yet. Other schedulers may hold pods back, for their quotas,
  // which is no sign that a place is missing.
  bool untried() const {
    return !unschedulable && phase == model::PodPhase::kPending && waits() &&
           !shape->other_scheduler;
  }
  // Would need another place if its node went.
  bool reschedulable() const {
    return (active() || (!terminal() && shape->owner_kind == model::OwnerKind::kStatefulSet)) &&
           !daemon() && !mirror();
  }
  model::Labels labels() const { return events::unpack_labels(packed_labels); }
  model::Pod to_model() const;
};

// Whether such a pod keeps others away from more than its own node.
bool repels_beyond_its_node(const model::PodShape& shape);

// Sums over the pods bound to one node.
struct NodePods {
  std::vector<std::uint32_t> slots;  // unordered; use PodTable::on_node
  model::Resources requests;         // of active and terminating, not terminal pods
  model::Resources daemon_requests;  // the part of them that DaemonSet pods have
  std::int64_t reschedulable = 0;    // how many pods would need another place
  std::int64_t particular = 0;       // how many have host ports or a required anti-affinity, and
  std::int64_t repelling = 0;        // how many of those keep others away from more than this node
};

// Rows that never move, in chunks: a look-up touches the row and nothing on the way to it that is
// not in the cache.
class PodRows {
 public:
  PodRow& operator[](std::uint32_t slot) { return chunks_[slot / kChunk][slot % kChunk]; }
  const PodRow& operator[](std::uint32_t slot) const {
    return chunks_[slot / kChunk][slot % kChunk];
  }
  std::uint32_t size() const { return size_; }
  std::uint32_t add();  // the new row's slot

 private:
  static constexpr std::uint32_t kChunk = 1024;
  std::vector<std::unique_ptr<PodRow[]>> chunks_;
  std::uint32_t size_ = 0;
};

class PodTable {
 public:
  PodTable() = default;
  // Moving keeps every row where it is, so the indexes' views stay good.
  PodTable(PodTable&&) = default;
  PodTable& operator=(PodTable&&) = default;

  const PodRow* find(std::string_view uid) const;
  std::size_t size() const { return slots_.size() - free_.size(); }

  // The observation of a bound pod that says nothing new but its readiness or times, which most
  // are: taken over, and true. False: nothing was done, observe() must.
  bool refresh(const events::PodView& pod, model::Position position);
  // Inserts or replaces what is observed of a pod; `shape` must outlive the row. Expectation and
  // seen_at are kept.
  const PodRow& observe(const events::PodView& pod, const model::PodShape* shape,
                        model::Position position, base::LogTime now);
  bool erase(std::string_view uid);
  // A pod of a leaving node may be expected elsewhere while it is still bound; being bound anew
  // ends it. False: no such pod.
  bool expect(std::string_view uid, const model::ClaimName& claim, const model::NodeName& node,
              base::LogTime until);

  // Provisionable pods by uid.
  const std::set<std::string_view>& pending() const { return pending_; }
  const PodRow& row_of(std::string_view uid) const;  // REQUIRES: it exists
  // Untried pods, the one that waits longest first.
  const std::set<std::pair<base::LogTime, std::string_view>>& untried() const { return untried_; }
  // When the youngest and the oldest of the pending pods became pending; 0 when there are none.
  base::LogTime newest_pending() const {
    return by_pending_.empty() ? base::LogTime(0) : by_pending_.rbegin()->first;
  }
  base::LogTime oldest_pending() const {
    return by_pending_.empty() ? base::LogTime(0) : by_pending_.begin()->first;
  }

  // How many have no node, by phase: the pending ones, and those that nobody has tried to place yet
  // or is to place. Looks at every pod.
  std::map<model::PodPhase, std::int64_t> unbound() const {
    std::map<model::PodPhase, std::int64_t> counts;
    for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
      if (slots_[slot].node == nullptr && !slots_[slot].uid.empty()) ++counts[slots_[slot].phase];
    return counts;
  }

  const NodePods* on(std::string_view node) const;
  std::vector<const PodRow*> on_node(std::string_view node) const;             // sorted by uid
  std::vector<const PodRow*> expected_on_claim(std::string_view claim) const;  // sorted by uid
  std::vector<const PodRow*> expected_on_node(std::string_view node) const;    // sorted by uid
  std::vector<std::string> all_uids() const;                                   // sorted

  base::Hash128 digest() const { return digest_.value(); }
  void save(base::ByteWriter& writer) const;
  // `shape_of` finds the stored shape of a hash. False when bytes are damaged or a shape is
  // missing.
  template <class ShapeOf>
  bool load(base::ByteReader& reader, ShapeOf&& shape_of);

 private:
  static constexpr std::uint64_t kReservedMax = 1 << 20;  // a damaged count reserves no more
  struct Place {  // a node as its pods name it; lives while it has pods
    std::string name;
    NodePods pods;
  };
  std::vector<const PodRow*> all() const;  // sorted by uid
  const std::string* intern(std::string_view text);
  Place* place_of(std::string_view node);
  void forget_empty_place(const std::string* node);
  // Takes over what does not move the row between indexes.
  void assign(PodRow& row, const events::PodView& pod, model::Position position);
  void link(std::uint32_t slot);    // into indexes and digest
  void unlink(std::uint32_t slot);  // out of them
  base::Hash128 content_of(const events::PodView& pod);
  base::Hash128 hash_of(const PodRow& row);
  static void write_row(base::ByteWriter& writer, const PodRow& row);
  bool read_row(base::ByteReader& reader, PodRow& row);
  std::uint32_t slot_of(std::string_view uid) const;  // kNoSlot: none
  void insert(std::uint32_t slot);                    // into the uid index
  void remove(std::uint32_t slot);                    // out of it
  std::uint32_t fresh_slot();

  PodRows slots_;
  std::vector<std::uint32_t> free_;
  // By a short hash of the uid, the first row of a chain: small, because a look-up costs the memory
  // that it touches.
  // order never shows: look-ups only
  boost::unordered_flat_map<std::uint32_t, std::uint32_t> index_;
  // order never shows: look-ups only
  boost::unordered_flat_map<std::string_view, std::unique_ptr<const std::string>, base::FastHash>
      interned_;
  std::set<std::string_view> pending_;
  std::set<std::pair<base::LogTime, std::string_view>> by_pending_;
  std::set<std::pair<base::LogTime, std::string_view>> untried_;
  // order never shows: look-ups only
  boost::unordered_flat_map<std::string_view, std::unique_ptr<Place>, base::FastHash> places_;
  std::map<std::string, std::set<std::string_view>, std::less<>> by_expected_claim_;
  std::map<std::string, std::set<std::string_view>, std::less<>> by_expected_node_;
  base::SetDigest digest_;
  base::ByteWriter scratch_;
};

template <class ShapeOf>
bool PodTable::load(base::ByteReader& reader, ShapeOf&& shape_of) {
  std::uint64_t count = 0;
  reader(count);
  index_.reserve(std::min<std::uint64_t>(count, kReservedMax));
  for (; count > 0 && reader.ok(); --count) {
    const std::uint32_t slot = fresh_slot();
    PodRow& row = slots_[slot];
    if (!read_row(reader, row)) return false;
    row.shape = shape_of(row.shape_hash);
    if (row.shape == nullptr || slot_of(row.uid.str()) != PodRow::kNoSlot) return false;
    insert(slot);
    link(slot);
  }
  return reader.ok();
}

}  // namespace karst::projections
