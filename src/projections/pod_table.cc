#include "projections/pod_table.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace karst::projections {
namespace {

constexpr std::uint64_t kDigestSeed = 2;

std::uint32_t short_hash(std::string_view uid) {
  return static_cast<std::uint32_t>(base::FastHash()(uid));
}

std::vector<const PodRow*> sorted_by_uid(std::vector<const PodRow*> rows) {
  std::sort(rows.begin(), rows.end(),
            [](const PodRow* a, const PodRow* b) { return a->uid < b->uid; });
  return rows;
}

}  // namespace

std::uint32_t PodRows::add() {
  KARST_CHECK(size_ < PodRow::kNoSlot, "there are fewer than 2^32 pods");
  if (size_ % kChunk == 0) chunks_.push_back(std::make_unique<PodRow[]>(kChunk));
  return size_++;
}

const PodRow* PodTable::find(std::string_view uid) const {
  const std::uint32_t slot = slot_of(uid);
  return slot == PodRow::kNoSlot ? nullptr : &slots_[slot];
}

std::uint32_t PodTable::slot_of(std::string_view uid) const {
  const auto at = index_.find(short_hash(uid));
  std::uint32_t slot = at == index_.end() ? PodRow::kNoSlot : at->second;
  while (slot != PodRow::kNoSlot && slots_[slot].uid.str() != uid) slot = slots_[slot].next_of_hash;
  return slot;
}

void PodTable::insert(std::uint32_t slot) {
  PodRow& row = slots_[slot];
  const auto [at, alone] = index_.emplace(short_hash(row.uid.str()), slot);
  row.next_of_hash = alone ? PodRow::kNoSlot : std::exchange(at->second, slot);
}

void PodTable::remove(std::uint32_t slot) {
  const auto at = index_.find(short_hash(slots_[slot].uid.str()));
  KARST_CHECK(at != index_.end(), "a stored pod is in the index");
  const std::uint32_t next = slots_[slot].next_of_hash;
  if (at->second == slot && next == PodRow::kNoSlot) {
    index_.erase(at);
    return;
  }
  std::uint32_t* link = &at->second;
  while (*link != slot) link = &slots_[*link].next_of_hash;
  *link = next;
}

const PodRow& PodTable::row_of(std::string_view uid) const {
  const PodRow* row = find(uid);
  KARST_CHECK(row != nullptr, "a pod of an index is in the table");
  return *row;
}

