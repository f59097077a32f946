// An event with what led to it, as far back as the log tells, for explain. One thread.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "base/result.h"
#include "events/body.h"
#include "events/event_log.h"
#include "tools/talk.h"

namespace karst::tools {

inline constexpr std::size_t kTreeEventsMax = 200;  // in one tree
inline constexpr int kTreeDepthMax = 40;

class CauseTree {
 public:
  explicit CauseTree(const events::EventLog& log) : log_(log) {}

  // The event with its causes nested in "causes". An event that was told already is not told again.
  base::Result<Json> tree(model::Position position, int depth = 0);

  static Json line(const events::Event& event, const events::Body& body);

 private:
  const events::EventLog& log_;
  std::set<model::Position> told_;
};

void print_tree(const Json& node, const std::string& indent);

}  // namespace karst::tools
