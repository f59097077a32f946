#include "projections/pod_table.h"

#include <algorithm>

#include "base/check.h"

namespace karst::projections {
namespace {

constexpr std::uint64_t kDigestSeed = 2;

std::string pack(const model::Labels& labels) {
  base::ByteWriter writer;
  if (labels.empty()) return {};
  writer(labels);
  return writer.take();
}

std::string_view text_of(const std::string* interned) { return interned == nullptr ? std::string_view() : *interned; }

std::vector<const PodRow*> sorted_by_uid(std::vector<const PodRow*> rows) {
  std::sort(rows.begin(), rows.end(), [](const PodRow* a, const PodRow* b) { return a->uid < b->uid; });
  return rows;
}

}  // namespace

model::Labels PodRow::labels() const {
  model::Labels labels;
  if (packed_labels.empty()) return labels;
  base::ByteReader reader(packed_labels);
  reader(labels);
  return labels;
}

model::Pod PodRow::to_model() const {
  model::Pod pod;
  pod.uid = uid;
  pod.namespace_name = std::string(text_of(namespace_name));
  pod.name = name;
  pod.shape = shape_hash;
  pod.labels = labels();
  pod.node = model::NodeName(text_of(node));
  pod.nominated_node = nominated_node;
  pod.phase = phase;
  pod.unschedulable = unschedulable;
  pod.ready = ready;
  pod.owner_name = owner_name;
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
  return at != interned_.end() ? &*at : &*interned_.emplace(text).first;
}

const PodRow& PodTable::observe(const model::Pod& pod, const model::PodShape* shape, model::Position position,
                                base::LogTime now) {
  KARST_CHECK(shape != nullptr, "a pod's shape is logged before the pod");
  const auto at = index_.find(pod.uid.str());
  std::uint32_t slot = 0;
  if (at == index_.end()) {
    slot = fresh_slot();
    slots_[slot] = PodRow{};
    slots_[slot].uid = pod.uid;
    slots_[slot].seen_at = now;
    index_.emplace(slots_[slot].uid.str(), slot);
  } else {
    slot = at->second;
    unlink(slot);
  }
  PodRow& row = slots_[slot];
  const std::string* node_before = row.node;
  row.namespace_name = intern(pod.namespace_name);
  row.name = pod.name;
  row.packed_labels = pack(pod.labels);
  row.node = intern(pod.node.str());
  row.shape = shape;
  row.shape_hash = pod.shape;
  row.nominated_node = pod.nominated_node;
  row.phase = pod.phase;
  row.unschedulable = pod.unschedulable;
  row.ready = pod.ready;
  row.owner_name = pod.owner_name;
  row.creation_millis = pod.creation_millis;
  row.deletion_millis = pod.deletion_millis;
  row.start_millis = pod.start_millis;
  row.position = position;
  if (!row.provisionable())
    row.pending_since = base::LogTime(0);
  else if (row.pending_since.value() == 0)
    row.pending_since = now;
  if ((row.node != nullptr && row.node != node_before) || !row.active()) {
    row.expected_claim = {};
    row.expected_node = {};
    row.expected_until = {};
  }
  link(slot);
  return row;
}

bool PodTable::erase(std::string_view uid) {
  const auto at = index_.find(uid);
  if (at == index_.end()) return false;
  const std::uint32_t slot = at->second;
  unlink(slot);
  index_.erase(at);
  slots_[slot] = PodRow{};
  free_.push_back(slot);
  return true;
}

bool PodTable::expect(std::string_view uid, const model::ClaimName& claim, const model::NodeName& node, base::LogTime until) {
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
    NodePods& pods = by_node_[*row.node];
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
  const auto at = by_node_.find(*row.node);
  KARST_CHECK(at != by_node_.end(), "a bound pod is in its node's index");
  NodePods& pods = at->second;
  const auto place = std::find(pods.slots.begin(), pods.slots.end(), slot);
  KARST_CHECK(place != pods.slots.end(), "a bound pod is in its node's list");
  *place = pods.slots.back();
  pods.slots.pop_back();
  if (!row.terminal()) {
    pods.requests -= row.shape->requests;
    if (row.daemon()) pods.daemon_requests -= row.shape->requests;
  }
  if (row.reschedulable()) --pods.reschedulable;
  if (pods.slots.empty()) by_node_.erase(at);
}

const NodePods* PodTable::on(std::string_view node) const {
  const auto at = by_node_.find(node);
  return at == by_node_.end() ? nullptr : &at->second;
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
  writer(row.uid, row.name, row.packed_labels, row.shape_hash, row.nominated_node, row.phase, row.unschedulable, row.ready,
         row.owner_name, row.creation_millis, row.deletion_millis, row.start_millis, row.position, row.seen_at,
         row.pending_since, row.expected_claim, row.expected_node, row.expected_until);
  static const std::string kNone;
  writer(row.namespace_name == nullptr ? kNone : *row.namespace_name, row.node == nullptr ? kNone : *row.node);
}

bool PodTable::read_row(base::ByteReader& reader, PodRow& row) {
  std::string namespace_name;
  std::string node;
  reader(row.uid, row.name, row.packed_labels, row.shape_hash, row.nominated_node, row.phase, row.unschedulable, row.ready,
         row.owner_name, row.creation_millis, row.deletion_millis, row.start_millis, row.position, row.seen_at,
         row.pending_since, row.expected_claim, row.expected_node, row.expected_until, namespace_name, node);
  row.namespace_name = intern(namespace_name);
  row.node = intern(node);
  return reader.ok();
}

void PodTable::save(base::ByteWriter& writer) const {
  writer(static_cast<std::uint64_t>(index_.size()));
  for (const std::string& uid : all_uids()) write_row(writer, row_of(uid));
}

}  // namespace karst::projections
