// Walks the events that may have one of some terms, in the order of the log, while whoever looks at
// them adds more terms. With an index only those events are read, and what is not indexed yet;
// without one, or when it turns out damaged, every event. Either way each event that has a wanted
// term and comes after the moment that the term was wanted is seen. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>

#include "base/result.h"
#include "events/event_log.h"
#include "index/reader.h"

namespace karst::index {

inline constexpr std::size_t kCandidatesMax = 1'000'000;  // more of them: the log is scanned

class Search {
 public:
  // `index` may be nullptr. `progress` (may be empty) hears how far a scan is.
  Search(const events::EventLog& log, const Reader* index,
         std::function<void(model::Position)> progress);

  // From the next event on.
  void want(Term term);
  // Calls `see` for events at hand from `from` on, with more of them than were wanted; false ends
  // it.
  base::Status run(model::Position from, const std::function<bool(const events::Event&)>& see);

  // Events that were read.
  std::uint64_t read() const { return read_; }
  // What was wrong with the index, if it was given up.
  const std::optional<base::Error>& given_up() const { return given_up_; }

 private:
  void look_up(Term term);
  void give_up(base::Error error);
  base::Status scan(model::Position from, const std::function<bool(const events::Event&)>& see);

  const events::EventLog& log_;
  const Reader* index_;
  std::function<void(model::Position)> progress_;
  std::set<Term> wanted_;
  std::set<model::Position> candidates_;
  model::Position next_{1};
  std::uint64_t read_ = 0;
  std::optional<base::Error> given_up_;
};

}  // namespace karst::index
