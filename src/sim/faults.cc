#include "sim/faults.h"

namespace karst::sim {

std::string_view fault_name(Fault fault) {
  constexpr std::array<std::string_view, kFaults> kFaultNames = {
      "duplicate delivery", "late delivery",       "watch break",
      "stale view",         "write conflict",      "server error",
      "answer lost before", "answer lost after",   "eviction blocked",
      "no capacity",        "partial fleet",       "throttled",
      "launch answer lost", "late success",        "list misses",
      "terminate ignored",  "terminate slow",      "never registers",
      "never ready",        "outside kill",        "finalizer stripped",
      "node deleted",       "claim deleted",       "message duplicate",
      "message late",       "message foreign",     "message malformed",
      "wall jump",          "crash before append", "crash after append",
      "power loss",         "crash in dispatch",   "disk full"};
  return kFaultNames[static_cast<std::size_t>(fault)];
}

}  // namespace karst::sim
