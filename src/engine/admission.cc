#include "engine/admission.h"

#include <algorithm>
#include <utility>

namespace karst::engine {
namespace {

using projections::ClusterState;
using Bodies = std::vector<events::Body>;

constexpr std::int64_t kBeatMillis = 15'000;
// A thing confirmed this shortly before a list began may be missing from it: answers overtake
// lists. The next list tells.
constexpr std::int64_t kListMarginMillis = 30'000;
constexpr std::size_t kRefusalsRememberedMax = 1'000;

Bodies one(events::Body body) {
  Bodies bodies;
  bodies.push_back(std::move(body));
  return bodies;
}

// Key of an object within its kind's list, and the kind; empty kind for what lists do not carry.
struct Named {
  std::string kind;
  std::string key;
};
struct NameOf {
  Named operator()(const events::PodObserved& e) const { return {"Pod", e.pod.uid.str()}; }
  Named operator()(const events::NodeObserved& e) const { return {"Node", e.node.name.str()}; }
  Named operator()(const events::NodeClaimObserved& e) const {
    return {"NodeClaim", e.claim.name.str()};
  }
  Named operator()(const events::NodePoolObserved& e) const {
    return {"NodePool", e.pool.name.str()};
  }
  Named operator()(const events::NodeClassObserved& e) const {
    return {"NodeClass",
            e.node_class.ref.group + "/" + e.node_class.ref.kind + "/" + e.node_class.ref.name};
  }
  Named operator()(const events::DaemonSetObserved& e) const {
    return {"DaemonSet", e.daemon_set.uid};
  }
  Named operator()(const events::ObjectObserved& e) const {
    model::ObjectKey key = model::key_of(e.object);
    std::string place = model::place_of(key);
    return {std::move(key.kind), std::move(place)};
  }
  Named operator()(const events::InstanceObserved& e) const {
    return {"Instance", e.instance.provider_id.str()};
  }
  template <class Other>
  Named operator()(const Other&) const {
    return {};
  }
};

// Whether the fact tells something that the state does not know.
struct IsNews {
  const ClusterState& s;
  base::LogTime now;

  template <class Table, class Key, class Value, class Member>
  static bool differs(const Table& table, const Key& key, const Value& value, Member member) {
    const auto* row = table.find(key);
    return row == nullptr || !(row->*member == value);
  }

