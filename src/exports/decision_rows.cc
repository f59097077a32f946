#include <nlohmann/json.hpp>

#include "events/codec.h"
#include "events/json_text.h"
#include "exports/views.h"

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
};
constexpr std::string_view kDecisionIndexed[] = {"log_time", "subject", "rule", "code"};
constexpr Table kDecisionTable{"decisions", kDecisionColumns, kDecisionIndexed};

Json offer_json(const model::Offer& offer) {
  Json json = {{"instance_type", offer.instance_type},
               {"zone", offer.zone},
               {"capacity_type", offer.capacity_type},
               {"price_nanos_per_hour", offer.price_nanos_per_hour}};
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

std::string pool_of(const model::CommandSpec& spec) {
  if (const auto* create = std::get_if<model::CreateNodeClaim>(&spec))
    return create->claim.pool.str();
  if (const auto* launch = std::get_if<model::Launch>(&spec)) return launch->pool.str();
  const auto* mirror = std::get_if<model::MirrorPool>(&spec);
  return mirror == nullptr ? "" : mirror->name.str();
}

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
base::Status DecisionRows::begin(const events::Baseline& baseline,
                                 const projections::ClusterState& state, const Filter&) {
  if (knows_prices()) prices_.begin(state);
  if (withheld_.redaction.withholds(EventType::kDaemonStarted)) return {};
  decision_version_ = baseline.decision_version;
  config_ = config_text(events::make_record(events::DaemonStarted{"", "", state.config()}).payload);
  return {};
}

// Whoever may not read what prices came with does not learn how old they are.
bool DecisionRows::knows_prices() const {
  return !withheld_.redaction.withholds(EventType::kCatalogueObserved) &&
         !withheld_.redaction.withholds(EventType::kPricesObserved);
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

base::Status DecisionRows::see(const events::Event& event, bool taken, TableWriter& out) {
  const events::Envelope& e = event.envelope;
  learn(event);
  if (!taken || !events::is_decision(e.type)) return {};
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
      fill_command(e, *command);
    else
      fill_other(e, body);
  }
  ++rows_;
  return out.row(row_);
}

void DecisionRows::fill_command(const events::Envelope& envelope, const model::Command& command) {
  row_.text(command.rule);
  row_.text(command.reason);
  row_.skip();  // arguments
  Json evidence = Json::array();
  for (const model::Position position : command.evidence) evidence.push_back(position.value());
  row_.text(dumped(evidence));
  row_.text_or_null(pool_of(command.spec));
  fill_offers(envelope, command);
}

void DecisionRows::fill_offers(const events::Envelope& envelope, const model::Command& command) {
  if (const auto* create = std::get_if<model::CreateNodeClaim>(&command.spec)) {
    row_.skip(6);  // the order says them
    return row_.text(dumped(types_of(create->claim)));
  }
  const auto* launch = std::get_if<model::Launch>(&command.spec);
  if (launch == nullptr || launch->offers.empty()) return;
  const model::Offer& first = launch->offers.front();
  row_.text(first.instance_type);
  row_.text(first.zone);
  row_.text(first.capacity_type);
  row_.number(first.price_nanos_per_hour);
  const Prices::Source source = prices_.source_of(first);
  row_.number_or_null(static_cast<std::int64_t>(source.position.value()));
  if (source.known_at)
    row_.number(envelope.log_time - *source.known_at);
  else
    row_.skip();
  Json others = Json::array();
  for (std::size_t i = 1; i < launch->offers.size(); ++i)
    others.push_back(offer_json(launch->offers[i]));
  row_.text(dumped(others));
}

void DecisionRows::fill_other(const events::Envelope& envelope, const events::Body& body) {
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
    row_.skip();  // the event does not name its rule
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
