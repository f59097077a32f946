#include "cloud/aws/outcome.h"

#include "base/check.h"
#include "cloud/aws/url.h"

namespace karst::cloud::aws {
namespace {

Service service_of(const std::string& name) {
  if (name == "iam") return Service::kIam;
  if (name == "ssm") return Service::kSsm;
  if (name == "pricing") return Service::kPricing;
  if (name == "eks") return Service::kEks;
  if (name == "arc-zonal-shift") return Service::kZonalShift;
  KARST_CHECK(name == "ec2", "a service that the pure half asks, and the hands do not know");
  return Service::kEc2;
}

}  // namespace

model::RefusalCode code_of(Trouble trouble) {
  switch (trouble) {
    case Trouble::kThrottled:
      return model::RefusalCode::kThrottled;
    case Trouble::kDenied:
      return model::RefusalCode::kDenied;
    case Trouble::kNotFound:
      return model::RefusalCode::kGone;
    case Trouble::kRefused:
      return model::RefusalCode::kInvalid;
    case Trouble::kNone:
    case Trouble::kCredentials:
    case Trouble::kSkew:
    case Trouble::kServer:
    case Trouble::kMalformed:
    case Trouble::kUnclear:
    case Trouble::kNotSent:
      break;
  }
  return model::RefusalCode::kRetry;
}

model::Outcome failed(const ports::IssuedCommand& command, const CallError& error,
                      const std::string& action, Asked asked) {
  model::Outcome outcome = ports::refused(command, code_of(error.trouble), told(error, action));
  if (asked == Asked::kWrite && may_have_happened(error.trouble)) {
    outcome.kind = model::OutcomeKind::kUnclear;
    outcome.code = model::RefusalCode::kNone;
  }
  return outcome;
}

Call call_of(providers::aws::Request request, Purpose purpose) {
  Call call;
  call.service = service_of(request.service);
  call.action = std::move(request.action);
  call.parameters = std::move(request.parameters);
  call.purpose = purpose;
  if (!request.path.empty()) call.path.clear();
  for (const std::string& part : request.path) call.path += "/" + uri_encode(part);
  return call;
}

}  // namespace karst::cloud::aws
