#include "proof/trail_check.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "events/codec.h"
#include "events/event_log.h"
#include "events/json_text.h"
#include "proof/consistency.h"
#include "proof/scan.h"

namespace karst::proof {
namespace {

using AnyJson = nlohmann::json;

std::string text_of(const AnyJson& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// Words of the writer, which are shown: one line, and nothing that steers a terminal.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

std::uint64_t number_of(const AnyJson& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

}  // namespace

tl::unexpected<base::Error> TrailCheck::untrue(const std::string& what) const {
  return base::fail(base::Kind::kCorrupt, "line " + std::to_string(lines_) + ": " + what);
}

base::Status TrailCheck::feed(std::string_view bytes) {
  for (;;) {
    const std::size_t end = bytes.find('\n');
    if (begun_line_.size() + std::min(end, bytes.size()) > kTrailLineMax) {
      ++lines_;
      return untrue("it is longer than any line of a trail");
    }
    if (end == bytes.npos) break;
    if (begun_line_.empty()) {
      KARST_TRY(line(bytes.substr(0, end)));
    } else {
      begun_line_.append(bytes.substr(0, end));
      KARST_TRY(line(begun_line_));
      begun_line_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
  begun_line_.append(bytes);
  return {};
}

base::Status TrailCheck::line(std::string_view text) {
  ++lines_;
  if (ended_) return untrue("there is something after the last line");
  if (!begun_) return header(text);
  if (text.starts_with("{\"checkpoint\":")) return end(text);
  KARST_TRY(event(text));
  digest_.update(text).update(std::string_view("\n"));
  return {};
}

base::Status TrailCheck::header(std::string_view text) {
  const AnyJson json = AnyJson::parse(text, nullptr, false);
  if (!json.is_object() || text_of(json, "trail") != kTrailFormat)
    return base::fail(base::Kind::kInvalid,
                      "this is no trail: its first line does not say " + std::string(kTrailFormat));
  TrailHeader& header = found_.header;
  header.log = text_of(json, "log");
  header.size = number_of(json, "size");
  header.complete = json.value("complete", AnyJson()) == true;
  header.filter = text_of(json, "filter");
  header.redacted = text_of(json, "redacted");
  header.key = text_of(json, "key");
  if (header_line(header) != text) return untrue("it is not written as a trail begins");
  if (!is_plain(header.log) || !is_plain(header.filter) || !is_plain(header.redacted) ||
      !is_plain(header.key))
    return untrue("it has line ends, control characters or other than ASCII in what it says");
  if (header.log.empty() || header.size == 0 || header.size > kTreeSizeMax)
    return untrue("it names no log, or no size of its tree");
  digest_.update(text).update(std::string_view("\n"));
  begun_ = true;
  return {};
}

base::Status TrailCheck::event(std::string_view text) {
  const TrailHeader& header = found_.header;
  Scan scan(text);
  scan.expect("{\"log\":\"");
  scan.expect(header.log);
  scan.expect("\",\"position\":");
  const std::uint64_t number = scan.number();
  const bool withheld = scan.next(",\"front\":\"");
  if (!withheld) scan.expect(",\"bytes\":\"");
  const std::string bytes = scan.base64();
  scan.expect(withheld ? ",\"commitment\":\"" : ",\"salt\":\"");
  const std::string second = scan.base64();
  std::vector<Hash> path;
  if (!header.complete) {
    scan.expect(",\"path\":");
    path = scan.hashes();
  }
  if (!scan.ok() || second.size() != kHashSize)
    return untrue("it is not written as an event of a trail");
  const auto in_line = [&](const base::Error& error) {
    return base::fail(error.with_context("line " + std::to_string(lines_)));
  };
  const model::Position position(number);
  events::Event event;
  Hash leaf;
  if (withheld) {
    auto envelope = events::decode_front(position, bytes);
    if (!envelope) return in_line(envelope.error());
    event = {*envelope, {}, bytes};
    leaf = leaf_hash(bytes, second);
    ++found_.withheld;
  } else {
    auto decoded = events::decode_event(position, bytes);
    if (!decoded) return in_line(decoded.error());
    event = *decoded;
    leaf =
        leaf_hash(events::front_of(bytes), as_text(events::commitment_of(event.payload, second)));
  }
  const std::string_view salt = withheld ? std::string_view() : second;
  const std::string_view commitment = withheld ? second : std::string_view();
  event_line(header.log, {event, salt, commitment, header.complete ? nullptr : &path}, line_);
  if (line_ != text) return untrue("its readable form is not that of its bytes");
  KARST_TRY(proven(leaf, number, path));
  learn(event, withheld);
  return {};
}

base::Status TrailCheck::proven(const Hash& leaf, std::uint64_t position,
                                const std::vector<Hash>& path) {
  if (position <= found_.last || position > found_.header.size)
    return untrue("position " + std::to_string(position) + " is out of order");
  if (found_.header.complete) {
    if (position != found_.last + 1)
      return untrue("position " + std::to_string(found_.last + 1) + " is missing");
    frontier_.append(leaf);
    if (position == since_) found_.since_root = frontier_.root();
    return {};
  }
  const auto root = root_of_path(leaf, position - 1, found_.header.size, path);
  if (!root) return untrue("its path has not the length of a path in this tree");
  if (pending_.any && pending_.root != *root)
    return untrue("its path does not lead to the root that the events before it have");
  pending_ = {true, *root};
  return {};
}

void TrailCheck::learn(const events::Event& event, bool withheld) {
  const events::Envelope& envelope = event.envelope;
  if (found_.events != 0 && envelope.position.value() != found_.last + 1) found_.gaps = true;
  if (found_.events++ == 0) {
    found_.first = envelope.position.value();
    found_.first_millis = envelope.log_time.value();
  }
  found_.last = envelope.position.value();
  found_.last_millis = envelope.log_time.value();
  if (envelope.type != events::EventType::kSigningKeyChanged || withheld) return;
  found_.logged_key = std::get<events::SigningKeyChanged>(events::decode_body(event)).key;
  found_.logged_at = found_.last;
}

base::Status TrailCheck::end(std::string_view text) {
  const AnyJson json = AnyJson::parse(text, nullptr, false);
  if (!json.is_object()) return untrue("it is not written as a trail ends");
  const std::string checkpoint = text_of(json, "checkpoint");
  const std::string digest = base::hex_lower(digest_.finish());
  const std::string stated = text_of(json, "sha256");
  if (end_line(checkpoint, number_of(json, "lines"), stated) != text)
    return untrue("it is not written as a trail ends");
  if (number_of(json, "lines") != lines_ - 1) return untrue("it counts other lines than there are");
  if (stated != digest) return untrue("its sha256 is not that of the lines before it");
  auto parsed = parse_checkpoint_bytes(checkpoint);
  if (!parsed) return untrue(parsed.error().message);
  found_.checkpoint = std::move(*parsed);
  const Checkpoint& head = found_.checkpoint.checkpoint;
  const TrailHeader& header = found_.header;
  if (head.origin != origin_of(model::LogId(header.log)))
    return untrue("its checkpoint is of another log, " + head.origin);
  if (head.size != header.size) return untrue("its checkpoint is of another size");
  if (header.complete && found_.last != header.size)
    return untrue("the events end at position " + std::to_string(found_.last) + " of " +
                  std::to_string(header.size));
  if (header.complete ? frontier_.root() != head.root : pending_.any && pending_.root != head.root)
    return untrue("the events do not lead to the root of its checkpoint");
  if (auto status = check_own_key(found_.checkpoint.note, header.key); !status)
    return untrue(status.error().message);
  ended_ = true;
  return {};
}

base::Result<TrailFindings> TrailCheck::finish() {
  if (!ended_ || !begun_line_.empty())
    return base::fail(base::Kind::kCorrupt, "the trail ends after line " + std::to_string(lines_) +
                                                ": it is cut off, or was never finished");
  // Nobody asked for a part: then all that a trimmed log still has is there, up to the head.
  const TrailHeader& header = found_.header;
  if (!header.complete && header.filter.empty() &&
      (found_.events == 0 || found_.gaps || found_.last != header.size ||
       (found_.first - 1) % events::kTrimTile != 0))
    return base::fail(base::Kind::kCorrupt,
                      "it says that all is here that the log still has, and events are missing");
  return std::move(found_);
}

}  // namespace karst::proof
