// A pod's row as a value, and as the bytes of a snapshot.
#include "projections/pod_table.h"

namespace karst::projections {
namespace {

const std::string& text_of(const std::string* interned) {
  static const std::string kNone;
  return interned == nullptr ? kNone : *interned;
}

}  // namespace

model::Pod PodRow::to_model() const {
  model::Pod pod;
  pod.uid = uid;
  pod.namespace_name = text_of(namespace_name);
  pod.name = name;
  pod.shape = shape_hash;
  pod.labels = labels();
  pod.node = model::NodeName(text_of(node));
  pod.nominated_node = model::NodeName(text_of(nominated_node));
  pod.phase = phase;
  pod.unschedulable = unschedulable;
  pod.ready = ready;
  pod.owner_name = text_of(owner_name);
  pod.creation_millis = creation_millis;
  pod.deletion_millis = deletion_millis;
  pod.start_millis = start_millis;
  return pod;
}

void PodTable::write_row(base::ByteWriter& writer, const PodRow& row) {
  writer(row.uid, row.name, row.packed_labels, row.shape_hash, text_of(row.nominated_node),
         row.phase, row.unschedulable, row.ready, text_of(row.owner_name), row.creation_millis,
         row.deletion_millis, row.start_millis, row.position, row.seen_at, row.waits_since,
         row.pending_since, row.expected_claim, row.expected_node, row.expected_until,
         text_of(row.namespace_name), text_of(row.node));
}

bool PodTable::read_row(base::ByteReader& reader, PodRow& row) {
  std::string_view namespace_name, node, nominated, owner;
  reader(row.uid, row.name, row.packed_labels, row.shape_hash, nominated, row.phase,
         row.unschedulable, row.ready, owner, row.creation_millis, row.deletion_millis,
         row.start_millis, row.position, row.seen_at, row.waits_since, row.pending_since,
         row.expected_claim, row.expected_node, row.expected_until, namespace_name, node);
  row.namespace_name = intern(namespace_name);
  row.node = node.empty() ? nullptr : &place_of(node)->name;
  row.nominated_node = intern(nominated);
  row.owner_name = intern(owner);
  row.content = content_of({row.uid.str(), namespace_name, row.name, row.packed_labels, node,
                            nominated, owner, row.shape_hash});
  return reader.ok();
}

void PodTable::save(base::ByteWriter& writer) const {
  writer(static_cast<std::uint64_t>(size()));
  for (const PodRow* row : all()) write_row(writer, *row);
}

}  // namespace karst::projections
