// Kubernetes Events (core v1) for people who describe an object: best effort. What the API server
// refuses or does not answer is dropped and counted, never sent again; nothing waits for it. Any
// thread publishes; answers come on the client's transport thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "kube/client.h"

namespace karst::kube {

inline constexpr std::size_t kEventsInFlightMax = 8;
inline constexpr std::size_t kEventsWaitingMax = 2'000;
inline constexpr std::size_t kEventMessageMax = 1'000;  // bytes; the API takes 1,024

// What an event is about. Cluster-scoped objects have no namespace; their events live in "default".
struct InvolvedObject {
  std::string api_version;
  std::string kind;
  std::string namespace_name;
  std::string name;
  std::string uid;
  friend auto operator<=>(const InvolvedObject&, const InvolvedObject&) = default;
};

struct ObjectEvent {
  InvolvedObject object;
  std::string reason;
  bool warning = false;
  std::string message;      // cut to kEventMessageMax
  std::string name_suffix;  // the event is called OBJECT.SUFFIX; unique for the object
  std::int64_t time_millis = 0;
  friend bool operator==(const ObjectEvent&, const ObjectEvent&) = default;
};

// The v1 Event that the API server takes.
std::string event_json(const ObjectEvent& event);

class EventPublisher {
 public:
  // `client` outlives the publisher; destroy the client's transport first.
  explicit EventPublisher(Client& client) : client_(client) {}

  // Never blocks. Beyond kEventsWaitingMax the event is dropped.
  void publish(ObjectEvent event);
  std::uint64_t dropped() const;  // for want of room, or refused

 private:
  void send(ObjectEvent event);
  void answered(bool ok);

  Client& client_;
  mutable std::mutex mutex_;
  std::deque<ObjectEvent> waiting_;
  std::size_t in_flight_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace karst::kube
