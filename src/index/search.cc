#include "index/search.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace karst::index {
namespace {

// To the next event of interest through the events between: cheaper than a new cursor.
constexpr std::uint64_t kStepsMax = 16;

// Events one after another, forward.
class Picker {
 public:
  explicit Picker(const events::EventLog& log) : log_(log) {}

  // nullopt: there is none at that position. Positions must rise.
  base::Result<std::optional<events::Event>> at(model::Position position) {
    if (cursor_ == nullptr || position.value() - next_.value() > kStepsMax) {
      auto cursor = log_.read(position);
      if (!cursor) return base::fail(cursor.error());
      cursor_ = std::move(*cursor);
      ahead_.reset();
    }
    while (!ahead_ || ahead_->envelope.position < position) {
      auto event = cursor_->next();
      if (!event) return event;
      if (!*event) return std::optional<events::Event>();
      ahead_ = **event;
    }
    next_ = ahead_->envelope.position;
    return next_ == position ? ahead_ : std::optional<events::Event>();
  }

 private:
  const events::EventLog& log_;
  std::unique_ptr<events::Cursor> cursor_;
  std::optional<events::Event> ahead_;  // what the cursor stands on
  model::Position next_;                // its position
};

}  // namespace

Search::Search(const events::EventLog& log, const Reader* index,
               std::function<void(model::Position)> progress)
    : log_(log), index_(index), progress_(std::move(progress)) {}

void Search::want(Term term) {
  if (wanted_.insert(term).second && index_ != nullptr) look_up(term);
}

void Search::look_up(Term term) {
  const auto found = index_->positions(term, next_);
  if (!found) return give_up(found.error());
  candidates_.insert(found->begin(), found->end());
  if (candidates_.size() > kCandidatesMax)
    give_up({base::Kind::kInvalid, "there are too many events to look at one by one"});
}

void Search::give_up(base::Error error) {
  given_up_ = std::move(error);
  index_ = nullptr;
  candidates_.clear();
}

base::Status Search::run(model::Position from,
                         const std::function<bool(const events::Event&)>& see) {
  next_ = std::max(from, log_.first());
  candidates_.clear();
  if (index_ != nullptr)
    for (const Term term : wanted_)
      if (index_ != nullptr) look_up(term);
  Picker picker(log_);
  while (index_ != nullptr) {
    const auto first = candidates_.lower_bound(next_);
    if (first == candidates_.end() || *first > index_->through()) {
      next_ = std::max(next_, model::Position(index_->through().value() + 1));
      break;
    }
    const model::Position position = *first;
    candidates_.erase(candidates_.begin(), std::next(first));
    auto event = picker.at(position);
    if (!event) return base::fail(event.error());
    next_ = model::Position(position.value() + 1);
    if (!*event) continue;  // not sound
    ++read_;
    if (!see(**event)) return {};
  }
  return scan(next_, see);
}

base::Status Search::scan(model::Position from,
                          const std::function<bool(const events::Event&)>& see) {
  if (from >= log_.end()) return {};
  auto cursor = log_.read(from);
  if (!cursor) return base::fail(cursor.error());
  for (;;) {
    auto event = (*cursor)->next();
    if (!event) return base::fail(event.error());
    if (!*event) return {};
    ++read_;
    next_ = model::Position((*event)->envelope.position.value() + 1);
    if (progress_) progress_((*event)->envelope.position);
    if (!see(**event)) return {};
  }
}

}  // namespace karst::index
