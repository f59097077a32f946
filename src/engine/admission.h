// Admission: which facts tell something new. A redelivered message, a relist of known objects, a
// repeated answer cost no log. Holds the open list brackets, which are not state: replay never sees
// them, because a closed bracket becomes explicit …Gone.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "events/body.h"
#include "ports/fact.h"
#include "projections/cluster_state.h"

namespace karst::engine {

class Admission {
 public:
  // The events that this fact becomes, in order, judged against `state`: usually one, none when it
  // is old news, many when it closes a list. The caller applies them before it admits the next
  // fact. A list that began before the epoch (by ports::Fact::order) counts for nothing.
  std::vector<events::Body> admit(const projections::ClusterState& state, base::LogTime now,
                                  events::Body body, std::uint64_t order = 0);

 private:
  struct Bracket {
    base::LogTime started_at;
    std::set<std::string> named;  // keys of the objects that the list has named so far
    std::set<std::string>
        refused;  // NAMESPACE/NAME of those that could not be read: they are there
  };

  std::vector<events::Body> close_bracket(const projections::ClusterState& state,
                                          const events::ListEnded& ended);
  void note_refused(const events::InputRefused& refused);
  void note_named(const events::Body& body);

  std::map<std::string, Bracket> brackets_;  // open lists by kind
  std::uint64_t epoch_order_ = 0;            // of the last EpochOpened
  std::map<std::string, base::LogTime>
      refused_lately_;  // InputRefused already logged, by source and id
};

}  // namespace karst::engine
