#include "reconcilers/class_types.h"

namespace karst::reconcilers {

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
  const model::Position catalogue_at = row == nullptr ? model::Position() : row->position;
  Kept& kept = kept_[ref];
  if (kept.node_class != node_class->position || kept.catalogue != catalogue_at ||
      kept.resolved != node_class->resolved_position)
    kept = {catalogue_at, node_class->position, node_class->resolved_position,
            provider.types_for(catalogue, node_class->node_class, node_class->resolved)};
  return kept.types;
}

const scheduling::TypeList& ClassTypes::on_sale(const projections::ClusterState& state,
                                                const model::PoolName& pool, SaleKey key,
                                                const std::function<scheduling::TypeList()>& make) {
  const auto at = sales_.find(pool);
  if (at != sales_.end() && at->second.key == key) return at->second.types;
  std::erase_if(sales_, [&](const auto& sale) { return !state.pools().contains(sale.first); });
  Sale& sale = sales_[pool];
  sale = {std::move(key), make()};
  return sale.types;
}

}  // namespace karst::reconcilers
