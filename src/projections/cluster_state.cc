#include "projections/cluster_state.h"

#include "events/codec.h"

namespace karst::projections {
namespace {

template <class Map, class Key>
const typename Map::mapped_type* look_up(const Map& map, const Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

}  // namespace

void ClusterState::apply(const events::Event& event) { apply(event.envelope, events::decode_body(event)); }

base::Hash128 ClusterState::digest() const {
  base::SetDigest sum;
  for (const base::Hash128 part :
       {shapes_.digest(), pods_.digest(), nodes_.digest(), activity_.digest(), claims_.digest(), instances_.digest(),
        pools_.digest(), node_classes_.digest(), daemon_sets_.digest(), commands_.digest(), back_offs_.digest(),
        exhausted_.digest(), interruptions_.digest(), sources_.digest(), verdicts_.digest(), catalogues_.digest()})
    sum.add(part);
  base::ByteWriter writer;
  writer(log_id_, last_position_, last_log_time_, config_, epoch_, held_at_, held_until_);
  sum.add(base::hash128(writer.view(), 17));
  return sum.value();
}

bool ClusterState::listed(std::string_view kind) const {
  const SourceRow* source = sources_.find(kind);
  return source != nullptr && source->listed;
}

const ClaimRow* ClusterState::claim_by_uid(const model::ClaimUid& uid) const {
  const auto* name = look_up(claim_by_uid_, uid);
  return name == nullptr ? nullptr : claims_.find(*name);
}

const ClaimRow* ClusterState::claim_by_provider_id(const model::ProviderId& id) const {
  const auto* name = look_up(claim_by_provider_id_, id);
  return name == nullptr ? nullptr : claims_.find(*name);
}

const NodeRow* ClusterState::node_by_provider_id(const model::ProviderId& id) const {
  const auto* name = look_up(node_by_provider_id_, id);
  return name == nullptr ? nullptr : nodes_.find(*name);
}

const NodeRow* ClusterState::node_of(const ClaimRow& claim) const {
  return claim.launched() ? node_by_provider_id(claim.instance.provider_id) : nullptr;
}

Position ClusterState::open_command_position(const std::string& subject, model::CommandKind kind) const {
  const auto* position = look_up(open_by_subject_, SubjectKind(subject, kind));
  return position == nullptr ? Position() : *position;
}

const CommandRow* ClusterState::open_command(const std::string& subject, model::CommandKind kind) const {
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

std::string ClusterState::save() const {
  base::ByteWriter writer;
  writer(std::string(kProjectionVersion), log_id_, last_position_, last_log_time_, config_, epoch_, rounds_, last_round_, held_at_,
         held_until_);
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
  const base::Hash128 whole = digest();
  writer(whole.low, whole.high);
  return writer.take();
}

base::Status ClusterState::load(std::string_view bytes) {
  const auto damaged = [](const char* what) {
    return base::fail(base::Kind::kCorrupt, std::string("snapshot of the state: ") + what + "; it is disposable: the log is folded instead");
  };
  base::ByteReader reader(bytes);
  std::string version;
  reader(version);
  if (version != kProjectionVersion) return damaged("another projection version");
  reader(log_id_, last_position_, last_log_time_, config_, epoch_, rounds_, last_round_, held_at_, held_until_);
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
  base::Hash128 whole;
  reader(whole.low, whole.high);
  if (!reader.ok() || !reader.at_end()) return damaged("cut short");
  if (!(whole == digest())) return damaged("its digest does not match its content");
  rebuild_indexes();
  return {};
}

void ClusterState::rebuild_indexes() {
  for (const auto& [name, slot] : claims_.slots()) {
    if (!slot.row.claim.uid.empty()) claim_by_uid_[slot.row.claim.uid] = name;
    if (slot.row.launched()) claim_by_provider_id_[slot.row.instance.provider_id] = name;
  }
  for (const auto& [name, slot] : nodes_.slots())
    if (!slot.row.node.provider_id.empty()) node_by_provider_id_[slot.row.node.provider_id] = name;
  for (const auto& [position, slot] : commands_.slots()) {
    const model::CommandKind kind = model::kind_of(slot.row.command.spec);
    open_by_subject_[{model::subject_of(slot.row.command.spec), kind}] = position;
    if (const auto* launch = std::get_if<model::Launch>(&slot.row.command.spec))
      for (const model::LaunchItem& item : launch->items) open_by_subject_[{"nodeclaim/" + item.name.str(), kind}] = position;
  }
  for (const auto& [message, slot] : interruptions_.slots()) {
    messages_by_position_[slot.row.position] = message;
    if (!slot.row.matched) unmatched_[slot.row.interruption.provider_id].push_back(message);
  }
}

}  // namespace karst::projections