std::uint32_t PodTable::fresh_slot() {
  if (!free_.empty()) {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  return slots_.add();
}

const std::string* PodTable::intern(std::string_view text) {
  if (text.empty()) return nullptr;
  const auto at = interned_.find(text);
  if (at != interned_.end()) return at->second.get();
  auto owned = std::make_unique<const std::string>(text);
  const std::string* stable = owned.get();
  interned_.emplace(*stable, std::move(owned));
  return stable;
}

PodTable::Place* PodTable::place_of(std::string_view node) {
  const auto at = places_.find(node);
  if (at != places_.end()) return at->second.get();
  auto owned = std::make_unique<Place>();
  owned->name = std::string(node);
  Place* stable = owned.get();
  places_.emplace(stable->name, std::move(owned));
  return stable;
}

namespace {

void assign_times(PodRow& row, const events::PodView& pod, model::Position position) {
  row.unschedulable = pod.unschedulable;
  row.ready = pod.ready;
  row.creation_millis = pod.creation_millis;
  row.deletion_millis = pod.deletion_millis;
  row.start_millis = pod.start_millis;
  row.position = position;
}

// Bound, of the same standing, nothing pending, nothing expected: no index knows of the change.
bool stays(const PodRow& row, const events::PodView& pod) {
  return row.node != nullptr && row.phase == pod.phase &&
         (row.deletion_millis == 0) == (pod.deletion_millis == 0) &&
         row.pending_since.value() == 0 && row.expected_until.value() == 0;
}

}  // namespace

void PodTable::assign(PodRow& row, const events::PodView& pod, model::Position position) {
  row.namespace_name = intern(pod.namespace_name);
  row.name = pod.name;
  row.packed_labels = pod.packed_labels;
  row.owner_name = intern(pod.owner_name);
  row.phase = pod.phase;
  assign_times(row, pod, position);
  row.content = content_of(pod);
}

bool PodTable::refresh(const events::PodView& pod, model::Position position) {
  const auto at = index_.find(short_hash(pod.uid));
  if (at == index_.end()) return false;
  // Equal contents are the same pod, so the uid needs no look; a row further down a chain goes the
  // long way. The row comes into the cache while the content is hashed.
  PodRow& row = slots_[at->second];
  __builtin_prefetch(&row);
  const base::Hash128 content = content_of(pod);
  if (!stays(row, pod) || !(row.content == content)) return false;
  digest_.remove(row.hash);
  assign_times(row, pod, position);
  row.hash = hash_of(row);
  digest_.add(row.hash);
  return true;
}

const PodRow& PodTable::observe(const events::PodView& pod, const model::PodShape* shape,
                                model::Position position, base::LogTime now) {
  KARST_CHECK(shape != nullptr, "a pod's shape is logged before the pod");
  std::uint32_t slot = slot_of(pod.uid);
  const bool known = slot != PodRow::kNoSlot;
  if (!known) {
    slot = fresh_slot();
    slots_[slot] = PodRow{};
    slots_[slot].uid = model::PodUid(pod.uid);
    slots_[slot].seen_at = now;
    insert(slot);
  }
  const std::string* left = slots_[slot].node;
  const bool bound_anew =
      !pod.node.empty() && (slots_[slot].node == nullptr || *slots_[slot].node != pod.node);
  if (known) unlink(slot);
  PodRow& row = slots_[slot];
  assign(row, pod, position);
  row.node = pod.node.empty() ? nullptr : &place_of(pod.node)->name;
  row.shape = shape;
  row.shape_hash = pod.shape;
  row.nominated_node = intern(pod.nominated_node);
  if (!row.waits())
    row.waits_since = base::LogTime(0);
  else if (row.waits_since.value() == 0)
    row.waits_since = now;
  if (!row.provisionable())
    row.pending_since = base::LogTime(0);
  else if (row.pending_since.value() == 0)
    row.pending_since = now;
  if (bound_anew || !row.active()) {
    row.expected_claim = {};
    row.expected_node = {};
    row.expected_until = {};
  }
  link(slot);
  if (left != nullptr) forget_empty_place(left);
  return row;
}

void PodTable::forget_empty_place(const std::string* node) {
  const auto at = places_.find(*node);
  if (at != places_.end() && at->second->pods.slots.empty()) places_.erase(at);
}

bool PodTable::erase(std::string_view uid) {
  const std::uint32_t slot = slot_of(uid);
  if (slot == PodRow::kNoSlot) return false;
  unlink(slot);
  remove(slot);
  if (slots_[slot].node != nullptr) forget_empty_place(slots_[slot].node);
  slots_[slot] = PodRow{};
  free_.push_back(slot);
  return true;
}

bool PodTable::expect(std::string_view uid, const model::ClaimName& claim,
                      const model::NodeName& node, base::LogTime until) {
  const std::uint32_t slot = slot_of(uid);
  if (slot == PodRow::kNoSlot) return false;
  PodRow& row = slots_[slot];
  unlink(slot);
  const bool nowhere = until.value() == 0 || (claim.empty() && node.empty());
  row.expected_claim = nowhere ? model::ClaimName() : claim;
  row.expected_node = nowhere ? model::NodeName() : node;
  row.expected_until = nowhere ? base::LogTime(0) : until;
  link(slot);
  return true;
}

namespace {
bool repels(const model::PodAffinityTerm& term) {
  return term.anti && term.preferred_weight == 0;
}
bool is_particular(const model::PodShape& shape) {
  return !shape.host_ports.empty() ||
         std::any_of(shape.affinity.begin(), shape.affinity.end(), repels);
}
}  // namespace

bool repels_beyond_its_node(const model::PodShape& shape) {
  return std::any_of(shape.affinity.begin(), shape.affinity.end(), [](const auto& term) {
    return repels(term) && term.topology_key != model::kHostnameLabel;
  });
}

void PodTable::link(std::uint32_t slot) {
  PodRow& row = slots_[slot];
  const std::string_view uid = row.uid.str();
  if (row.pending_since.value() != 0) {
    pending_.insert(uid);
    by_pending_.insert({row.pending_since, uid});
  }
  if (row.untried()) untried_.insert({row.waits_since, uid});
  if (!row.expected_claim.empty()) by_expected_claim_[row.expected_claim.str()].insert(uid);
  if (!row.expected_node.empty()) by_expected_node_[row.expected_node.str()].insert(uid);
  if (row.node != nullptr) {
    NodePods& pods = place_of(*row.node)->pods;
    pods.slots.push_back(slot);
    if (!row.terminal()) {
      pods.requests += row.shape->requests;
      if (row.daemon()) pods.daemon_requests += row.shape->requests;
    }
    if (row.reschedulable()) ++pods.reschedulable;
    pods.particular += is_particular(*row.shape) ? 1 : 0;
    pods.repelling += repels_beyond_its_node(*row.shape) ? 1 : 0;
  }
  row.hash = hash_of(row);
  digest_.add(row.hash);
}

void PodTable::unlink(std::uint32_t slot) {
  PodRow& row = slots_[slot];
  const std::string_view uid = row.uid.str();
  digest_.remove(row.hash);
  if (row.pending_since.value() != 0) {
    pending_.erase(uid);
    by_pending_.erase({row.pending_since, uid});
  }
  if (row.untried()) untried_.erase({row.waits_since, uid});
  const auto drop = [&](auto& index, const std::string& key) {
    const auto at = index.find(key);
    if (at == index.end()) return;
    at->second.erase(uid);
    if (at->second.empty()) index.erase(at);
  };
  if (!row.expected_claim.empty()) drop(by_expected_claim_, row.expected_claim.str());
  if (!row.expected_node.empty()) drop(by_expected_node_, row.expected_node.str());
  if (row.node == nullptr) return;
  NodePods& pods = place_of(*row.node)->pods;
  const auto place = std::find(pods.slots.begin(), pods.slots.end(), slot);
  KARST_CHECK(place != pods.slots.end(), "a bound pod is in its node's list");
  *place = pods.slots.back();
  pods.slots.pop_back();
  if (!row.terminal()) {
    pods.requests -= row.shape->requests;
    if (row.daemon()) pods.daemon_requests -= row.shape->requests;
  }
  if (row.reschedulable()) --pods.reschedulable;
  pods.particular -= is_particular(*row.shape) ? 1 : 0;
  pods.repelling -= repels_beyond_its_node(*row.shape) ? 1 : 0;
}

const NodePods* PodTable::on(std::string_view node) const {
  const auto at = places_.find(node);
  return at == places_.end() ? nullptr : &at->second->pods;
}

std::vector<const PodRow*> PodTable::on_node(std::string_view node) const {
  std::vector<const PodRow*> rows;
  if (const NodePods* pods = on(node))
    for (const std::uint32_t slot : pods->slots) rows.push_back(&slots_[slot]);
  return sorted_by_uid(std::move(rows));
}

std::vector<const PodRow*> PodTable::expected_on_claim(std::string_view claim) const {
  std::vector<const PodRow*> rows;
  const auto at = by_expected_claim_.find(claim);
  if (at != by_expected_claim_.end())
    for (const std::string_view uid : at->second) rows.push_back(&row_of(uid));
  return rows;
}

std::vector<const PodRow*> PodTable::expected_on_node(std::string_view node) const {
  std::vector<const PodRow*> rows;
  const auto at = by_expected_node_.find(node);
  if (at != by_expected_node_.end())
    for (const std::string_view uid : at->second) rows.push_back(&row_of(uid));
  return rows;
}

std::vector<const PodRow*> PodTable::all() const {
  std::vector<const PodRow*> rows;
  rows.reserve(size());
  for (std::uint32_t slot = 0; slot < slots_.size(); ++slot)
    if (!slots_[slot].uid.empty()) rows.push_back(&slots_[slot]);
  return sorted_by_uid(std::move(rows));
}

std::vector<std::string> PodTable::all_uids() const {
  std::vector<std::string> uids;
  uids.reserve(size());
  for (const PodRow* row : all()) uids.push_back(row->uid.str());
  return uids;
}

base::Hash128 PodTable::content_of(const events::PodView& pod) {
  scratch_.clear();
  scratch_.text(pod.uid);
  scratch_.text(pod.namespace_name);
  scratch_.text(pod.name);
  scratch_.text(pod.packed_labels);
  scratch_.text(pod.node);
  scratch_.text(pod.nominated_node);
  scratch_.text(pod.owner_name);
  scratch_(pod.shape);
  return base::hash128(scratch_.view(), kDigestSeed);
}

base::Hash128 PodTable::hash_of(const PodRow& row) {
  scratch_.clear();
  scratch_(row.content.low, row.content.high, row.phase, row.unschedulable, row.ready,
           row.creation_millis, row.deletion_millis, row.start_millis, row.position, row.seen_at,
           row.waits_since, row.pending_since, row.expected_until);
  if (row.expected_until.value() != 0) scratch_(row.expected_claim, row.expected_node);
  return base::hash128(scratch_.view(), kDigestSeed);
}

}  // namespace karst::projections
