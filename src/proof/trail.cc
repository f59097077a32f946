#include "proof/trail.h"

#include <nlohmann/json.hpp>

#include "base/base64.h"
#include "events/json_text.h"

namespace karst::proof {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kCommitmentBytes = 32;

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

void event_line(std::string_view log, const TrailEvent& trail, std::string_view readable,
                std::string& out) {
  out.assign("{\"log\":\"").append(log).append("\",\"position\":");
  out.append(std::to_string(trail.position));
  const bool withheld = !trail.commitment.empty();
  append_base64(withheld ? ",\"front\":\"" : ",\"bytes\":\"", trail.bytes, out);
  append_base64(withheld ? ",\"commitment\":\"" : ",\"salt\":\"",
                withheld ? trail.commitment : trail.salt, out);
  if (trail.path != nullptr) {
    out.append(",\"path\":[");
    for (std::size_t i = 0; i < trail.path->size(); ++i)
      append_base64(i == 0 ? "\"" : ",\"", as_text((*trail.path)[i]), out);
    out.append("]");
  }
  out.append(",\"event\":").append(readable).append("}");
}

std::string end_line(std::string_view checkpoint, std::uint64_t lines,
                     std::string_view sha256_hex) {
  return dump(Json{{"checkpoint", checkpoint}, {"lines", lines}, {"sha256", sha256_hex}});
}

TrailWriter::TrailWriter(const TrailHeader& header, std::string log_secret)
    : header_(header), secret_(std::move(log_secret)) {}

std::string_view TrailWriter::count(std::string line) {
  line_ = std::move(line);
  line_ += '\n';
  digest_.update(std::string_view(line_));
  ++lines_;
  return line_;
}

std::string_view TrailWriter::begin() {
  return count(header_line(header_));
}

base::Result<std::string_view> TrailWriter::event(const events::Event& event, bool withheld,
                                                  const std::vector<Hash>* path) {
  TrailEvent trail;
  trail.position = event.envelope.position.value();
  trail.path = path;
  const Hash salt = events::leaf_salt(event.envelope.position, secret_);
  const std::string leaf = events::leaf_bytes_salted(event.raw, as_text(salt));
  frontier_.append(leaf_hash(leaf));
  std::string readable;
  if (withheld) {
    trail.bytes = std::string_view(leaf).substr(0, leaf.size() - kCommitmentBytes);
    trail.commitment = std::string_view(leaf).substr(leaf.size() - kCommitmentBytes);
    readable = events::withheld_json(event.envelope);
  } else {
    auto json = events::event_json(event);
    if (!json) return base::fail(json.error());
    readable = std::move(*json);
    trail.bytes = event.raw;
    trail.salt = as_text(salt);
  }
  std::string line = std::move(line_);
  event_line(header_.log, trail, readable, line);
  return count(std::move(line));
}

std::string_view TrailWriter::end(std::string_view checkpoint) {
  line_ = end_line(checkpoint, lines_, base::hex_lower(digest_.finish())) + "\n";
  return line_;
}

}  // namespace karst::proof
