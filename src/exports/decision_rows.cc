#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "events/codec.h"
#include "events/json_text.h"
#include "exports/views.h"
#include "reconcilers/ruled_out.h"

namespace karst::exports {
namespace {

using events::EventType;
using Json = nlohmann::ordered_json;

constexpr Column kDecisionColumns[] = {
    {"position", ColumnType::kInt64},
    {"log_time", ColumnType::kTimeMillis},
    {"type", ColumnType::kText, true},
    {"subject", ColumnType::kText, true},
    {"causation", ColumnType::kInt64},
    {"correlation", ColumnType::kInt64},
    {"build", ColumnType::kText, true},
    {"decision_version", ColumnType::kText, true},
    {"config", ColumnType::kText, true},
    {"withheld", ColumnType::kBool},
    {"commitment", ColumnType::kText},
    {"rule", ColumnType::kText, true},
    {"code", ColumnType::kText, true},
    {"arguments", ColumnType::kText},
    {"evidence", ColumnType::kText},
    {"pool", ColumnType::kText, true},
    {"instance_type", ColumnType::kText, true},
    {"zone", ColumnType::kText, true},
    {"capacity_type", ColumnType::kText, true},
    {"price_nanos_per_hour", ColumnType::kInt64},
    {"price_position", ColumnType::kInt64},
    {"price_age_millis", ColumnType::kInt64},
    {"alternatives", ColumnType::kText},
    {"ruled_out", ColumnType::kText},
};
constexpr std::string_view kDecisionIndexed[] = {"log_time", "subject", "rule", "code"};
constexpr Table kDecisionTable{"decisions", kDecisionColumns, kDecisionIndexed};

Json offer_json(const model::Offer& offer, std::optional<std::int64_t> price_age_millis) {
  Json json = {{"instance_type", offer.instance_type},
               {"zone", offer.zone},
               {"capacity_type", offer.capacity_type},
               {"price_nanos_per_hour", offer.price_nanos_per_hour}};
  if (price_age_millis) json["price_age_millis"] = *price_age_millis;
  if (!offer.reservation.empty()) json["reservation"] = offer.reservation;
  return json;
}

// Names from the world may hold bytes that are no text: they are shown, never fatal.
std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// `payload`: of a DaemonStarted.
std::string config_text(std::string_view payload) {
  const auto text = events::payload_json(EventType::kDaemonStarted, payload);
  const Json json = text ? Json::parse(*text) : Json::object();
  return json.contains("config") ? dumped(json["config"]) : "{}";
}

// The pool that a command is about: its own, or that of the claim, node or machine.
struct PoolOf {
  const projections::ClusterState& state;