  bool operator()(const events::ShapeRecorded& e) const { return !s.shapes().contains(e.hash); }
  bool operator()(const events::PodObserved& e) const {
    const auto* row = s.pods().find(e.pod.uid.str());
    return row == nullptr || !(row->to_model() == e.pod);
  }
  bool operator()(const events::PodGone& e) const { return s.pods().find(e.uid.str()) != nullptr; }
  bool operator()(const events::NodeObserved& e) const {
    return differs(s.nodes(), e.node.name, e.node, &projections::NodeRow::node);
  }
  bool operator()(const events::NodeGone& e) const {
    const auto* row = s.nodes().find(e.name);
    return row != nullptr && row->node.uid == e.uid;
  }
  bool operator()(const events::NodeClaimObserved& e) const {
    const auto* row = s.claims().find(e.claim.name);
    if (row == nullptr || !row->observed) return true;
    if (!row->launched()) return !(row->claim == e.claim);
    model::NodeClaim stripped = e.claim;  // the state keeps no requirements of launched claims
    stripped.requirements.clear();
    return !(row->claim == stripped);
  }
  bool operator()(const events::NodeClaimGone& e) const {
    const auto* row = s.claims().find(e.name);
    return row != nullptr && row->claim.uid == e.uid;
  }
  bool operator()(const events::NodePoolObserved& e) const {
    return differs(s.pools(), e.pool.name, e.pool, &projections::PoolRow::pool);
  }
  bool operator()(const events::NodePoolGone& e) const { return s.pools().contains(e.name); }
  bool operator()(const events::NodeClassObserved& e) const {
    return differs(s.node_classes(), e.node_class.ref, e.node_class,
                   &projections::NodeClassRow::node_class);
  }
  bool operator()(const events::NodeClassGone& e) const { return s.node_classes().contains(e.ref); }
  bool operator()(const events::DaemonSetObserved& e) const {
    return differs(s.daemon_sets(), e.daemon_set.uid, e.daemon_set,
                   &projections::DaemonSetRow::daemon_set);
  }
  bool operator()(const events::DaemonSetGone& e) const { return s.daemon_sets().contains(e.uid); }
  bool operator()(const events::ObjectObserved& e) const {
    return differs(s.objects(), model::key_of(e.object), e.object, &projections::ObjectRow::object);
  }
  bool operator()(const events::ObjectGone& e) const { return s.objects().contains(e.key); }
  bool operator()(const events::CatalogueObserved& e) const {
    return differs(s.catalogues(), e.catalogue.provider, e.catalogue,
                   &projections::CatalogueRow::catalogue);
  }
  bool operator()(const events::PricesObserved& e) const {
    return s.catalogues().contains(e.update.provider);
  }
  bool operator()(const events::InterruptionReceived& e) const {
    return !s.interruptions().contains(e.interruption.message);
  }
  bool operator()(const events::InstanceObserved& e) const {
    const auto* row = s.instances().find(e.instance.provider_id);
    if (row == nullptr) return e.instance.state != model::InstanceState::kTerminated;
    return !row->listed || row->missing || !(row->instance == e.instance);
  }
  bool operator()(const events::InstanceGone& e) const {
    const auto* row = s.instances().find(e.provider_id);
    return row != nullptr && !row->missing;
  }
  // The first full list since the start counts; later ones only bring differences.
  bool operator()(const events::ListStarted& e) const { return !s.listed(e.kind); }
  bool operator()(const events::ListEnded& e) const { return !s.listed(e.kind); }
  bool operator()(const events::SourceBeat& e) const {
    const auto* row = s.sources().find(e.source);
    return row == nullptr || now - row->beat_at >= kBeatMillis;
  }
  bool operator()(const model::Outcome& e) const {
    return s.commands().contains(e.command) || !e.instances.empty();
  }
  template <class Other>
  bool operator()(const Other&) const {
    return true;
  }
};

std::optional<std::string> refusal(const ClusterState& state, const events::Body& body) {
  const auto* pod = std::get_if<events::PodObserved>(&body);
  if (pod != nullptr && !state.shapes().contains(pod->pod.shape))
    return "its shape was not recorded before it";
  const auto* daemon = std::get_if<events::DaemonSetObserved>(&body);
  if (daemon != nullptr && !state.shapes().contains(daemon->daemon_set.shape))
    return "its shape was not recorded before it";
  const auto* object = std::get_if<events::ObjectObserved>(&body);
  if (object != nullptr)
    if (const auto hash = model::shape_of(object->object); hash && !state.shapes().contains(*hash))
      return "its shape was not recorded before it";
  const auto* shape = std::get_if<events::ShapeRecorded>(&body);
  if (shape != nullptr && !state.shapes().contains(shape->hash) &&
      !(model::hash_of(shape->shape) == shape->hash))
    return "its hash is not that of its content";
  return std::nullopt;
}

}  // namespace

void Admission::note_refused(const events::InputRefused& refused) {
  constexpr std::string_view kFromLists = "kube/";
  if (!refused.source.starts_with(kFromLists)) return;
  const auto bracket = brackets_.find(refused.source.substr(kFromLists.size()));
  if (bracket != brackets_.end()) bracket->second.refused.insert(refused.id);
}

void Admission::note_named(const events::Body& body) {
  const Named named = std::visit(NameOf{}, body);
  if (named.kind.empty()) return;
  const auto bracket = brackets_.find(named.kind);
  if (bracket != brackets_.end()) bracket->second.named.insert(named.key);
}

std::vector<events::Body> Admission::admit(const ClusterState& state, base::LogTime now,
                                           events::Body body, std::uint64_t order) {
  // What was asked for before the epoch says nothing about what the last leader did.
  if (std::holds_alternative<events::EpochOpened>(body)) {
    brackets_.clear();
    epoch_order_ = order;
  }
  if (const auto* started = std::get_if<events::ListStarted>(&body)) {
    if (order < epoch_order_) return {};                   // the urgent lane was faster
    const bool again = brackets_.contains(started->kind);  // the last one was never ended
    brackets_[started->kind] = {now, {}};
    if (again) return {};
  }
  note_named(body);
  if (const auto* ended = std::get_if<events::ListEnded>(&body)) {
    if (!brackets_.contains(ended->kind)) return {};
    Bodies bodies = close_bracket(state, *ended);
    if (IsNews{state, now}(*ended)) bodies.push_back(std::move(body));
    return bodies;
  }
  if (const auto why = refusal(state, body)) {
    const std::string id = events::stream_of(body);
    return admit(state, now, events::InputRefused{"admission", id, *why, ""});
  }
  if (const auto* refused = std::get_if<events::InputRefused>(&body)) {
    note_refused(*refused);
    if (refused_lately_.size() >= kRefusalsRememberedMax) refused_lately_.clear();
    if (!refused_lately_.emplace(refused->source + "/" + refused->id + "/" + refused->reason, now)
             .second)
      return {};
  }
  if (!std::visit(IsNews{state, now}, body)) return {};
  return one(std::move(body));
}

std::vector<events::Body> Admission::close_bracket(const ClusterState& state,
                                                   const events::ListEnded& ended) {
  const auto open = brackets_.find(ended.kind);
  if (open == brackets_.end()) return {};  // began before this process: the list counts for nothing
  const Bracket bracket = std::move(open->second);
  brackets_.erase(open);
  Bodies gone;
  const auto missing = [&](const std::string& key) { return !bracket.named.contains(key); };
  // One that came and could not be read is there: what was known of it stays.
  const auto unread = [&](const std::string& place) { return bracket.refused.contains(place); };
  const auto settled = [&](base::LogTime known_since) {
    return bracket.started_at - known_since >= kListMarginMillis;
  };
  if (ended.kind == "Pod") {
    for (const std::string& uid : state.pods().all_uids()) {
      if (!missing(uid)) continue;
      const auto& row = state.pods().row_of(uid);
      const std::string space = row.namespace_name == nullptr ? "" : *row.namespace_name;
      if (!unread(space + "/" + row.name))
        gone.push_back(events::PodGone{row.uid, space, row.name});
    }
  } else if (ended.kind == "Node") {
    for (const auto& [name, slot] : state.nodes().slots())
      if (missing(name.str()) && !unread(name.str()))
        gone.push_back(events::NodeGone{slot.row.node.uid, name});
  } else if (ended.kind == "NodeClaim") {
    for (const auto& [name, slot] : state.claims().slots())
      if (missing(name.str()) && !unread(name.str()) && !slot.row.claim.uid.empty() &&
          (slot.row.observed || settled(slot.row.confirmed_at)))
        gone.push_back(events::NodeClaimGone{slot.row.claim.uid, name});
  } else if (ended.kind == "NodePool") {
    for (const auto& [name, slot] : state.pools().slots())
      if (missing(name.str()) && !unread(name.str())) gone.push_back(events::NodePoolGone{name});
  } else if (ended.kind == "NodeClass") {
    for (const auto& [ref, slot] : state.node_classes().slots())
      if (missing(ref.group + "/" + ref.kind + "/" + ref.name) && !unread(ref.name))
        gone.push_back(events::NodeClassGone{ref});
  } else if (ended.kind == "DaemonSet") {
    for (const auto& [uid, slot] : state.daemon_sets().slots()) {
      const model::DaemonSet& daemon = slot.row.daemon_set;
      if (missing(uid) && !unread(daemon.namespace_name + "/" + daemon.name))
        gone.push_back(events::DaemonSetGone{uid});
    }
  } else if (ended.kind == "Instance") {
    const std::set<std::string_view> unsure(ended.unsure.begin(), ended.unsure.end());
    for (const auto& [id, slot] : state.instances().slots())
      if (missing(id.str()) && !slot.row.missing && settled(slot.row.seen_at) &&
          !unsure.contains(slot.row.instance.claim.str()) &&
          !unsure.contains(model::machine_of(id).str()))
        gone.push_back(events::InstanceGone{id});
  } else {
    const auto& slots = state.objects().slots();
    for (auto at = slots.lower_bound(model::ObjectKeyView{ended.kind, {}, {}});
         at != slots.end() && at->first.kind == ended.kind; ++at) {
      const std::string place = model::place_of(at->first);
      if (missing(place) && !unread(place)) gone.push_back(events::ObjectGone{at->first});
    }
  }
  return gone;
}

}  // namespace karst::engine
