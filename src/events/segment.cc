#include "events/segment.h"

#include <zstd.h>

#include <cstring>

#include "base/check.h"
#include "base/sha256.h"
#include "events/aligned_copy.h"

namespace karst::events {
namespace {

constexpr std::string_view kMagic = "karstseg";
constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kHeadBytes = 128;
constexpr std::size_t kDigestAt = 40;
constexpr std::size_t kDigestEnd = 72;
constexpr std::size_t kLogIdAt = 73;  // behind its length
constexpr std::size_t kLogIdMax = kHeadBytes - kLogIdAt;
constexpr std::size_t kEventMax = kHeaderSize + kStreamMax + 8 + kPayloadMax + 16;
constexpr int kLevel = 9;  // sealed once, kept for months

void put_number(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}
std::uint64_t number_at(std::string_view bytes, std::size_t at, int size) {
  std::uint64_t value = 0;
  for (int i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}
std::size_t padded_to_8(std::size_t size) {
  return (size + 7) / 8 * 8;
}
tl::unexpected<base::Error> bad(const std::string& what) {
  return base::fail(base::Kind::kCorrupt, "the segment is damaged: " + what);
}

// Of everything in the file but the digest itself.
base::Sha256Digest digest_of(std::string_view file) {
  base::Sha256 hash;
  return hash.update(file.substr(0, kDigestAt)).update(file.substr(kDigestEnd)).finish();
}

class SegmentCursor final : public Cursor {
 public:
  SegmentCursor(std::string_view body, model::Position first, std::uint64_t count)
      : body_(body), next_(first), left_(count) {}

  base::Result<std::optional<Event>> next() override {
    if (left_ == 0) {
      if (!body_.empty()) return bad(std::to_string(body_.size()) + " bytes behind its last event");
      return std::optional<Event>();
    }
    if (body_.size() < 8) return bad("it ends before position " + std::to_string(next_.value()));
    const std::uint64_t size = number_at(body_, 0, 8);
    if (size > kEventMax || padded_to_8(size) > body_.size() - 8)
      return bad("position " + std::to_string(next_.value()) + " claims " + std::to_string(size) +
                 " bytes");
    auto event = decode_event(next_, copy_.of(body_.substr(8, size)));
    if (!event) return base::fail(event.error());
    body_.remove_prefix(8 + padded_to_8(size));
    next_ = model::Position(next_.value() + 1);
    --left_;
    return std::optional<Event>(*event);
  }

 private:
  std::string_view body_;
  model::Position next_;
  std::uint64_t left_;
  AlignedCopy copy_;
};

base::Result<std::string> unpacked(std::string_view frame, std::uint64_t size) {
  std::string body(size, '\0');
  const std::size_t got = ZSTD_decompress(body.data(), body.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) != 0) return bad(ZSTD_getErrorName(got));
  if (got != size) return bad("it unpacks to fewer bytes than it claims");
  return body;
}

}  // namespace

void SegmentWriter::add(const Event& event) {
  KARST_CHECK(has_room(), "a full segment is sealed");
  if (count_ == 0) first_ = event.envelope.position;
  KARST_CHECK(event.envelope.position.value() == first_.value() + count_,
              "a segment's events have no gaps");
  put_number(body_, event.raw.size(), 8);
  body_.append(event.raw);
  body_.append(padded_to_8(event.raw.size()) - event.raw.size(), '\0');
  ++count_;
}

std::string SegmentWriter::seal(const model::LogId& log) const {
  KARST_CHECK(!empty() && log.str().size() <= kLogIdMax, "a segment has events and a short id");
  std::string out(kMagic);
  put_number(out, kFormat, 4);
  put_number(out, 0, 4);
  put_number(out, first_.value(), 8);
  put_number(out, count_, 8);
  put_number(out, body_.size(), 8);
  out.append(kDigestEnd - kDigestAt, '\0');
  put_number(out, log.str().size(), 1);
  out += log.str();
  out.resize(kHeadBytes + ZSTD_compressBound(body_.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data() + kHeadBytes, out.size() - kHeadBytes,
                                         body_.data(), body_.size(), kLevel);
  KARST_CHECK(ZSTD_isError(size) == 0, "zstd packs into the bytes it asked for");
  out.resize(kHeadBytes + size);
  const base::Sha256Digest digest = digest_of(out);
  std::memcpy(out.data() + kDigestAt, digest.data(), digest.size());
  return out;
}

base::Result<Segment> Segment::open(std::string_view file) {
  if (file.size() < kHeadBytes || !file.starts_with(kMagic)) return bad("it does not begin as one");
  const std::uint64_t format = number_at(file, 8, 4);
  if (format > kFormat)
    return base::fail(base::Kind::kNewer, "the segment has format " + std::to_string(format) +
                                              ", this karst reads up to " +
                                              std::to_string(kFormat));
  const base::Sha256Digest digest = digest_of(file);
  if (std::memcmp(digest.data(), file.data() + kDigestAt, digest.size()) != 0)
    return bad("its bytes are other ones than were sealed");
  Segment segment;
  segment.first_ = model::Position(number_at(file, 16, 8));
  segment.count_ = number_at(file, 24, 8);
  const std::uint64_t size = number_at(file, 32, 8);
  const std::uint64_t id_size = number_at(file, kLogIdAt - 1, 1);
  const std::string_view head = file.substr(0, kHeadBytes);
  const bool zeros = id_size <= kLogIdMax &&
                     head.find_first_not_of('\0', kLogIdAt + id_size) == std::string_view::npos;
  if (format == 0 || number_at(file, 12, 4) != 0 || !zeros || segment.first_.value() == 0 ||
      segment.count_ == 0 || segment.count_ > kSegmentEventsMax ||
      size > kSegmentBodyMax + kEventMax)
    return bad("its first 128 bytes are not those of a segment");
  segment.log_ = model::LogId(std::string(file.substr(kLogIdAt, id_size)));
  auto body = unpacked(file.substr(kHeadBytes), size);
  if (!body) return base::fail(body.error());
  segment.body_ = std::move(*body);
  return segment;
}

std::unique_ptr<Cursor> Segment::read() const {
  return std::make_unique<SegmentCursor>(body_, first_, count_);
}

}  // namespace karst::events
