#include "kube/lease_protocol.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/time.h"

namespace karst::kube {
namespace {

using nlohmann::json;

// metav1.MicroTime, which is read with exactly six digits.
std::string micro_time(std::int64_t wall_millis) {
  std::string text = base::format_rfc3339(wall_millis);
  text.insert(text.size() - 1, "000");
  return text;
}

std::string text_of(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::int64_t number_at(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<std::int64_t>() : 0;
}

}  // namespace

LeaseProtocol::LeaseProtocol(LeaseName name, std::uint64_t epoch_floor)
    : name_(std::move(name)), epoch_floor_(epoch_floor) {}

LeaseProtocol::Step LeaseProtocol::start(Now now) {
  return get(now);
}

LeaseProtocol::Step LeaseProtocol::get(Now now) {
  asked_ = Request::Kind::kGet;
  sent_at_ = now.monotonic;
  Request request;
  if (epoch_ != 0)
    request.timeout_millis =
        std::clamp<std::int64_t>(deadline_ - now.monotonic, 1, kLeaseRequestMillis);
  return {std::move(request), 0};
}

LeaseProtocol::Step LeaseProtocol::timer(Now now) {
  end_late_term(now);
  return epoch_ != 0 && known_ ? write(now, Request::Kind::kUpdate) : get(now);
}

LeaseProtocol::Step LeaseProtocol::answered(Now now, const Answer& answer) {
  const bool was_get = asked_ == Request::Kind::kGet;
  Step step = was_get ? got(now, answer) : written(now, answer);
  end_late_term(now);
  return step;
}

void LeaseProtocol::end_late_term(Now now) {
  if (epoch_ != 0 && now.monotonic >= deadline_) epoch_ = 0;
}

LeaseProtocol::Step LeaseProtocol::got(Now now, const Answer& answer) {
  trouble_.clear();
  if (answer.status == 404) return write(now, Request::Kind::kCreate);
  if (answer.status != 200 || !take(now, answer.body)) {
    if (trouble_.empty()) trouble_ = answer.error;
    return wait(now);
  }
  return next(now);
}

// What the lease as just read asks for.
LeaseProtocol::Step LeaseProtocol::next(Now now) {
  const bool ours = seen_.holder == name_.identity;
  // Somebody took it: our clock ran slow, or a person did. Under our own name it is another process
  // all the same, whose term is waited for from then on.
  if (epoch_ != 0 && (!ours || seen_.transitions != epoch_)) {
    epoch_ = 0;
    has_namesake_ |= ours;
  }
  const bool ended = now.monotonic >= seen_at_ + seen_.duration_millis;
  if (epoch_ != 0 || (ours && !has_namesake_) || seen_.holder.empty() || ended)
    return write(now, Request::Kind::kUpdate);
  return wait(now);
}

LeaseProtocol::Step LeaseProtocol::write(Now now, Request::Kind kind) {
  if (kind == Request::Kind::kCreate) object_.clear(), seen_ = {};
  end_late_term(now);
  bid_ = epoch_ != 0 ? epoch_ : std::max(seen_.transitions, epoch_floor_) + 1;
  if (epoch_ == 0) acquired_wall_ = now.wall;
  asked_ = kind;
  sent_at_ = now.monotonic;
  Request request{kind, record(now, false), kLeaseRequestMillis};
  if (epoch_ != 0)
    request.timeout_millis =
        std::clamp<std::int64_t>(deadline_ - now.monotonic, 1, kLeaseRequestMillis);
  return {std::move(request), 0};
}

LeaseProtocol::Step LeaseProtocol::written(Now now, const Answer& answer) {
  trouble_.clear();
  known_ = false;
  if (answer.status == 200 || answer.status == 201) {
    if (!take(now, answer.body)) return wait(now);
    // An answer that came late, or to a process that was stopped, is worth what is left of it.
    epoch_ = bid_;
    epoch_floor_ = std::max(epoch_floor_, epoch_);
    deadline_ = sent_at_ + kLeaseRenewDeadlineMillis;
    return wait(now);
  }
  // Somebody wrote in between, or the lease went: look at once, but only once in a row.
  if ((answer.status == 409 || answer.status == 404) && asked_ == Request::Kind::kUpdate)
    return get(now);
  if (answer.status != 409) trouble_ = answer.error;
  return wait(now);
}

LeaseProtocol::Step LeaseProtocol::wait(Now now) {
  end_late_term(now);
  std::int64_t millis = kLeaseRetryMillis;
  if (epoch_ != 0) millis = std::min(millis, deadline_ - now.monotonic);
  return {std::nullopt, std::max<std::int64_t>(millis, 1)};
}

// Reads the lease. False, with the trouble, when it is none.
bool LeaseProtocol::take(Now now, std::string_view body) {
  json object = json::parse(body, nullptr, false);
  const auto bad = [&](const char* what) {
    trouble_ = std::string("the lease cannot be read: ") + what;
    return false;
  };
  if (!object.is_object() || !object.contains("metadata") || !object["metadata"].is_object())
    return bad("it is no object with metadata");
  Seen seen;
  seen.version = text_of(object["metadata"], "resourceVersion");
  if (seen.version.empty()) return bad("it has no metadata.resourceVersion");
  if (!object.contains("spec")) object["spec"] = json::object();
  const json& spec = object["spec"];
  if (!spec.is_object()) return bad("its spec is no object");
  seen.holder = text_of(spec, "holderIdentity");
  seen.renewed = text_of(spec, "renewTime");
  seen.transitions =
      static_cast<std::uint64_t>(std::max<std::int64_t>(number_at(spec, "leaseTransitions"), 0));
  const std::int64_t seconds = number_at(spec, "leaseDurationSeconds");
  seen.duration_millis = seconds < 1 || seconds > kForeignDurationSecondsMax
                             ? kLeaseDurationMillis
                             : seconds * base::kMillisPerSecond;
  if (!(seen == seen_)) seen_at_ = now.monotonic;
  seen_ = std::move(seen);
  object_ = object.dump(-1, ' ', false, json::error_handler_t::replace);
  known_ = true;
  return true;
}

std::string LeaseProtocol::record(Now now, bool released) const {
  json object =
      object_.empty()
          ? json{{"apiVersion", "coordination.k8s.io/v1"},
                 {"kind", "Lease"},
                 {"metadata", {{"name", name_.name}, {"namespace", name_.namespace_name}}},
                 {"spec", json::object()}}
          : json::parse(object_, nullptr, false);
  json& spec = object["spec"];
  spec["holderIdentity"] = released ? "" : name_.identity;
  spec["leaseDurationSeconds"] = released ? 1 : kLeaseDurationMillis / base::kMillisPerSecond;
  spec["leaseTransitions"] = released ? seen_.transitions : bid_;
  spec["renewTime"] = micro_time(now.wall);
  spec["acquireTime"] = micro_time(released ? now.wall : acquired_wall_);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<LeaseProtocol::Request> LeaseProtocol::release(Now now) {
  const bool ours = epoch_ != 0 && known_ && seen_.holder == name_.identity;
  epoch_ = 0;
  if (!ours) return std::nullopt;
  return Request{Request::Kind::kUpdate, record(now, true), kLeaseRequestMillis};
}

}  // namespace karst::kube