  std::string of(const projections::ClaimRow* claim) const {
    return claim == nullptr ? "" : claim->claim.pool.str();
  }
  std::string of_node(const model::NodeName& name) const {
    const auto* node = state.nodes().find(name);
    return node == nullptr ? "" : of(state.claim_by_provider_id(node->node.provider_id));
  }
  std::string of_object(const model::ObjectRef& object) const {
    if (object.kind == model::ObjectKind::kNodeClaim)
      return of(state.claims().find(model::ClaimName(object.name)));
    return object.kind == model::ObjectKind::kNode ? of_node(model::NodeName(object.name)) : "";
  }
  std::string operator()(const model::CreateNodeClaim& c) const { return c.claim.pool.str(); }
  std::string operator()(const model::Launch& c) const { return c.pool.str(); }
  std::string operator()(const model::MirrorPool& c) const { return c.name.str(); }
  std::string operator()(const model::DeleteObject& c) const { return of_object(c.object); }
  std::string operator()(const model::SetFinalizer& c) const { return of_object(c.object); }
  std::string operator()(const model::Terminate& c) const {
    return c.pool.empty() ? of(state.claim_by_provider_id(c.provider_id)) : c.pool.str();
  }
  std::string operator()(const model::TaintNode& c) const { return of_node(c.node); }
  std::string operator()(const model::EvictPod& c) const { return of_node(c.node); }
  std::string operator()(const model::ReadBackNode& c) const { return of_node(c.node); }
  std::string operator()(const model::SyncNode& c) const { return of_node(c.node); }
  std::string operator()(const model::FindInstances& c) const {
    return c.provider_id.empty() ? of(state.claim_by_uid(c.claim))
                                 : of(state.claim_by_provider_id(c.provider_id));
  }
  std::string operator()(const model::MirrorClaim& c) const {
    return of(state.claims().find(c.name));
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return "";
  }
};

// What a claim may become: its order chooses among these, by price.
Json types_of(const model::NodeClaim& claim) {
  Json types = Json::array();
  for (const model::RequirementSpec& one : claim.requirements)
    if (one.key == model::kInstanceTypeLabel && one.op == model::Operator::kIn)
      for (const std::string& type : one.values) types.push_back({{"instance_type", type}});
  return types;
}

}  // namespace

DecisionRows::DecisionRows(Withheld withheld)
    : withheld_(std::move(withheld)), row_(std::size(kDecisionColumns)) {}

const Table& DecisionRows::table() const {
  return kDecisionTable;
}

// Which build it was is not in the baseline.
void DecisionRows::begin(const events::Baseline& baseline, const State& state, const Filter&) {
  if (knows_prices()) prices_.begin(state);
  if (withheld_.redaction.withholds(EventType::kDaemonStarted)) return;
  decision_version_ = baseline.decision_version;
  config_ = config_text(events::make_record(events::DaemonStarted{"", "", state.config()}).payload);
}

// Whoever may not read what prices came with does not learn how old they are.
bool DecisionRows::knows_prices() const {
  return !withheld_.redaction.withholds(EventType::kCatalogueObserved) &&
         !withheld_.redaction.withholds(EventType::kPricesObserved);
}

// Nor, whoever may not read what types there are and what is asked of them, why not the others.
bool DecisionRows::knows_types() const {
  static constexpr EventType kNeeded[] = {
      EventType::kCatalogueObserved,        EventType::kNodePoolObserved,
      EventType::kNodeClassObserved,        EventType::kNodeObserved,
      EventType::kNodeClaimObserved,        EventType::kInstanceObserved,
      EventType::kOutcomeReceived,          EventType::kNodeOverlayObserved,
      EventType::kPricesObserved,           EventType::kInterruptionReceived,
      EventType::kNodeClaimCreateRequested,
  };
  return std::none_of(std::begin(kNeeded), std::end(kNeeded),
                      [&](EventType type) { return withheld_.redaction.withholds(type); });
}

// What prices there are and where from, and who decides.
void DecisionRows::learn(const events::Event& event) {
  if (knows_prices()) prices_.see(event);
  if (event.envelope.type != EventType::kDaemonStarted ||
      withheld_.redaction.withholds(event.envelope.type))
    return;
  const auto body = events::decode_body(event);
  const auto& started = std::get<events::DaemonStarted>(body);
  build_ = started.version;
  decision_version_ = started.decision_version;
  config_ = config_text(event.payload);
}

base::Status DecisionRows::see(const events::Event& event, bool taken, const State& before,
                               TableWriter& out) {
  learn(event);
  return taken && events::is_decision(event.envelope.type) ? fill(event, before, out)
                                                           : base::Status();
}

base::Status DecisionRows::fill(const events::Event& event, const State& before, TableWriter& out) {
  const events::Envelope& e = event.envelope;
  row_.clear();
  row_.number(static_cast<std::int64_t>(e.position.value()));
  row_.number(e.log_time.value());
  row_.text(events::event_type_name(e.type));
  row_.text(shown_stream(e, withheld_.redaction, withheld_.log_secret));
  row_.number_or_null(static_cast<std::int64_t>(e.causation.value()));
  row_.number_or_null(static_cast<std::int64_t>(e.correlation.value()));
  row_.text_or_null(build_);
  row_.text_or_null(decision_version_);
  row_.text_or_null(config_);
  const bool withheld = withheld_.redaction.withholds(e.type);
  row_.number(withheld ? 1 : 0);
  if (withheld) {
    row_.text(payload_commitment_hex(event.raw, withheld_.log_secret));
  } else {
    row_.skip();
    const events::Body body = events::decode_body(event);
    if (const auto* command = std::get_if<model::Command>(&body))
      fill_command(e, before, *command);
    else
      fill_other(e, before, body);
  }
  ++rows_;
  return out.row(row_);
}

void DecisionRows::fill_command(const events::Envelope& envelope, const State& before,
                                const model::Command& command) {
  row_.text(command.rule);
  row_.text(command.reason);
  row_.skip();  // arguments
  Json evidence = Json::array();
  for (const model::Position position : command.evidence) evidence.push_back(position.value());
  row_.text(dumped(evidence));
  row_.text_or_null(std::visit(PoolOf{before}, command.spec));
  if (const auto* create = std::get_if<model::CreateNodeClaim>(&command.spec)) {
    row_.skip(6);  // the order says them
    row_.text(dumped(types_of(create->claim)));
  } else if (const auto* launch = std::get_if<model::Launch>(&command.spec)) {
    fill_offers(envelope, *launch);
  } else {
    return;
  }
  fill_ruled_out(envelope, before, command);
}

void DecisionRows::fill_ruled_out(const events::Envelope& envelope, const State& before,
                                  const model::Command& command) {
  const providers::Provider* provider = providers::find_provider(before.config().provider);
  if (provider == nullptr || !knows_types()) return;
  Json reasons = Json::array();
  for (const reconcilers::RuledOut& one :
       reconcilers::ruled_out(before, {envelope.log_time, *provider, class_types_}, command.spec))
    reasons.push_back(
        {{"why", one.why}, {"count", one.types.size()}, {"instance_types", one.types}});
  row_.text(dumped(reasons));
}

void DecisionRows::fill_offers(const events::Envelope& envelope, const model::Launch& launch) {
  if (launch.offers.empty()) return row_.skip(7);
  const auto age_of = [&](const Prices::Source& source) -> std::optional<std::int64_t> {
    if (!source.known_at) return std::nullopt;
    return envelope.log_time - *source.known_at;
  };
  const model::Offer& first = launch.offers.front();
  row_.text(first.instance_type);
  row_.text(first.zone);
  row_.text(first.capacity_type);
  row_.number(first.price_nanos_per_hour);
  const Prices::Source source = prices_.source_of(first);
  row_.number_or_null(static_cast<std::int64_t>(source.position.value()));
  const std::optional<std::int64_t> age = age_of(source);
  age ? row_.number(*age) : row_.skip();
  Json others = Json::array();
  for (std::size_t i = 1; i < launch.offers.size(); ++i)
    others.push_back(offer_json(launch.offers[i], age_of(prices_.source_of(launch.offers[i]))));
  row_.text(dumped(others));
}

void DecisionRows::fill_other(const events::Envelope& envelope, const State& before,
                              const events::Body& body) {
  if (const auto* verdict = std::get_if<model::Verdict>(&body)) {
    row_.text(verdict->rule);
    row_.text(verdict->code);
    row_.text(dumped(Json(verdict->args)));
  } else if (const auto* nomination = std::get_if<model::Nomination>(&body)) {
    Json pods = Json::array();
    for (const model::PodUid& uid : nomination->pods) pods.push_back(uid.str());
    row_.text("provisioning");
    row_.text("nominated");
    row_.text(dumped(pods));
  } else if (const auto* attempt = std::get_if<model::AttemptStarted>(&body)) {
    row_.text("retry");
    row_.text("attempt");
    row_.text(dumped(Json::array({attempt->attempt})));
  } else if (const auto* end = std::get_if<model::CommandAbandoned>(&body)) {
    const projections::CommandRow* command = before.commands().find(end->command);
    const bool shown = command != nullptr &&
                       !withheld_.redaction.withholds(events::make_record(command->command).type);
    row_.text_or_null(shown ? command->command.rule : "");
    row_.text(end->reason);
    row_.skip();  // arguments
  } else if (const auto* held = std::get_if<events::ProvisioningHeld>(&body)) {
    row_.text("provisioning");
    row_.text("held");
    row_.text(dumped(Json::array({base::format_rfc3339(held->until_millis)})));
  } else {
    return;
  }
  // These are not commands, whose evidence is stored with them: what led to them is.
  if (envelope.causation.value() != 0) row_.text(dumped(Json::array({envelope.causation.value()})));
}

}  // namespace karst::exports
