#include "reconcilers/class_types.h"

namespace karst::reconcilers {

TypesVersion types_version(const projections::ClusterState& state,
                           const providers::Provider& provider, const model::NodeClassRef& ref) {
  TypesVersion version;
  if (const auto* row = state.catalogues().find(provider.name()); row != nullptr)
    version.catalogue = row->position;
  if (const auto* row = state.node_classes().find(ref); row != nullptr) {
    version.node_class = row->position;
    version.resolved = row->resolved_position;
  }
  version.seen_memory = state.seen_memory_position();
  return version;
}

std::vector<providers::SeenMemory> seen_memory(const projections::ClusterState& state) {
  std::vector<providers::SeenMemory> seen;
  for (const auto& [machines, slot] : state.seen_memory().slots())
    seen.push_back({machines.first, machines.second, slot.row.bytes});
  return seen;
}

const std::vector<model::InstanceType>& ClassTypes::of(const projections::ClusterState& state,
                                                       const providers::Provider& provider,
                                                       const model::NodeClassRef& ref) {
  static const std::vector<model::InstanceType> kNone;
  const projections::CatalogueRow* row = state.catalogues().find(provider.name());
  const model::Catalogue& catalogue =
      row == nullptr ? provider.embedded_catalogue() : row->catalogue;
  if (!provider.depends_on_class()) return catalogue.types;
  const projections::NodeClassRow* node_class = state.node_classes().find(ref);
  if (node_class == nullptr) {
    kept_.erase(ref);
    return kNone;
  }
  const TypesVersion version = types_version(state, provider, ref);
  Kept& kept = kept_[ref];
  if (kept.version != version)
    kept = {version, provider.types_for(catalogue, node_class->node_class, node_class->resolved,
                                        seen_memory(state))};
  return kept.types;
}

const ClassStanding& ClassTypes::standing(const projections::ClusterState& state,
                                          const providers::Provider& provider,
                                          const projections::NodeClassRow& row) {
  const model::NodeClass& node_class = row.node_class;
  const auto at = said_.find(node_class.ref);
  if (at != said_.end() && at->second.node_class == row.position &&
      at->second.resolved == row.resolved_position)
    return at->second.standing;
  std::erase_if(said_,
                [&](const auto& said) { return !state.node_classes().contains(said.first); });
  Said& said = said_[node_class.ref];
  said.node_class = row.position;
  said.resolved = row.resolved_position;
  said.standing = {provider.class_hash(node_class, row.resolved),
                   provider.status_of(node_class, row.resolved),
                   provider.shifted_zones(row.resolved)};
  return said.standing;
}

const scheduling::TypeList& ClassTypes::on_sale(
    const projections::ClusterState& state, const model::PoolName& pool, SaleKey key,
    const std::function<scheduling::TypeList(const SaleKey&)>& make) {
  const auto at = sales_.find(pool);
  if (at != sales_.end() && at->second.key == key) return at->second.types;
  std::erase_if(sales_, [&](const auto& sale) { return !state.pools().contains(sale.first); });
  Sale& sale = sales_[pool];
  sale.types = make(key);
  sale.key = std::move(key);
  return sale.types;
}

}  // namespace karst::reconcilers
