#include <algorithm>

#include "events/codec.h"
#include "exports/views.h"

namespace karst::exports {
namespace {

using events::EventType;

// lp4k's columns, in its order.
constexpr Column kClaimColumns[] = {
    {"nodeclaim"},
    {"createdtime"},
    {"nodepool", ColumnType::kText, true},
    {"instancetypes", ColumnType::kText, true},
    {"launchedtime"},
    {"providerid"},
    {"instancetype", ColumnType::kText, true},
    {"zone", ColumnType::kText, true},
    {"capacitytype", ColumnType::kText, true},
    {"registeredtime"},
    {"k8snodename"},
    {"initializedtime"},
    {"nodereadytime"},
    {"nodereadytimesec", ColumnType::kTenths},
    {"disruptiontime"},
    {"disruptionreason", ColumnType::kText, true},
    {"disruptiondecision", ColumnType::kText, true},
    {"disruptednodecount", ColumnType::kInt64},
    {"replacementnodecount", ColumnType::kInt64},
    {"disruptedpodcount", ColumnType::kInt64},
    {"annotationtime"},
    {"annotation"},
    {"tainttime"},
    {"taint", ColumnType::kText, true},
    {"interruptiontime"},
    {"interruptionkind", ColumnType::kText, true},
    {"deletedtime"},
    {"nodeterminationtime"},
    {"nodeterminationtimesec", ColumnType::kTenths},
    {"nodelifecycletime"},
    {"nodelifecycletimesec", ColumnType::kTenths},
    {"initialized", ColumnType::kBool},
    {"deleted", ColumnType::kBool},
};
constexpr std::string_view kClaimIndexed[] = {"nodeclaim", "nodepool", "createdtime"};
constexpr Table kClaimTable{"nodeclaims", kClaimColumns, kClaimIndexed};
constexpr std::size_t kTypesNamedMax = 5;  // as Karpenter's log lines name them

// Go's Duration as text: 0s, 226ms, 1.5s, 1m2.25s, 1h0m3s. Not negative.
std::string go_duration(std::int64_t millis) {
  if (millis <= 0) return "0s";
  if (millis < base::kMillisPerSecond) return std::to_string(millis) + "ms";
  std::string text;
  const std::int64_t hours = millis / base::kMillisPerHour;
  const std::int64_t minutes = millis / base::kMillisPerMinute % 60;
  if (hours > 0) text += std::to_string(hours) + "h";
  if (hours > 0 || minutes > 0) text += std::to_string(minutes) + "m";
  text += std::to_string(millis / base::kMillisPerSecond % 60);
  if (const std::int64_t rest = millis % base::kMillisPerSecond; rest > 0) {
    std::string digits = std::to_string(base::kMillisPerSecond + rest).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    text += "." + digits;
  }
  return text + "s";
}

// "c-4x|m-4x|and12others": what lp4k makes of "c-4x, m-4x and 12 other(s)".
std::string types_text(const std::vector<std::string>& types) {
  std::string text;
  for (std::size_t i = 0; i < std::min(types.size(), kTypesNamedMax); ++i)
    text += (i == 0 ? "" : "|") + types[i];
  if (types.size() > kTypesNamedMax)
    text += "|and" + std::to_string(types.size() - kTypesNamedMax) + "others";
  return text;
}

// The last part of "aws:///us-east-1a/i-0123", as lp4k has it.
std::string machine_text(const model::ProviderId& id) {
  return id.str().substr(id.str().rfind('/') + 1);
}

void add_time(Row& row, std::int64_t millis) {
  millis == 0 ? row.skip() : row.text(base::format_rfc3339(millis));
}

// From one moment to another as a duration and as seconds, rounded to tenths; 0 while one is
// missing.
void add_span(Row& row, std::int64_t from, std::int64_t to) {
  const std::int64_t millis = from == 0 || to == 0 ? 0 : std::max<std::int64_t>(to - from, 0);
  row.text(go_duration(millis));
  row.number((millis + 50) / 100);
}

std::string annotation_text(std::string_view deadline) {
  return std::string(model::kTerminationTimestampAnnotation) + ":" + std::string(deadline);
}

std::string taint_text(const model::Taint& taint) {
  return taint.key + ":" + taint.value + ":" + std::string(model::taint_effect_name(taint.effect));
}

bool is_interruption(std::string_view reason) {
  for (int kind = 0; kind < model::kInterruptionKinds; ++kind)
    if (reason == model::interruption_kind_name(static_cast<model::InterruptionKind>(kind)))
      return true;
  return false;
}

}  // namespace

ClaimRows::ClaimRows(Withheld) : row_(std::size(kClaimColumns)) {}

const Table& ClaimRows::table() const {
  return kClaimTable;
}

void ClaimRows::begin(const events::Baseline&, const State& state, const Filter& filter) {
  events::Envelope last;
  last.position = state.last_position();
  last.log_time = state.last_log_time();
  for (const auto& [name, slot] : state.claims().slots()) {
    remember(state, slot.row);
    memos_[name].taken = filter.takes_trimmed(slot.row.claim, last);
  }
}

// What learn() made of the events that were trimmed, as far as the state has kept it.
void ClaimRows::remember(const State& state, const projections::ClaimRow& claim) {
  Memo& memo = memos_[claim.claim.name];
  for (const model::RequirementSpec& requirement : claim.claim.requirements)
    if (requirement.key == model::kInstanceTypeLabel)
      memo.instance_types = types_text(requirement.values);
  if (is_interruption(claim.delete_reason)) {
    memo.interruption_millis = claim.delete_requested_at.value();
    memo.interruption_kind = claim.delete_reason;
  } else if (!claim.delete_reason.empty()) {
    memo.disruption_millis = claim.delete_requested_at.value();
    memo.disruption_reason = claim.delete_reason;
  }
  const std::string_view deadline =
      model::label_value(claim.claim.annotations, model::kTerminationTimestampAnnotation);
  if (!deadline.empty()) memo.annotation = annotation_text(deadline);
  const auto* node = state.nodes().find(claim.node);
  if (node == nullptr) return;
  for (const model::Taint& taint : node->node.taints)
    if (taint.key == model::kDisruptedTaintKey) memo.taint = taint_text(taint);
}

base::Status ClaimRows::see(const events::Event& event, bool taken, const State& before,
                            TableWriter& out) {
  const std::string_view stream = event.envelope.stream;
  const bool of_claim = stream.starts_with("nodeclaim/");
  if (event.envelope.type == EventType::kNodeClaimGone) {
    const model::ClaimName name(std::string(stream.substr(stream.find('/') + 1)));
    const projections::ClaimRow* claim = before.claims().find(name);
    memos_[name].taken |= taken;
    if (claim != nullptr) KARST_TRY(write(*claim, event.envelope.log_time.value(), out));
    memos_.erase(name);
  } else if (of_claim && taken) {
    memos_[model::ClaimName(std::string(stream.substr(stream.find('/') + 1)))].taken = true;
  }
  switch (event.envelope.type) {  // the many that tell nothing of claims
    case EventType::kNodeClaimCreateRequested:
    case EventType::kObjectDeleteRequested:
    case EventType::kOutcomeReceived:
    case EventType::kNodeClaimObserved:
      learn(event, before, events::decode_body(event));
      break;
    default:
      break;
  }
  return {};
}

void ClaimRows::learn(const events::Event& event, const State& before, const events::Body& body) {
  const std::int64_t now = event.envelope.log_time.value();
  if (const auto* command = std::get_if<model::Command>(&body)) {
    if (const auto* create = std::get_if<model::CreateNodeClaim>(&command->spec)) {
      for (const model::RequirementSpec& requirement : create->claim.requirements)
        if (requirement.key == model::kInstanceTypeLabel)
          memos_[create->claim.name].instance_types = types_text(requirement.values);
    } else {
      removal(before, *command, now);
    }
  } else if (const auto* outcome = std::get_if<model::Outcome>(&body)) {
    tainted(before, *outcome, now);
  } else if (const auto* seen = std::get_if<events::NodeClaimObserved>(&body)) {
    const std::string_view deadline =
        model::label_value(seen->claim.annotations, model::kTerminationTimestampAnnotation);
    Memo& memo = memos_[seen->claim.name];
    if (deadline.empty()) return;
    if (memo.annotation.empty()) memo.annotation_millis = now;
    memo.annotation = annotation_text(deadline);
  }
}

// The first decision to remove it counts: an announced interruption, or a disruption.
void ClaimRows::removal(const State& before, const model::Command& command,
                        std::int64_t now_millis) {
  const auto* remove = std::get_if<model::DeleteObject>(&command.spec);
  if (remove == nullptr || remove->object.kind != model::ObjectKind::kNodeClaim) return;
  const model::ClaimName name(remove->object.name);
  Memo& memo = memos_[name];
  // One that was taken back does not count.
  const projections::ClaimRow* claim = before.claims().find(name);
  const bool stands = claim != nullptr && !claim->delete_reason.empty();
  if (is_interruption(command.reason)) {
    if (memo.interruption_millis != 0 && stands) return;
    memo.interruption_millis = now_millis;
    memo.interruption_kind = command.reason;
    return;
  }
  if (memo.disruption_millis != 0 && stands) return;
  memo.disruption_millis = now_millis;
  memo.disruption_reason = command.reason;
  memo.disrupted_pods = 0;
  if (claim == nullptr) return;
  if (const auto* pods = before.pods().on(claim->node.str()))
    memo.disrupted_pods = static_cast<std::int64_t>(pods->reschedulable);
}

void ClaimRows::tainted(const State& before, const model::Outcome& outcome,
                        std::int64_t now_millis) {
  const projections::CommandRow* open = before.commands().find(outcome.command);
  if (open == nullptr || outcome.kind != model::OutcomeKind::kDone) return;
  const auto* taint = std::get_if<model::TaintNode>(&open->command.spec);
  const auto* node = taint == nullptr ? nullptr : before.nodes().find(taint->node);
  if (node == nullptr) return;
  const auto* claim = before.claim_by_provider_id(node->node.provider_id);
  if (claim == nullptr) return;
  Memo& memo = memos_[claim->claim.name];
  if (!taint->add) {  // called off: what counts is the next one
    memo.taint.clear();
    memo.taint_millis = 0;
  }
  if (!taint->add || !memo.taint.empty()) return;
  memo.taint_millis = now_millis;
  memo.taint = taint_text(taint->taint);
}

base::Status ClaimRows::write(const projections::ClaimRow& claim, std::int64_t deleted_millis,
                              TableWriter& out) {
  const Memo& memo = memos_[claim.claim.name];
  const std::int64_t created = claim.confirmed_at.value();
  if (!memo.taken || created == 0) return {};  // never there, for all that is known
  const std::int64_t initialized = claim.initialized_at.value();
  const model::Offer& offer = claim.instance.offer;
  row_.clear();
  row_.text(claim.claim.name.str());
  add_time(row_, created);
  row_.text(claim.claim.pool.str());
  row_.text_or_null(memo.instance_types);
  add_time(row_, claim.launched_at.value());
  row_.text_or_null(machine_text(claim.instance.provider_id));
  row_.text_or_null(offer.instance_type);
  row_.text_or_null(offer.zone);
  row_.text_or_null(offer.capacity_type);
  add_time(row_, claim.registered_at.value());
  row_.text_or_null(claim.node.str());
  add_time(row_, initialized);
  add_span(row_, created, initialized);
  add_time(row_, memo.disruption_millis);
  row_.text_or_null(memo.disruption_reason);
  if (memo.disruption_millis == 0) {
    row_.skip(4);
  } else {
    row_.text("delete");
    row_.number(1);
    row_.number(0);  // replacements are claims of their own, decided apart
    memo.disrupted_pods ? row_.number(*memo.disrupted_pods) : row_.skip();
  }
  add_time(row_, memo.annotation_millis);
  row_.text_or_null(memo.annotation);
  add_time(row_, memo.taint_millis);
  row_.text_or_null(memo.taint);
  add_time(row_, memo.interruption_millis);
  row_.text_or_null(memo.interruption_kind);
  add_time(row_, deleted_millis);
  if (!memo.annotation.empty() && memo.annotation_millis == 0)
    row_.skip(2);
  else
    add_span(row_, memo.annotation_millis, deleted_millis);
  add_span(row_, created, deleted_millis);
  row_.number(initialized != 0 ? 1 : 0);
  row_.number(deleted_millis != 0 ? 1 : 0);
  ++rows_;
  return out.row(row_);
}

base::Status ClaimRows::end(const State& state, TableWriter& out) {
  for (const auto& [name, slot] : state.claims().slots()) KARST_TRY(write(slot.row, 0, out));
  return {};
}

}  // namespace karst::exports
