#include "exports/filter.h"
#include "exports/payload_text.h"
#include "exports/views.h"

namespace karst::exports {
namespace {

constexpr Column kEventColumns[] = {
    {"position", ColumnType::kInt64},       {"log_time", ColumnType::kTimeMillis},
    {"wall_time", ColumnType::kTimeMillis}, {"type", ColumnType::kText, true},
    {"kind", ColumnType::kText, true},      {"stream", ColumnType::kText, true},
    {"causation", ColumnType::kInt64},      {"correlation", ColumnType::kInt64},
    {"bytes", ColumnType::kInt64},          {"withheld", ColumnType::kBool},
    {"commitment", ColumnType::kText},      {"payload", ColumnType::kText},
};
constexpr std::string_view kEventIndexed[] = {"log_time", "stream", "type", "causation"};
constexpr Table kEventTable{"events", kEventColumns, kEventIndexed};

}  // namespace

EventRows::EventRows(Withheld withheld)
    : withheld_(std::move(withheld)), row_(std::size(kEventColumns)) {}

const Table& EventRows::table() const {
  return kEventTable;
}

base::Status EventRows::see(const events::Event& event, bool taken,
                            const projections::ClusterState&, TableWriter& out) {
  if (!taken) return {};
  const events::Envelope& e = event.envelope;
  row_.clear();
  row_.number(static_cast<std::int64_t>(e.position.value()));
  row_.number(e.log_time.value());
  row_.number(e.wall_time.value());
  row_.text(events::event_type_name(e.type));
  row_.text(group_of(e.type));
  row_.text(shown_stream(e, withheld_.redaction, withheld_.log_secret));
  row_.number_or_null(static_cast<std::int64_t>(e.causation.value()));
  row_.number_or_null(static_cast<std::int64_t>(e.correlation.value()));
  row_.number(
      static_cast<std::int64_t>(events::kHeaderSize + e.stream.size() + event.payload.size()));
  const bool withheld = withheld_.redaction.withholds(e.type);
  row_.number(withheld ? 1 : 0);
  if (withheld) {
    row_.text(payload_commitment_hex(event.raw, withheld_.log_secret));
    row_.skip();
  } else {
    auto text = payload_text(event);
    if (!text) return base::fail(text.error());
    row_.skip();
    row_.text(*text);
  }
  ++rows_;
  return out.row(row_);
}

bool can_withhold(std::string_view name, const Redaction& redaction) {
  using events::EventType;
  if (name != "nodeclaims") return true;
  for (const EventType type :
       {EventType::kNodeClaimCreateRequested, EventType::kObjectDeleteRequested,
        EventType::kTaintRequested, EventType::kOutcomeReceived, EventType::kNodeClaimObserved,
        EventType::kNodeObserved, EventType::kInstanceObserved})
    if (redaction.withholds(type)) return false;
  return true;
}

std::unique_ptr<View> make_view(std::string_view name, const Withheld& withheld) {
  if (name == "decisions") return std::make_unique<DecisionRows>(withheld);
  if (name == "nodeclaims") return std::make_unique<ClaimRows>(withheld);
  return std::make_unique<EventRows>(withheld);
}

}  // namespace karst::exports
