#include "events/pod_view.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>

#include "schemas/observation_generated.h"

namespace karst::events {
namespace {

constexpr std::size_t kTextMax = 0xFFFF;  // sources bound labels far below; what is longer is cut

// Packs the labels as PodView has them: `visit` calls what it is given with each text, in order,
// and is called twice, for their size and for their bytes.
template <class Visit>
void pack(std::string& out, Visit&& visit) {
  std::size_t size = 0;
  visit([&](std::string_view text) { size += 2 + std::min(text.size(), kTextMax); });
  out.resize(size);
  char* to = out.data();
  visit([&](std::string_view text) {
    text = text.substr(0, kTextMax);
    *to++ = static_cast<char>(text.size() & 0xFF);
    *to++ = static_cast<char>(text.size() >> 8);
    to += text.copy(to, text.size());
  });
}

std::string_view text_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

std::string cut_text(std::string_view& rest) {
  const std::size_t size = static_cast<unsigned char>(rest[0]) |
                           static_cast<std::size_t>(static_cast<unsigned char>(rest[1])) << 8;
  std::string text(rest.substr(2, size));
  rest.remove_prefix(2 + size);
  return text;
}

}  // namespace

PodView view_pod(std::string_view payload, std::string& scratch) {
  const auto* pod = flatbuffers::GetRoot<log::PodObserved>(payload.data());
  pack(scratch, [&](auto&& take) {
    if (pod->labels() == nullptr) return;
    for (const log::Pair* label : *pod->labels()) {
      take(text_of(label->key()));
      take(text_of(label->value()));
    }
  });
  PodView view;
  view.uid = text_of(pod->uid());
  view.namespace_name = text_of(pod->namespace_name());
  view.name = text_of(pod->name());
  view.packed_labels = scratch;
  view.node = text_of(pod->node());
  view.nominated_node = text_of(pod->nominated_node());
  view.owner_name = text_of(pod->owner_name());
  if (pod->shape() != nullptr) view.shape = {pod->shape()->high(), pod->shape()->low()};
  view.phase = static_cast<model::PodPhase>(pod->phase());
  view.unschedulable = pod->unschedulable();
  view.ready = pod->ready();
  view.creation_millis = pod->creation_millis();
  view.deletion_millis = pod->deletion_millis();
  view.start_millis = pod->start_millis();
  return view;
}

PodView view_pod(const model::Pod& pod, std::string& scratch) {
  pack(scratch, [&](auto&& take) {
    for (const auto& [key, value] : pod.labels) {
      take(key);
      take(value);
    }
  });
  PodView view;
  view.uid = pod.uid.str();
  view.namespace_name = pod.namespace_name;
  view.name = pod.name;
  view.packed_labels = scratch;
  view.node = pod.node.str();
  view.nominated_node = pod.nominated_node.str();
  view.owner_name = pod.owner_name;
  view.shape = pod.shape;
  view.phase = pod.phase;
  view.unschedulable = pod.unschedulable;
  view.ready = pod.ready;
  view.creation_millis = pod.creation_millis;
  view.deletion_millis = pod.deletion_millis;
  view.start_millis = pod.start_millis;
  return view;
}

model::Labels unpack_labels(std::string_view packed) {
  model::Labels labels;
  while (!packed.empty()) {
    std::string key = cut_text(packed);
    labels.emplace_back(std::move(key), cut_text(packed));
  }
  return labels;
}

}  // namespace karst::events
