// Everything that a decision may know: a fold of the log, and nothing else. apply() is total: no
// clock, no I/O, no way to fail. Owned by the engine thread; reconcilers see it const. Tools fold
// their own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/set_digest.h"
#include "base/time.h"
#include "events/event.h"
#include "projections/pod_table.h"
#include "projections/rows.h"
#include "projections/table.h"

namespace karst::projections {

// Bump when rows, digests or the meaning of apply() change: snapshots of another version are not
// used.
inline constexpr std::string_view kProjectionVersion = "24";

// A refusal is forgotten so long after it is over, and the next wait is a first one again.
inline constexpr std::int64_t kBackOffKeptMillis = 10 * base::kMillisPerMinute;

// A machine whose clock is further off than this cannot be trusted with ages and deadlines.
inline constexpr std::int64_t kWallOffsetMaxMillis = 5 * base::kMillisPerMinute;

inline constexpr std::size_t kMessagesRemembered =
    20'000;  // interruption messages kept to know a redelivery

using SubjectKind = std::pair<std::string, model::CommandKind>;

// What the launched claims of a pool that are not leaving amount to.
struct PoolTotals {
  std::int64_t nodes = 0;
  model::Resources capacity;
};

class ClusterState {
 public:
  ClusterState() = default;
  // Knows nothing but where it is: behind `last` of this log. How a replica begins whose log cannot
  // be folded any more; the lists of every source bring the rest.
  static ClusterState behind(const model::LogId& log, const events::Envelope& last);

  // Folds one event. `body` is the decoded payload of an event with that envelope.
  void apply(const events::Envelope& envelope, const events::Body& body);
  void apply(const events::Event& event);  // from stored bytes

  // Digest of everything below. Equal states, however they came about, have equal digests.
  base::Hash128 digest() const;

  // The position that the next event gets, and the position of the last one applied.
  model::Position next_position() const { return model::Position(last_position_.value() + 1); }
  model::Position last_position() const { return last_position_; }
  const model::LogId& log_id() const { return log_id_; }
  const events::Config& config() const { return config_; }
  LogTime last_log_time() const { return last_log_time_; }
  std::uint64_t epoch() const { return epoch_; }
  // The verifier key of the log's checkpoints; empty: they are not signed.
  const std::string& signing_key() const { return signing_key_; }
  std::uint64_t rounds() const { return rounds_; }
  model::Position last_round() const { return last_round_; }
  // The latest ProvisioningHeld: when it was said, and until when it holds.
  LogTime held_at() const { return held_at_; }
  LogTime held_until() const { return held_until_; }
  // The disk of the log is full: open work is finished, nothing new is started.
  bool log_space_low() const { return log_space_low_; }
  // The machine's clock and log time disagree: nothing is removed that need not be.
  bool wall_clock_wrong() const { return wall_clock_wrong_; }
  // This replica led and does so no more.
  bool leadership_lost() const { return leadership_lost_; }

  const PodTable& pods() const { return pods_; }
  const Table<model::ShapeHash, ShapeRow>& shapes() const { return shapes_; }
  const Table<model::NodeName, NodeRow>& nodes() const { return nodes_; }
  const Table<model::NodeName, ActivityRow>& activity() const { return activity_; }
  const Table<model::ClaimName, ClaimRow>& claims() const { return claims_; }
  const Table<model::ProviderId, InstanceRow>& instances() const { return instances_; }
  const Table<model::PoolName, PoolRow>& pools() const { return pools_; }
  const Table<model::NodeClassRef, NodeClassRow>& node_classes() const { return node_classes_; }
  const Table<std::string, DaemonSetRow>& daemon_sets() const { return daemon_sets_; }
  const Table<Position, CommandRow>& commands() const { return commands_; }
  const Table<SubjectKind, BackOffRow>& back_offs() const { return back_offs_; }
  const Table<model::Offer, ExhaustedRow>& exhausted() const {
    return exhausted_;
  }  // price 0 in the key; one that names a capacity type alone is about all of it
  // Whether an offer is left alone now, since lately there was no capacity.
  bool is_exhausted(const model::Offer& offer, LogTime now) const;
  const Table<model::MessageId, InterruptionRow>& interruptions() const { return interruptions_; }
  const Table<std::string, SourceRow>& sources() const { return sources_; }  // by object kind
  const Table<std::pair<std::string, std::string>, VerdictRow>& verdicts() const {
    return verdicts_;
  }  // (subject, rule)
  const Table<std::string, CatalogueRow>& catalogues() const { return catalogues_; }

