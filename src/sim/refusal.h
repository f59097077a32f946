// What a hand or the cloud answers to a command that it refuses.
#pragma once

#include <string>
#include <utility>

#include "model/outcome.h"

namespace karst::sim {

inline model::Outcome refused(model::RefusalCode code, std::string message) {
  model::Outcome outcome;
  outcome.kind = model::OutcomeKind::kRefused;
  outcome.code = code;
  outcome.message = std::move(message);
  return outcome;
}

}  // namespace karst::sim
