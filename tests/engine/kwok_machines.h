// kwok's machines, for the providers of tests that differ from kwok in one thing.
#pragma once

#include <string>

#include "tests/engine/story.h"

namespace karst::engine::testing {

class KwokMachines : public providers::Provider {
 public:
  std::string_view name() const override { return kwok().name(); }
  bool understands(const model::NodeClassRef& ref) const override {
    return kwok().understands(ref);
  }
  const model::Catalogue& embedded_catalogue() const override {
    return kwok().embedded_catalogue();
  }
  std::span<const std::string_view> label_keys() const override { return kwok().label_keys(); }
  std::string encode_launch(const model::Catalogue& catalogue,
                            std::span<const providers::LaunchSubject> subjects,
                            const model::LaunchToken& token, std::span<const model::Offer> offers,
                            const std::string& tag) const override {
    return kwok().encode_launch(catalogue, subjects, token, offers, tag);
  }

 private:
  static const providers::Provider& kwok() { return *providers::find_provider("kwok"); }
};

}  // namespace karst::engine::testing
