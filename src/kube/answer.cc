#include "kube/answer.h"

#include "kube/client.h"

namespace karst::kube {
namespace {

model::RefusalCode code_of(int status) {
  switch (status) {
    case 401:
    case 403:
      return model::RefusalCode::kDenied;
    case 404:
      return model::RefusalCode::kGone;
    case 409:
      return model::RefusalCode::kConflict;
    case 429:
      return model::RefusalCode::kThrottled;
    default:
      break;
  }
  return status >= 400 && status < 500 ? model::RefusalCode::kInvalid : model::RefusalCode::kRetry;
}

}  // namespace

model::Outcome failed(const ports::IssuedCommand& command, const http::Response& response,
                      Asked asked) {
  const bool no_answer = response.failure != http::Failure::kNone;
  const bool may_have_acted =
      asked == Asked::kWrite &&
      ((no_answer && response.failure != http::Failure::kNotSent) || response.status >= 500);
  const auto code = no_answer ? model::RefusalCode::kRetry : code_of(response.status);
  model::Outcome outcome = ports::refused(command, code, failure_text(response));
  if (may_have_acted) {
    outcome.kind = model::OutcomeKind::kUnclear;
    outcome.code = model::RefusalCode::kNone;
  }
  return outcome;
}

std::string audit_id(const ports::IssuedCommand& command) {
  return model::to_string(command.id) + "-" + std::to_string(command.attempt);
}

}  // namespace karst::kube
