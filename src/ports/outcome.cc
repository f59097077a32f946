#include "ports/outcome.h"

namespace karst::ports {

model::Outcome done(const IssuedCommand& command) {
  model::Outcome outcome;
  outcome.command = command.id.position;
  outcome.attempt = command.attempt;
  return outcome;
}

model::Outcome refused(const IssuedCommand& command, model::RefusalCode code, std::string message) {
  model::Outcome outcome = done(command);
  outcome.kind = model::OutcomeKind::kRefused;
  outcome.code = code;
  outcome.message = model::outcome_message(message);
  return outcome;
}

}  // namespace karst::ports
