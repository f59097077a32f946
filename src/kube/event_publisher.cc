#include "kube/event_publisher.h"

#include <nlohmann/json.hpp>

#include "base/time.h"
#include "base/utf8.h"

namespace karst::kube {
namespace {

using nlohmann::json;

constexpr const char* kComponent = "karpenter";  // as people filter for it
constexpr std::size_t kNameMax = 253;

std::string home_of(const ObjectEvent& event) {
  return event.object.namespace_name.empty() ? "default" : event.object.namespace_name;
}

}  // namespace

std::string event_json(const ObjectEvent& event) {
  const std::string time = base::format_rfc3339_seconds(event.time_millis);
  const std::string suffix = "." + event.name_suffix;
  const json object = {{"apiVersion", "v1"},
                       {"kind", "Event"},
                       {"metadata",
                        {{"name", event.object.name.substr(0, kNameMax - suffix.size()) + suffix},
                         {"namespace", home_of(event)}}},
                       {"involvedObject",
                        {{"apiVersion", event.object.api_version},
                         {"kind", event.object.kind},
                         {"namespace", event.object.namespace_name},
                         {"name", event.object.name},
                         {"uid", event.object.uid}}},
                       {"reason", event.reason},
                       {"message", base::cut_utf8(event.message, kEventMessageMax)},
                       {"type", event.warning ? "Warning" : "Normal"},
                       {"source", {{"component", kComponent}}},
                       {"reportingComponent", kComponent},
                       {"firstTimestamp", time},
                       {"lastTimestamp", time},
                       {"count", 1}};
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

void EventPublisher::publish(ObjectEvent event) {
  {
    const std::lock_guard lock(mutex_);
    if (in_flight_ >= kEventsInFlightMax) {
      if (waiting_.size() < kEventsWaitingMax)
        waiting_.push_back(std::move(event));
      else
        ++dropped_;
      return;
    }
    ++in_flight_;
  }
  send(std::move(event));
}

void EventPublisher::send(ObjectEvent event) {
  Call call;
  call.method = http::Method::kPost;
  call.path = "/api/v1/namespaces/" + escaped(home_of(event)) + "/events";
  call.body = event_json(event);
  client_.send(std::move(call), [this](const http::Response& response) {
    // 409: told already, before a restart.
    answered(response.ok() || response.status == 409);
  });
}

void EventPublisher::answered(bool ok) {
  ObjectEvent next;
  {
    const std::lock_guard lock(mutex_);
    if (!ok) ++dropped_;
    if (waiting_.empty()) {
      --in_flight_;
      return;
    }
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  send(std::move(next));
}

std::uint64_t EventPublisher::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace karst::kube
