// A pod as the fold reads it: views into stored bytes, so that folding a million pod changes
// allocates nothing for them. Valid as long as the payload and the scratch string they were made
// from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/pod.h"

namespace karst::events {

struct PodView {
  std::string_view uid;
  std::string_view namespace_name;
  std::string_view name;
  std::string_view
      packed_labels;  // per label: key and value, each behind its length in 2 bytes, little-endian
  std::string_view node;
  std::string_view nominated_node;
  std::string_view owner_name;
  model::ShapeHash shape;
  model::PodPhase phase = model::PodPhase::kPending;
  bool unschedulable = false;
  bool ready = false;
  std::int64_t creation_millis = 0;
  std::int64_t deletion_millis = 0;
  std::int64_t start_millis = 0;

  bool terminal() const {
    return phase == model::PodPhase::kSucceeded || phase == model::PodPhase::kFailed;
  }
};

// Of a PodObserved payload. REQUIRES: it passed verify_payload.
PodView view_pod(std::string_view payload, std::string& scratch);
PodView view_pod(const model::Pod& pod, std::string& scratch);

model::Labels unpack_labels(std::string_view packed);

}  // namespace karst::events
