// Where snapshots of the state are kept. They are disposable: losing or refusing one costs time,
// nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/ids.h"

namespace karst::events {

struct Snapshot {
  model::Position position;  // the last event folded into it
  std::string bytes;
};

class Snapshots {
 public:
  virtual ~Snapshots() = default;
  // Keeps it beside a few older ones. `version` is the projection's: a snapshot of another version
  // is never returned.
  virtual base::Status put(std::string_view version, const Snapshot& snapshot) = 0;
  // The newest undamaged one at or before `position`; nullopt when there is none.
  virtual base::Result<std::optional<Snapshot>> latest(std::string_view version,
                                                       model::Position position) const = 0;
};

}  // namespace karst::events
