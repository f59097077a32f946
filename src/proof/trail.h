// The trail: events that carry their proof, as lines of JSON (docs/audit.md has them byte for
// byte).
//   {"trail":"karst-trail/1","log":…,"size":N,"complete":…,"filter":…,"redacted":…,"key":…}
//   {"log":…,"position":…,"bytes":…,"salt":…,"path":[…],"event":{…}}          one for each event
//   {"log":…,"position":…,"front":…,"commitment":…,"path":[…],"event":{…}}    its payload withheld
//   {"checkpoint":…,"lines":…,"sha256":…}
// "bytes" are the stored ones; with the salt they give the leaf (events/event.h). "path" is there
// where the trail is not complete: complete ones are proven by all their leaves together. A trail
// has one form: readers write each line again and demand the same bytes. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/sha256.h"
#include "events/event.h"
#include "proof/checkpoint.h"
#include "proof/merkle.h"

namespace karst::proof {

inline constexpr std::string_view kTrailFormat = "karst-trail/1";
inline constexpr std::size_t kTrailLineMax = 64 << 20;  // a payload of 4 MiB, twice, with escapes

struct TrailHeader {
  std::string log;
  std::uint64_t size = 0;  // of the tree that the checkpoint is of
  bool complete = true;    // all positions from 1 to size
  std::string filter;      // what was asked for; empty: everything
  std::string redacted;    // which payloads are withheld; empty: none
  std::string key;         // the verifier key of who signed, as the writer says; empty: unsigned
};

// Lines without their line ends.
std::string header_line(const TrailHeader& header);
struct TrailEvent {
  const events::Event& event;  // of a withheld one, envelope and `raw` count, which is its front
  std::string_view salt;
  std::string_view commitment;  // empty: the payload is there
  const std::vector<Hash>* path = nullptr;
};
// Replaces `out`.
void event_line(std::string_view log, const TrailEvent& trail, std::string& out);
std::string end_line(std::string_view checkpoint, std::uint64_t lines, std::string_view sha256_hex);

// Makes the lines of a trail, each with its line end. The caller gives the events in order, and
// the checkpoint at the end.
class TrailWriter {
 public:
  TrailWriter(const TrailHeader& header, std::string log_secret);
  // The line stays valid until the next call.
  std::string_view begin();
  std::string_view event(const events::Event& event, bool withheld, const std::vector<Hash>* path);
  // Of the events so far: the root of a complete trail.
  Hash root() const { return frontier_.root(); }
  std::string_view end(std::string_view checkpoint);

 private:
  std::string_view count();  // line_, ended and part of the digest

  TrailHeader header_;
  std::string secret_;
  base::Sha256 digest_;
  Frontier frontier_;
  std::uint64_t lines_ = 0;
  std::string line_;
};

}  // namespace karst::proof
