#include "projections/cluster_state.h"

namespace karst::projections {
namespace {

template <class Map, class Key>
const typename Map::mapped_type* look_up(const Map& map, const Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

}  // namespace

base::Hash128 ClusterState::digest() const {
  base::SetDigest sum;
  for (const base::Hash128 part :
       {shapes_.digest(),        pods_.digest(),      nodes_.digest(),     activity_.digest(),
        claims_.digest(),        instances_.digest(), pools_.digest(),     node_classes_.digest(),
        daemon_sets_.digest(),   commands_.digest(),  back_offs_.digest(), exhausted_.digest(),
        interruptions_.digest(), sources_.digest(),   verdicts_.digest(),  catalogues_.digest(),
        echoes_.digest(),        objects_.digest(),   told_.digest(),      seen_memory_.digest()})
    sum.add(part);
  base::ByteWriter writer;
  writer(log_id_, last_position_, last_log_time_, config_, epoch_, held_at_, held_until_,
         log_space_low_, wall_clock_wrong_, leadership_lost_);
  if (!signing_key_.empty()) writer(signing_key_);  // logs without one keep their digests
  sum.add(base::hash128(writer.view(), 17));
  return sum.value();
}

bool ClusterState::listed(std::string_view kind) const {
  const SourceRow* source = sources_.find(kind);
  return source != nullptr && source->listed;
}

Position ClusterState::seen_memory_position() const {
  return memory_by_position_.empty() ? Position() : memory_by_position_.rbegin()->first;
}

const ClaimRow* ClusterState::claim_by_uid(const model::ClaimUid& uid) const {
  const auto* name = look_up(claim_by_uid_, uid);
  return name == nullptr ? nullptr : claims_.find(*name);
}

const ClaimRow* ClusterState::claim_by_provider_id(const model::ProviderId& id) const {
  const auto* name = look_up(claim_by_machine_, model::machine_of(id));
  return name == nullptr ? nullptr : claims_.find(*name);
}

bool ClusterState::is_exhausted(const model::Offer& offer, LogTime now) const {
  const model::Offer all{"", "", offer.capacity_type, 0, ""};
  for (const model::Offer& key : {offer, all})
    if (const ExhaustedRow* row = exhausted_.find(key); row != nullptr && row->until > now)
      return true;
  return false;
}

const std::set<model::NodeName>& ClusterState::nodes_by_provider_id(
    const model::ProviderId& id) const {
  static const std::set<model::NodeName> kNone;
  const auto* names = look_up(nodes_by_provider_id_, id);
  return names == nullptr ? kNone : *names;
}

const NodeRow* ClusterState::node_of(const ClaimRow& claim) const {
  if (!claim.launched()) return nullptr;
  const auto& names = nodes_by_provider_id(claim.instance.provider_id);
  if (names.empty()) return nullptr;
  return nodes_.find(names.contains(claim.node) ? claim.node : *names.begin());
}

std::int64_t ClusterState::price_of(const model::Offer& offer) const {
  const CatalogueRow* known = catalogues_.find(config_.provider);
  if (known == nullptr) return 0;
  for (const model::InstanceType& type : known->catalogue.types) {
    if (type.name != offer.instance_type) continue;
    for (const model::Offering& offering : type.offerings)
      if (offering.zone == offer.zone && offering.capacity_type == offer.capacity_type)
        return offering.price_nanos_per_hour;
  }
  return 0;
}

void ClusterState::drop_provider_id(const model::Node& node) {
  const auto at = nodes_by_provider_id_.find(node.provider_id);
  if (at == nodes_by_provider_id_.end()) return;
  at->second.erase(node.name);
  if (at->second.empty()) nodes_by_provider_id_.erase(at);
}

Position ClusterState::open_command_position(const std::string& subject,
                                             model::CommandKind kind) const {
  const auto* position = look_up(open_by_subject_, SubjectKind(subject, kind));
  return position == nullptr ? Position() : *position;
}

const CommandRow* ClusterState::open_command(const std::string& subject,
                                             model::CommandKind kind) const {
  const Position position = open_command_position(subject, kind);
  return position == Position() ? nullptr : commands_.find(position);
}

bool ClusterState::ready(const std::string& subject, model::CommandKind kind, LogTime now) const {
  return not_before(subject, kind) <= now;
}

LogTime ClusterState::not_before(const std::string& subject, model::CommandKind kind) const {
  const BackOffRow* row = back_offs_.find(SubjectKind(subject, kind));
  return row == nullptr ? LogTime(0) : row->not_before;
}

namespace {

// Nothing is left to do for the claim unless something happens to it.
bool settled(const ClaimRow& row) {
  if (!row.observed || row.initialized_at.value() == 0 || row.leaving() || row.node_leaving ||
      row.candidate || row.gone_at.value() != 0 || row.interrupted_at.value() != 0 ||
      !row.claim.has_finalizer || row.claim.provider_id != row.instance.provider_id)
    return false;
  for (const model::Condition& condition : row.claim.conditions)
    if (condition.type == "Ready") return condition.status == model::ConditionStatus::kTrue;
  return false;
}

LogTime expiry_of(const ClaimRow& row) {
  const bool expires = row.claim.expire_after_millis.has_value() && row.claim.creation_millis != 0;
  return expires ? LogTime(row.claim.creation_millis + *row.claim.expire_after_millis) : LogTime(0);
}

}  // namespace

bool ClusterState::owned(const model::Instance& instance) const {
  // A claim's machine stays its own, whatever the cloud says now: one that tells whose a machine is
  // by its place in its order says otherwise when it has forgotten, or left out, a sibling.
  if (claim_by_provider_id(instance.provider_id) != nullptr) return true;
  const ClaimRow* claim = claim_by_uid(instance.claim);
  return claim != nullptr && !claim->launched() && !claim->launch_refused &&
         claim->attempts == instance.attempt;
}

void ClusterState::index_claim(const model::ClaimName& name, const ClaimRow& row) {
  if (!row.claim.uid.empty()) claim_by_uid_[row.claim.uid] = name;
  if (row.launched()) claim_by_machine_[model::machine_of(row.instance.provider_id)] = name;
  if (!settled(row)) restless_.insert(name);
  if (settled(row) && expiry_of(row).value() != 0) expiries_.insert({expiry_of(row), name});
  index_change(name);
  index_vacancy(row);
  count_in(row);
  if (row.launched()) {
    index_node_of(row.instance.provider_id);
    index_instance(row.instance.provider_id);
  }
  const auto instances = instances_by_claim_.find(row.claim.uid);
  if (instances == instances_by_claim_.end()) return;
  for (const model::ProviderId& id : instances->second) index_instance(id);
}

void ClusterState::unindex_claim(const model::ClaimName& name, const ClaimRow& row) {
  claim_by_uid_.erase(row.claim.uid);
  count_out(row);
  if (row.launched()) claim_by_machine_.erase(model::machine_of(row.instance.provider_id));
  restless_.erase(name);
  vacant_.erase(name);
  expiries_.erase({expiry_of(row), name});
}

void ClusterState::drop_change(const model::ClaimName& name) {
  const auto at = changed_at_.find(name);
  if (at == changed_at_.end()) return;
  changes_.erase({at->second, name});
  changed_at_.erase(at);
}

void ClusterState::index_change(const model::ClaimName& name) {
  drop_change(name);
  const Position now = next_position();  // of the event that is being applied
  changes_.insert({now, name});
  changed_at_[name] = now;
}

static bool counts(const ClaimRow& row) {
  return row.launched() && !row.leaving();
}

void ClusterState::count_in(const ClaimRow& row) {
  if (!counts(row)) return;
  PoolTotals& totals = totals_[row.claim.pool];
  ++totals.nodes;
  totals.capacity += row.instance.capacity;
}

void ClusterState::count_out(const ClaimRow& row) {
  if (!counts(row)) return;
  PoolTotals& totals = totals_[row.claim.pool];
  totals.capacity -= row.instance.capacity;
  if (--totals.nodes == 0) totals_.erase(row.claim.pool);
}

const PoolTotals* ClusterState::totals_of(const model::PoolName& pool) const {
  return look_up(totals_, pool);
}

void ClusterState::erase_claim(const model::ClaimName& name) {
  const ClaimRow* row = claims_.find(name);
  if (row == nullptr) return;
  const model::ClaimUid uid = row->claim.uid;
  unindex_claim(name, *row);
  drop_change(name);
  const model::ProviderId provider_id = row->instance.provider_id;
  claims_.erase(name);
  if (!provider_id.empty()) {
    index_node_of(provider_id);
    index_instance(provider_id);
  }
  const auto instances = instances_by_claim_.find(uid);
  if (instances == instances_by_claim_.end()) return;
  for (const model::ProviderId& id : instances->second) index_instance(id);
}

void ClusterState::index_vacancy(const ClaimRow& row) {
  const NodePods* pods = row.node.empty() ? nullptr : pods_.on(row.node.str());
  const bool vacant =
      settled(row) && !row.node.empty() && (pods == nullptr || pods->reschedulable == 0);
  if (vacant)
    vacant_.insert(row.claim.name);
  else
    vacant_.erase(row.claim.name);
}

void ClusterState::index_node(const model::NodeName& name) {
  const NodeRow* row = nodes_.find(name);
  const bool managed =
      row != nullptr && !row->node.provider_id.empty() &&
      (row->node.has_finalizer || model::has_label(row->node.labels, model::kNodePoolLabel));
  if (managed && claim_by_provider_id(row->node.provider_id) == nullptr)
    stray_nodes_.insert(name);
  else
    stray_nodes_.erase(name);
  if (row != nullptr && row->tainted_at != Position())
    tainted_nodes_.insert(name);
  else
    tainted_nodes_.erase(name);
  if (row != nullptr && !row->node.troubles.empty())
    ailing_nodes_.insert(name);
  else
    ailing_nodes_.erase(name);
}

void ClusterState::index_node_of(const model::ProviderId& id) {
  for (const model::NodeName& name : nodes_by_provider_id(id)) index_node(name);
}

void ClusterState::index_instance(const model::ProviderId& id) {
  const InstanceRow* row = instances_.find(id);
  if (row != nullptr && (row->missing || !owned(row->instance)))
    loose_.insert(id);
  else
    loose_.erase(id);
}

ClusterState ClusterState::behind(const model::LogId& log, const events::Envelope& last) {
  ClusterState state;
  state.log_id_ = log;
  state.last_position_ = state.last_round_ = last.position;
  state.last_log_time_ = last.log_time;
  return state;
}

std::string ClusterState::save() const {
  base::ByteWriter writer;
  writer(std::string(kProjectionVersion), log_id_, last_position_, last_log_time_, config_, epoch_,
         rounds_, last_round_, held_at_, held_until_, log_space_low_, wall_clock_wrong_,
         leadership_lost_, signing_key_);
  shapes_.save(writer);
  pods_.save(writer);
  nodes_.save(writer);
  activity_.save(writer);
  claims_.save(writer);
  instances_.save(writer);
  pools_.save(writer);
  node_classes_.save(writer);
  daemon_sets_.save(writer);
  commands_.save(writer);
  back_offs_.save(writer);
  exhausted_.save(writer);
  interruptions_.save(writer);
  sources_.save(writer);
  verdicts_.save(writer);
  catalogues_.save(writer);
  echoes_.save(writer);
  objects_.save(writer);
  told_.save(writer);
  seen_memory_.save(writer);
  const base::Hash128 whole = digest();
  writer(whole.low, whole.high);
  return writer.take();
}

base::Status ClusterState::load(std::string_view bytes) {
  const auto damaged = [](const char* what) {
    return base::fail(base::Kind::kCorrupt, std::string("snapshot of the state: ") + what +
                                                "; it is disposable: the log is folded instead");
  };
  base::ByteReader reader(bytes);
  std::string version;
  reader(version);
  if (version != kProjectionVersion) return damaged("another projection version");
  reader(log_id_, last_position_, last_log_time_, config_, epoch_, rounds_, last_round_, held_at_,
         held_until_, log_space_low_, wall_clock_wrong_, leadership_lost_, signing_key_);
  shapes_.load(reader);
  if (!reader.ok()) return damaged("cut short");
  const auto shape_of = [this](const model::ShapeHash& hash) {
    const ShapeRow* row = shapes_.find(hash);
    return row == nullptr ? nullptr : &row->shape;
  };
  if (!pods_.load(reader, shape_of)) return damaged("a pod is damaged");
  nodes_.load(reader);
  activity_.load(reader);
  claims_.load(reader);
  instances_.load(reader);
  pools_.load(reader);
  node_classes_.load(reader);
  daemon_sets_.load(reader);
  commands_.load(reader);
  back_offs_.load(reader);
  exhausted_.load(reader);
  interruptions_.load(reader);
  sources_.load(reader);
  verdicts_.load(reader);
  catalogues_.load(reader);
  echoes_.load(reader);
  objects_.load(reader);
  told_.load(reader);
  seen_memory_.load(reader);
  base::Hash128 whole;
  reader(whole.low, whole.high);
  if (!reader.ok() || !reader.at_end()) return damaged("cut short");
  if (!(whole == digest())) return damaged("its digest does not match its content");
  rebuild_indexes();
  return {};
}

void ClusterState::rebuild_indexes() {
  for (const auto& [name, slot] : claims_.slots()) index_claim(name, slot.row);
  for (const auto& [id, slot] : instances_.slots()) {
    instances_by_claim_[slot.row.instance.claim].insert(id);
    index_instance(id);
  }
  for (const auto& [name, slot] : nodes_.slots())
    if (!slot.row.node.provider_id.empty())
      nodes_by_provider_id_[slot.row.node.provider_id].insert(name);
  for (const auto& [name, slot] : nodes_.slots()) index_node(name);
  for (const auto& [position, slot] : commands_.slots()) {
    const model::CommandKind kind = model::kind_of(slot.row.command.spec);
    open_by_subject_[{model::subject_of(slot.row.command.spec), kind}] = position;
    if (const auto* launch = std::get_if<model::Launch>(&slot.row.command.spec))
      for (const model::LaunchItem& item : launch->items)
        open_by_subject_[{"nodeclaim/" + item.name.str(), kind}] = position;
  }
  for (const auto& [machines, slot] : seen_memory_.slots())
    memory_by_position_[slot.row.position] = machines;
  for (const auto& [message, slot] : interruptions_.slots())
    messages_by_position_[slot.row.position] = message;
  for (const auto& [position, message] : messages_by_position_)  // in the order they came
    if (const InterruptionRow& row = *interruptions_.find(message); !row.matched)
      unmatched_[model::machine_of(row.interruption.provider_id)].push_back(message);
}

}  // namespace karst::projections
