// What karst sees of the API server: per kind a full list in brackets, then changes in order, each
// a little late. Faults make it later, double it, or break it, after which a new full list follows.
// Objects of one kind keep their order.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/api_server.h"
#include "sim/core.h"
#include "sim/scenario.h"

namespace karst::sim {

class Watches {
 public:
  Watches(Core& core, ApiServer& api, const Timing& timing);

  // A process came up: everything is listed anew. Or went down: nothing more is delivered.
  void connect();
  void disconnect();

  // Loses what is under way for this kind and lists again after a while.
  void break_watch(Kind kind);
  // From now on, for `lasting_millis`, changes of this kind arrive that much later.
  void lag(Kind kind, std::int64_t by_millis, std::int64_t lasting_millis);

 private:
  struct Stream {
    bool live = false;
    std::uint64_t generation = 0;
    std::uint64_t version = 0;
    std::int64_t last_delivery = 0;
    std::int64_t lag_millis = 0;
    std::int64_t lag_until = 0;
  };
  Stream& stream(Kind kind) { return streams_[static_cast<std::size_t>(kind)]; }
  void changed(Kind kind, std::vector<events::Body> bodies);
  void deliver(Kind kind, std::int64_t extra_millis, std::vector<events::Body> bodies);
  void list(Kind kind);
  void beat(Kind kind, std::uint64_t connection);

  Core& core_;
  ApiServer& api_;
  const Timing& timing_;
  std::array<Stream, kKinds> streams_;
};

}  // namespace karst::sim
