#include "exports/cloud_events.h"

#include <nlohmann/json.hpp>

#include "base/time.h"
#include "exports/rows.h"

namespace karst::exports {
namespace {

constexpr std::size_t kSequenceDigits = 20;
constexpr std::string_view kUnknownCluster = "unknown";

// Columns of the events view.
enum Place {
  kPosition,
  kLogTime,
  kWallTime,
  kType,
  kKind,
  kStream,
  kCausation,
  kCorrelation,
  kBytes,
  kIsWithheld,
  kCommitment,
  kPayload
};

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// RFC 3986: everything but unreserved characters as %XX.
std::string in_uri(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain)
      out += c;
    else
      (out += '%') += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out;
}

}  // namespace

CloudEventsWriter::CloudEventsWriter(const Origin& origin, bool batch, ByteSink& sink)
    : batch_(batch), sink_(sink) {
  const std::string cluster =
      origin.cluster_uid.empty() ? std::string(kUnknownCluster) : origin.cluster_uid;
  front_ = R"({"specversion":"1.0","source":)" +
           json_text("karst://" + in_uri(cluster) + "/" + in_uri(origin.log));
  back_ = R"(","partitionkey":)" + json_text(cluster);
}

base::Status CloudEventsWriter::row(const Row& row) {
  const auto cells = row.cells();
  const std::string position = std::to_string(cells[kPosition].number);
  line_ = batch_ ? (begun_ ? ",\n" : "[\n") : "";
  begun_ = true;
  line_ += front_;
  line_ += R"(,"id":")" + position;
  line_ += R"(","type":"sh.karst.)" + cells[kType].text;
  line_ += R"(","subject":)" + json_text(cells[kStream].text);
  line_ += R"(,"time":")" + base::format_rfc3339(cells[kLogTime].number);
  line_ += R"(","recordedtime":")" + base::format_rfc3339(cells[kWallTime].number);
  line_ += R"(","sequence":")" + std::string(kSequenceDigits - position.size(), '0') + position;
  line_ += back_;
  const Cell& root = cells[kCorrelation];
  line_ += R"(,"correlationid":")" + (root.null ? position : std::to_string(root.number)) + '"';
  if (!cells[kCausation].null)
    line_ += R"(,"causationid":")" + std::to_string(cells[kCausation].number) + '"';
  if (cells[kIsWithheld].number != 0)
    line_ += R"(,"payloadcommitment":")" + cells[kCommitment].text + R"(","data":null})";
  else
    line_ += R"(,"datacontenttype":"application/json","data":)" + cells[kPayload].text + '}';
  if (!batch_) line_ += '\n';
  return sink_.write(line_);
}

base::Status CloudEventsWriter::finish() {
  if (batch_) KARST_TRY(sink_.write(begun_ ? "\n]\n" : "[]\n"));
  return sink_.flush();
}

}  // namespace karst::exports
