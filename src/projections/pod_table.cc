#include "projections/pod_table.h"

#include <algorithm>

#include "base/check.h"

namespace karst::projections {
namespace {

constexpr std::uint64_t kDigestSeed = 2;

std::string_view text_of(const std::string* interned) {
  return interned == nullptr ? std::string_view() : *interned;
}

std::vector<const PodRow*> sorted_by_uid(std::vector<const PodRow*> rows) {
  std::sort(rows.begin(), rows.end(),
            [](const PodRow* a, const PodRow* b) { return a->uid < b->uid; });
  return rows;
}

}  // namespace

model::Pod PodRow::to_model() const {
  model::Pod pod;
  pod.uid = uid;
  pod.namespace_name = std::string(text_of(namespace_name));
  pod.name = name;
  pod.shape = shape_hash;
  pod.labels = labels();
  pod.node = model::NodeName(text_of(node));
  pod.nominated_node = model::NodeName(text_of(nominated_node));
  pod.phase = phase;
  pod.unschedulable = unschedulable;
  pod.ready = ready;
  pod.owner_name = std::string(text_of(owner_name));
  pod.creation_millis = creation_millis;
  pod.deletion_millis = deletion_millis;
  pod.start_millis = start_millis;
  return pod;
}

const PodRow* PodTable::find(std::string_view uid) const {
  const auto at = index_.find(uid);
  return at == index_.end() ? nullptr : &slots_[at->second];
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
  slots_.emplace_back();
  return static_cast<std::uint32_t>(slots_.size() - 1);
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

void PodTable::assign(PodRow& row, const events::PodView& pod, model::Position position) {
  if (row.namespace_name == nullptr || *row.namespace_name != pod.namespace_name)
    row.namespace_name = intern(pod.namespace_name);
  if (row.name != pod.name) row.name = pod.name;
  if (row.packed_labels != pod.packed_labels) row.packed_labels = pod.packed_labels;
  row.phase = pod.phase;
  row.unschedulable = pod.unschedulable;
  row.ready = pod.ready;
  if (text_of(row.owner_name) != pod.owner_name) row.owner_name = intern(pod.owner_name);
  row.creation_millis = pod.creation_millis;
  row.deletion_millis = pod.deletion_millis;
  row.start_millis = pod.start_millis;
  row.position = position;
}

namespace {

// A change that leaves a pod where it is: the same node, shape and standing, nothing pending,
// nothing expected.
bool stays(const PodRow& row, const events::PodView& pod, const model::PodShape* shape) {
  return row.shape == shape && row.node != nullptr && *row.node == pod.node &&
         row.terminal() == pod.terminal() &&
         (row.deletion_millis == 0) == (pod.deletion_millis == 0) &&
         row.pending_since.value() == 0 && row.nominated_node == nullptr &&
         pod.nominated_node.empty() && row.expected_claim.empty() && row.expected_node.empty();
}

}  // namespace

const PodRow& PodTable::observe(const events::PodView& pod, const model::PodShape* shape,
                                model::Position position, base::LogTime now) {
  KARST_CHECK(shape != nullptr, "a pod's shape is logged before the pod");
  const auto at = index_.find(pod.uid);
  std::uint32_t slot = 0;
  if (at == index_.end()) {
    slot = fresh_slot();
    slots_[slot] = PodRow{};
    slots_[slot].uid = model::PodUid(pod.uid);
    slots_[slot].seen_at = now;
    index_.emplace(slots_[slot].uid.str(), slot);
  } else {
    slot = at->second;
    PodRow& known = slots_[slot];
    if (stays(known, pod, shape)) {
      digest_.remove(known.hash);
      assign(known, pod, position);
      known.hash = hash_of(known);
      digest_.add(known.hash);
      return known;
    }
  }
  const std::string* left = slots_[slot].node;
  const bool bound_anew =
      !pod.node.empty() && (slots_[slot].node == nullptr || *slots_[slot].node != pod.node);
  if (at != index_.end()) unlink(slot);
  PodRow& row = slots_[slot];
  assign(row, pod, position);
  row.node = pod.node.empty() ? nullptr : &place_of(pod.node)->name;
  row.shape = shape;
  row.shape_hash = pod.shape;
  row.nominated_node = intern(pod.nominated_node);
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
  const auto at = index_.find(uid);
  if (at == index_.end()) return false;
  const std::uint32_t slot = at->second;
  unlink(slot);
  index_.erase(at);
  if (slots_[slot].node != nullptr) forget_empty_place(slots_[slot].node);
  slots_[slot] = PodRow{};
  free_.push_back(slot);
  return true;
}

bool PodTable::expect(std::string_view uid, const model::ClaimName& claim,
                      const model::NodeName& node, base::LogTime until) {
  const auto at = index_.find(uid);
  if (at == index_.end()) return false;
  PodRow& row = slots_[at->second];
  unlink(at->second);
  row.expected_claim = claim;
  row.expected_node = node;
  row.expected_until = until;
  link(at->second);
  return true;
}

void PodTable::link(std::uint32_t slot) {
  PodRow& row = slots_[slot];
  const std::string_view uid = row.uid.str();
  if (row.pending_since.value() != 0) {
    pending_.insert(uid);
    by_pending_.insert({row.pending_since, uid});
  }
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
  const auto drop = [&](auto& index, const std::string& key) {
    const auto at = index.find(key);
    if (at == index.end()) return;
    at->second.erase(uid);
    if (at->second.empty()) index.erase(at);
  };
  if (!row.expected_claim.empty()) drop(by_expected_claim_, row.expected_claim.str());
  if (!row.expected_node.empty()) drop(by_expected_node_, row.expected_node.str());
  if (row.node == nullptr) return;
  const auto at = places_.find(*row.node);
  KARST_CHECK(at != places_.end(), "a bound pod is in its node's index");
  NodePods& pods = at->second->pods;
  const auto place = std::find(pods.slots.begin(), pods.slots.end(), slot);
  KARST_CHECK(place != pods.slots.end(), "a bound pod is in its node's list");
  *place = pods.slots.back();
  pods.slots.pop_back();
  if (!row.terminal()) {
    pods.requests -= row.shape->requests;
    if (row.daemon()) pods.daemon_requests -= row.shape->requests;
  }
  if (row.reschedulable()) --pods.reschedulable;
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

std::vector<std::string> PodTable::all_uids() const {
  std::vector<std::string> uids;
  uids.reserve(index_.size());
  for (const PodRow& row : slots_)
    if (!row.uid.empty()) uids.push_back(row.uid.str());
  std::sort(uids.begin(), uids.end());
  return uids;
}

base::Hash128 PodTable::hash_of(const PodRow& row) {
  scratch_.clear();
  write_row(scratch_, row);
  return base::hash128(scratch_.view(), kDigestSeed);
}

void PodTable::write_row(base::ByteWriter& writer, const PodRow& row) {
  static const std::string kNone;
  const auto text = [](const std::string* interned) -> const std::string& {
    return interned == nullptr ? kNone : *interned;
  };
  writer(row.uid, row.name, row.packed_labels, row.shape_hash, text(row.nominated_node), row.phase,
         row.unschedulable, row.ready, text(row.owner_name), row.creation_millis,
         row.deletion_millis, row.start_millis, row.position, row.seen_at, row.pending_since,
         row.expected_claim, row.expected_node, row.expected_until, text(row.namespace_name),
         text(row.node));
}

bool PodTable::read_row(base::ByteReader& reader, PodRow& row) {
  std::string namespace_name;
  std::string node;
  std::string nominated;
  std::string owner;
  reader(row.uid, row.name, row.packed_labels, row.shape_hash, nominated, row.phase,
         row.unschedulable, row.ready, owner, row.creation_millis, row.deletion_millis,
         row.start_millis, row.position, row.seen_at, row.pending_since, row.expected_claim,
         row.expected_node, row.expected_until, namespace_name, node);
  row.namespace_name = intern(namespace_name);
  row.node = node.empty() ? nullptr : &place_of(node)->name;
  row.nominated_node = intern(nominated);
  row.owner_name = intern(owner);
  return reader.ok();
}

void PodTable::save(base::ByteWriter& writer) const {
  writer(static_cast<std::uint64_t>(index_.size()));
  for (const std::string& uid : all_uids()) write_row(writer, row_of(uid));
}

}  // namespace karst::projections