  // The memory that machines have shown, by instance type and image; and where it last changed.
  const Table<std::pair<std::string, std::string>, SeenMemoryRow>& seen_memory() const {
    return seen_memory_;
  }
  Position seen_memory_position() const;

  // What is kept as it is, by kind, namespace and name (model/named_object.h).
  const Table<model::ObjectKey, ObjectRow>& objects() const { return objects_; }
  template <class Object>
  const Object* object(const std::string& namespace_name, const std::string& name) const {
    const auto* row = objects_.find(model::ObjectKeyView{Object::kKind, namespace_name, name});
    return row == nullptr ? nullptr : std::get_if<Object>(&row->object);
  }
  // Calls f(Object, ObjectRow) for each of the kind, in the order of namespace and name.
  template <class Object, class F>
  void for_each(F&& f, std::string_view kind = Object::kKind) const {
    for (auto at = objects_.slots().lower_bound(model::ObjectKeyView{kind, {}, {}});
         at != objects_.slots().end() && at->first.kind == kind; ++at)
      f(std::get<Object>(at->second.row.object), at->second.row);
  }

  // The status that was last written, with success, to an object that karst explains without owning
  // it; nullptr: none. By the subject that model::status_subject gives.
  const model::MirrorStatus* told(std::string_view subject) const { return told_.find(subject); }

  // A full list of this kind has ended since the daemon started.
  bool listed(std::string_view kind) const;

  const ClaimRow* claim_by_uid(const model::ClaimUid& uid) const;
  const ClaimRow* claim_by_provider_id(const model::ProviderId& id) const;
  // Its node: the one that joined first, of several that carry its provider id.
  const NodeRow* node_of(const ClaimRow& claim) const;
  // Every node that carries this provider id: more than one is somebody's mistake.
  const std::set<model::NodeName>& nodes_by_provider_id(const model::ProviderId& id) const;

  // Where attention is needed, so that a round costs what changed and not what exists:
  // claims on their way up or down, interrupted, or not yet shown as ready in the API server;
  const std::set<model::ClaimName>& restless() const { return restless_; }
  // settled claims on whose node no pod would need another place;
  const std::set<model::ClaimName>& vacant() const { return vacant_; }
  // settled claims by the time at which they expire;
  const std::set<std::pair<LogTime, model::ClaimName>>& expiries() const { return expiries_; }
  // claims by the position at which they, or what the cloud says of their machine, last changed;
  const std::set<std::pair<Position, model::ClaimName>>& changes() const { return changes_; }
  // instances that no claim owns, or that the cloud's last list did not name.
  const std::set<model::ProviderId>& loose_instances() const { return loose_; }
  // nodes of a pool, or with our finalizer, that no claim owns.
  const std::set<model::NodeName>& stray_nodes() const { return stray_nodes_; }
  // nodes with a condition that may be repaired for.
  const std::set<model::NodeName>& ailing_nodes() const { return ailing_nodes_; }
  // nodes with the taint karpenter.sh/disrupted.
  const std::set<model::NodeName>& tainted_nodes() const { return tainted_nodes_; }
  // What the offer costs by the catalogue of our provider; 0: it is not in there.
  std::int64_t price_of(const model::Offer& offer) const;
  // Sums over a pool's claims; nullptr: it has none.
  const PoolTotals* totals_of(const model::PoolName& pool) const;
  // The claim that rightly owns the instance exists: it has that instance, or its order may still
  // turn out to be this one.
  bool owned(const model::Instance& instance) const;

  // The open command of this kind about this subject, if any.
  const CommandRow* open_command(const std::string& subject, model::CommandKind kind) const;
  Position open_command_position(const std::string& subject, model::CommandKind kind) const;
  // Whether (subject, kind) may be tried now.
  bool ready(const std::string& subject, model::CommandKind kind, LogTime now) const;
  // When it may be tried; LogTime(0) when at once.
  LogTime not_before(const std::string& subject, model::CommandKind kind) const;

  // The latest command whose effect this observation of `stream` shows, for telling its cause;
  // nullptr: it came from elsewhere.
  const EchoRow* echo_shown_by(const std::string& stream, const events::Body& body,
                               LogTime now) const;

  // Whole state as bytes, and back. load fails on damaged bytes or another kProjectionVersion; the
  // state is then unusable.
  std::string save() const;
  base::Status load(std::string_view bytes);

