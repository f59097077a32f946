// Which events an export takes: by time or position, subject and kind. All of the given parts must
// hold; within one part any of its values. A filtered export is no proof that nothing is missing
// between what it holds: whoever writes one says so (text() is what to say).
//
//   from, to   a position ("1234"), a time (RFC 3339: log time) or empty; both ends are included
//   subjects   pod/NAMESPACE/NAME, node/NAME, nodeclaim/NAME, nodepool/NAME (with its claims),
//              command/ID (a position, or "<log id>-<position>")
//   kinds      names of event types ("PodObserved") and groups: facts, commands, decisions,
//              outcomes, housekeeping
//
// Subjects are followed through the log: outcomes belong to their command's subject, pods are known
// by their uid once they were seen, launch orders belong to every claim in them, instances,
// interruptions and nodes to the claim that they serve. A node asked for by its name is itself and
// what is done to it; its claim was there before it, and is asked for by its own name. So a Filter
// with subjects must see every event from first() on, in order. Memory: the subjects' own uids,
// claims and commands, each at most kSubjectItemsMax: of more nothing is learnt, and complete()
// says so. Of a trimmed log they are known from its baseline (begin). One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/event.h"
#include "events/event_log.h"
#include "model/ids.h"
#include "projections/cluster_state.h"

namespace karst::exports {

inline constexpr std::size_t kSubjectItemsMax = 1 << 20;

struct FilterOptions {
  std::string from;
  std::string to;
  std::vector<std::string> subjects;
  std::vector<std::string> kinds;
};

// "facts", "commands", "decisions" (without commands' outcomes), "outcomes", "housekeeping". A
// command is a decision too.
bool in_group(events::EventType type, std::string_view group);
// The narrowest group of a type; a command's is "commands".
std::string_view group_of(events::EventType type);
// The types that a list of names and groups means. Errors: kInvalid names the word, and what there
// is; `option` is what it was given to.
base::Result<std::set<events::EventType>> types_of(const std::vector<std::string>& words,
                                                   std::string_view option);

class Filter {
 public:
  Filter() = default;  // takes everything
  // Errors: kInvalid names the option and what was expected.
  static base::Result<Filter> make(const FilterOptions& options, const model::LogId& log,
                                   std::size_t items_max = kSubjectItemsMax);

  // Everything is taken, whatever comes.
  bool takes_all() const { return text_.empty(); }
  // Where reading this log must begin: with what was asked for, or with the first that it has.
  model::Position first_in(const events::EventLog& log) const;
  // Whether what lies before the first event at hand matters: begin is to be called then.
  bool needs_history() const { return has_subjects_; }
  // Learns what was known before the first event: `state` is that of a trimmed log's baseline. Call
  // once, before takes.
  void begin(const projections::ClusterState& state);
  // Whether a claim is wanted that is known from events that were trimmed, `last` the last of them:
  // when the range takes that one in.
  bool takes_trimmed(const model::NodeClaim& claim, const events::Envelope& last) const;
  // Whether `event` is wanted; learns from it.
  bool takes(const events::Event& event);
  // Nothing from here on is wanted: reading may end.
  bool ends_before(const events::Envelope& envelope) const;
  // After the last event: whether all that is about the subjects could be told. Errors: kInvalid,
  // there were too many of them, and what to ask for instead.
  base::Status complete() const;
  // What was asked for, as one line: "from=10 to=2026-11-21T10:00:00Z subject=node/a kind=facts".
  // Empty: everything.
  const std::string& text() const { return text_; }

 private:
  struct Followed {
    std::set<std::string, std::less<>> streams;  // of the events that count
    std::set<std::string, std::less<>> nodes;    // streams of those asked for by name
    std::set<std::string, std::less<>> pods;     // "pod/NAMESPACE/NAME"
    std::set<std::string, std::less<>> pools;    // names
    std::set<std::string, std::less<>> uids;     // of claims and pods
    std::set<std::uint64_t> positions;           // commands asked for by their id
    std::set<model::Position> commands;          // of a subject
  };
  base::Status add_bound(std::string_view text, std::string_view option, bool begin);
  base::Status add_subject(std::string_view text, const model::LogId& log);
  bool in_range(const events::Envelope& envelope) const;
  bool follow(const events::Event& event);
  bool about(const events::Envelope& envelope, const events::Body& body) const;
  bool about_command(const model::Command& command) const;
  bool about_claim(const model::NodeClaim& claim) const;
  template <class Items, class Item>
  void add_bounded(Items& items, Item item);
  void follow_machine(const model::ProviderId& id);
  void learn(const events::Envelope& envelope, const events::Body& body);

  model::Position first_{1};
  std::optional<model::Position> last_;
  std::optional<std::int64_t> from_millis_, to_millis_;
  bool has_subjects_ = false;
  std::size_t items_max_ = kSubjectItemsMax;
  model::Position seen_{1};
  model::Position full_at_;  // from here on something may be missing; 0: nothing
  Followed followed_;
  std::set<events::EventType> types_;  // empty: all
  std::string text_;
};

}  // namespace karst::exports
