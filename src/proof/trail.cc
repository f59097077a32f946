#include "proof/trail.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "events/json_text.h"

namespace karst::proof {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_base64(std::string_view field, std::string_view bytes, std::string& out) {
  out.append(field);
  base::encode_base64(bytes, out);
  out += '"';
}

}  // namespace

std::string header_line(const TrailHeader& header) {
  return dump(Json{{"trail", kTrailFormat},
                   {"log", header.log},
                   {"size", header.size},
                   {"complete", header.complete},
                   {"filter", header.filter},
                   {"redacted", header.redacted},
                   {"key", header.key}});
}

void event_line(std::string_view log, const TrailEvent& trail, std::string& out) {
  const events::Envelope& envelope = trail.event.envelope;
  out.assign("{\"log\":\"").append(log).append("\",\"position\":");
  out.append(std::to_string(envelope.position.value()));
  const bool withheld = !trail.commitment.empty();
  append_base64(withheld ? ",\"front\":\"" : ",\"bytes\":\"", trail.event.raw, out);
  append_base64(withheld ? ",\"commitment\":\"" : ",\"salt\":\"",
                withheld ? trail.commitment : trail.salt, out);
  if (trail.path != nullptr) {
    out.append(",\"path\":[");
    for (std::size_t i = 0; i < trail.path->size(); ++i)
      append_base64(i == 0 ? "\"" : ",\"", as_text((*trail.path)[i]), out);
    out.append("]");
  }
  out.append(",\"event\":");
  if (withheld)
    events::append_withheld_json(envelope, out);
  else
    events::append_event_json(trail.event, out);
  out.append("}");
}

std::string end_line(std::string_view checkpoint, std::uint64_t lines,
                     std::string_view sha256_hex) {
  return dump(Json{{"checkpoint", checkpoint}, {"lines", lines}, {"sha256", sha256_hex}});
}

TrailWriter::TrailWriter(const TrailHeader& header, std::string log_secret)
    : header_(header), secret_(std::move(log_secret)) {}

std::string_view TrailWriter::count() {
  line_ += '\n';
  digest_.update(std::string_view(line_));
  ++lines_;
  return line_;
}

std::string_view TrailWriter::begin() {
  line_ = header_line(header_);
  return count();
}

std::string_view TrailWriter::event(const events::Event& event, bool withheld,
                                    const std::vector<Hash>* path) {
  const std::string_view front = events::front_of(event.raw);
  const Hash salt = events::leaf_salt(event.envelope.position, secret_);
  const Hash commitment = events::commitment_of(event.raw.substr(front.size()), as_text(salt));
  frontier_.append(leaf_hash(front, as_text(commitment)));
  if (withheld) {
    const events::Event shown{event.envelope, {}, front};
    event_line(header_.log, {shown, {}, as_text(commitment), path}, line_);
  } else {
    event_line(header_.log, {event, as_text(salt), {}, path}, line_);
  }
  return count();
}

std::string_view TrailWriter::end(std::string_view checkpoint) {
  line_ = end_line(checkpoint, lines_, base::hex_lower(digest_.finish())) + "\n";
  return line_;
}

}  // namespace karst::proof