 private:
  void advance(const events::Envelope& envelope);
  void forget_old_back_offs();
  friend struct Apply;
  friend struct OnCommand;
  friend struct OnOutcome;

  model::LogId log_id_;
  model::Position last_position_;
  LogTime last_log_time_;
  events::Config config_;
  std::uint64_t epoch_ = 0;
  std::string signing_key_;
  std::uint64_t rounds_ = 0;
  model::Position last_round_;
  LogTime held_at_;
  LogTime held_until_;
  bool log_space_low_ = false;
  bool wall_clock_wrong_ = false;
  bool leadership_lost_ = false;

  Table<model::ShapeHash, ShapeRow> shapes_{1};
  PodTable pods_;
  Table<model::NodeName, NodeRow> nodes_{3};
  Table<model::NodeName, ActivityRow> activity_{4};
  Table<model::ClaimName, ClaimRow> claims_{5};
  Table<model::ProviderId, InstanceRow> instances_{6};
  Table<model::PoolName, PoolRow> pools_{7};
  Table<model::NodeClassRef, NodeClassRow> node_classes_{8};
  Table<std::string, DaemonSetRow> daemon_sets_{9};
  Table<Position, CommandRow> commands_{10};
  Table<SubjectKind, BackOffRow> back_offs_{11};
  Table<model::Offer, ExhaustedRow> exhausted_{12};
  Table<model::MessageId, InterruptionRow> interruptions_{13};
  Table<std::string, SourceRow> sources_{14};
  Table<std::pair<std::string, std::string>, VerdictRow> verdicts_{15};
  Table<std::string, CatalogueRow> catalogues_{16};
  Table<SubjectKind, EchoRow> echoes_{18};
  Table<model::ObjectKey, ObjectRow> objects_{19};
  Table<std::string, model::MirrorStatus> told_{20};
  Table<std::pair<std::string, std::string>, SeenMemoryRow> seen_memory_{21};

  // Indexes that follow from the tables.
  std::map<model::ClaimUid, model::ClaimName> claim_by_uid_;
  std::map<model::ProviderId, model::ClaimName> claim_by_machine_;  // by model::machine_of
  std::map<model::ProviderId, std::set<model::NodeName>> nodes_by_provider_id_;
  std::map<SubjectKind, Position> open_by_subject_;
  std::map<Position, model::MessageId> messages_by_position_;
  std::map<Position, std::pair<std::string, std::string>> memory_by_position_;
  std::map<model::ProviderId, std::vector<model::MessageId>>
      unmatched_;  // messages that no claim has taken yet

  std::set<model::ClaimName> restless_;
  std::set<model::ClaimName> vacant_;
  std::set<std::pair<LogTime, model::ClaimName>> expiries_;
  std::set<std::pair<Position, model::ClaimName>> changes_;
  std::map<model::ClaimName, Position> changed_at_;
  std::set<model::ProviderId> loose_;
  std::set<model::NodeName> stray_nodes_;
  std::set<model::NodeName> ailing_nodes_;
  std::set<model::NodeName> tainted_nodes_;
  std::map<model::PoolName, PoolTotals> totals_;
  std::map<model::ClaimUid, std::set<model::ProviderId>> instances_by_claim_;

  // Every change of a claim or an instance goes through these, so that the indexes follow.
  template <class Change>
  const ClaimRow& edit_claim(const model::ClaimName& name, Change&& change) {
    if (const ClaimRow* before = claims_.find(name)) unindex_claim(name, *before);
    const ClaimRow& row = claims_.edit(name, std::forward<Change>(change));
    index_claim(name, row);
    return row;
  }
  void erase_claim(const model::ClaimName& name);
  void index_claim(const model::ClaimName& name, const ClaimRow& row);
  void unindex_claim(const model::ClaimName& name, const ClaimRow& row);
  void index_change(const model::ClaimName& name);
  void drop_change(const model::ClaimName& name);
  void index_vacancy(const ClaimRow& row);
  void count_in(const ClaimRow& row);
  void count_out(const ClaimRow& row);
  void index_instance(const model::ProviderId& id);
  void index_node(const model::NodeName& name);
  void drop_provider_id(const model::Node& node);
  void index_node_of(const model::ProviderId& id);
  void rebuild_indexes();
  void settle_echoes(std::string_view stream, const events::Body& body);

  std::string pod_labels_;  // scratch of apply
};

}  // namespace karst::projections
