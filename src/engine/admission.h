// Admission: which facts tell something new. A redelivered message, a relist of known objects, a repeated answer cost no log.
// Holds the open list brackets, which are not state: replay never sees them, because a closed bracket becomes explicit …Gone.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "events/body.h"
#include "ports/fact.h"
#include "projections/cluster_state.h"

namespace karst::engine {

class Admission {
 public:
  // The events that this fact becomes, in order, judged against `state`: usually one, none when it is old news, many when it
  // closes a list. The caller applies them before it admits the next fact.
  std::vector<events::Body> admit(const projections::ClusterState& state, events::Body body);

  // Forgets open brackets: their source starts over.
  void reset() { seen_.clear(); }

 private:
  std::vector<events::Body> close_bracket(const projections::ClusterState& state, events::ListEnded ended);
  void note_seen(const events::Body& body);

  std::map<std::string, std::set<std::string>> seen_;  // by kind: the keys that the open list has named
};

}  // namespace karst::engine
