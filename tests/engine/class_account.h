// A cloud whose node classes find what a test answers, for stories about them.
#pragma once

#include "tests/engine/stage.h"

namespace karst::engine::testing {

using model::ConditionStatus;

// A cloud where a class finds nothing until it has been asked, and then what the answer says: the
// name of one type, which can be bought reserved.
class ClassAccount final : public providers::Provider {
 public:
  ClassAccount() {
    catalogue_.provider = "kwok";
    for (const char* name : {"large", "small"}) {
      model::InstanceType type;
      type.name = name;
      type.requirements = {{std::string(model::kInstanceTypeLabel), model::Operator::kIn, {name}}};
      type.capacity = shape_of(4000).requests;
      type.capacity.memory_bytes = std::int64_t{8} << 30;
      type.capacity.pods = 20;
      type.allocatable = type.capacity;
      model::Offering offering{"zone-1", "reserved", 0, true};
      offering.reservation = "cr-1";
      offering.reservation_count = 1;
      offering.labels = {{"reservation-id", "cr-1"}};
      type.offerings = {{"zone-1", "on-demand", 1'000'000, true}, offering};
      catalogue_.types.push_back(std::move(type));
    }
  }
  std::string_view name() const override { return "kwok"; }
  bool understands(const model::NodeClassRef&) const override { return true; }
  const model::Catalogue& embedded_catalogue() const override { return catalogue_; }
  std::span<const std::string_view> label_keys() const override { return kKeys; }
  bool depends_on_class() const override { return true; }
  std::string_view reservation_label() const override { return kKeys[0]; }
  std::vector<model::InstanceType> types_for(
      const model::Catalogue& catalogue, const model::NodeClass&, std::string_view resolved,
      std::span<const providers::SeenMemory> seen) const override {
    ++asked;
    std::vector<model::InstanceType> types;
    for (const model::InstanceType& type : catalogue.types)
      if (type.name == resolved) types.push_back(type);
    for (const providers::SeenMemory& one : seen)
      for (model::InstanceType& type : types)
        if (type.name == one.instance_type && one.image == "ami-1")
          type.capacity.memory_bytes = type.allocatable.memory_bytes = one.bytes;
    return types;
  }
  std::string encode_resolve(const model::NodeClass& node_class) const override {
    return "find " + node_class.spec_json;
  }
  providers::NodeClassStatus status_of(const model::NodeClass&,
                                       std::string_view resolved) const override {
    ++judged;
    model::Condition ready;
    ready.type = ready.reason = "Ready";
    ready.status = resolved.empty() ? ConditionStatus::kUnknown : ConditionStatus::kTrue;
    ready.observed_generation = found_for;
    model::Condition reserved;  // only some classes have anything to say about it
    reserved.type = reserved.reason = "CapacityReservationsReady";
    reserved.status = ConditionStatus::kTrue;
    if (resolved == "large") return {{reserved, ready}, R"({"found":"large"})"};
    return {{ready}, resolved.empty() ? "" : R"({"found":")" + std::string(resolved) + "\"}"};
  }
  std::vector<std::string> shifted_zones(std::string_view resolved) const override {
    if (resolved != "small, but not in zone-1") return {};
    return {"zone-1"};
  }
  std::vector<std::string> ending_reservations(std::string_view resolved) const override {
    if (resolved != "small, and cr-1 ends") return {};
    return {"cr-1"};
  }
  std::string encode_launch(const model::Catalogue&,
                            std::span<const providers::LaunchSubject> subjects,
                            const model::LaunchToken&, std::span<const model::Offer>,
                            const std::string&) const override {
    std::string request = "launch with " + std::string(subjects.front().resolved);
    for (const providers::SeenMemory& one : subjects.front().seen_memory)
      request += " of " + std::to_string(one.bytes >> 20) + " MiB";
    return request;
  }

  std::int64_t found_for = 0;  // the generation that what was found says it is of; 0: none
  mutable int asked = 0;
  mutable int judged = 0;

 private:
  static constexpr std::string_view kKeys[] = {"reservation-id"};
  model::Catalogue catalogue_;
};

inline model::NodeClass node_class(std::int64_t generation) {
  return {{"karpenter.kwok.sh", "KWOKNodeClass", "default"}, "c1", generation, true, 0, "{}", {}};
}

// Answers the one ResolveNodeClass that was sent.
inline model::ResolveNodeClass found(Story& story, const std::string& what) {
  const auto commands = story.take<model::ResolveNodeClass>();
  EXPECT_EQ(commands.size(), 1u);
  if (commands.size() != 1) return {};
  model::Outcome outcome;
  outcome.command = commands[0].id.position;
  outcome.resolution = what;
  story.fact(outcome);
  story.step();
  return std::get<model::ResolveNodeClass>(commands[0].spec);
}

}  // namespace karst::engine::testing
