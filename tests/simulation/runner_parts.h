// What a simulated process is given beside its log: an inbox, and a place for snapshots.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "events/snapshots.h"
#include "ports/fact.h"

namespace karst::simulation {

// The two lanes, as facts wait for the engine.
class Inbox : public ports::FactSink {
 public:
  bool offer(ports::Fact fact) override {
    lane(ports::lane_of(fact.body)).push_back(std::move(fact));
    return true;
  }
  bool urgent() const { return !urgent_.empty(); }
  bool empty() const { return urgent_.empty() && ordinary_.empty(); }
  void clear() {
    urgent_.clear();
    ordinary_.clear();
  }
  std::vector<ports::Fact> take(std::size_t most) {
    std::vector<ports::Fact> facts;
    for (std::deque<ports::Fact>* from : {&urgent_, &ordinary_})
      for (; !from->empty() && facts.size() < most; from->pop_front())
        facts.push_back(std::move(from->front()));
    return facts;
  }

 private:
  std::deque<ports::Fact>& lane(base::Lane which) {
    return which == base::Lane::kUrgent ? urgent_ : ordinary_;
  }
  std::deque<ports::Fact> urgent_;
  std::deque<ports::Fact> ordinary_;
};

// Snapshots on stable storage of their own: a power loss keeps them all, so that one of events
// which were lost would be found out.
class KeptSnapshots final : public events::Snapshots {
 public:
  base::Status put(std::string_view, const events::Snapshot& snapshot) override {
    kept_.push_back(snapshot);
    if (kept_.size() > 3) kept_.erase(kept_.begin());
    return {};
  }
  base::Result<std::optional<events::Snapshot>> latest(std::string_view,
                                                       model::Position position) const override {
    for (auto at = kept_.rbegin(); at != kept_.rend(); ++at)
      if (at->position <= position) return std::optional<events::Snapshot>(*at);
    return std::optional<events::Snapshot>();
  }

 private:
  std::vector<events::Snapshot> kept_;
};

}  // namespace karst::simulation
