#include "proof/trail.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/ed25519.h"
#include "events/codec.h"
#include "events/memory_log.h"
#include "proof/tiles.h"
#include "proof/trail_check.h"
#include "tests/sanitized.h"

namespace karst::proof {
namespace {

constexpr std::string_view kSecret = "0123456789abcdef0123456789abcdef";
const SignerKey kSigner{"karst.dev/log-a", std::string(32, 's')};

struct TrailOptions {
  bool complete = true;
  bool sign = true;
  bool withhold = true;  // of every third event
};

// A log of pods that come and go, and its trail.
class Trails : public ::testing::Test {
 protected:
  Trails() : log_(model::LogId("log-a")) {}

  void grow(std::uint64_t events) {
    while (log_.end().value() <= events) {
      const std::string number = std::to_string(log_.end().value());
      events::Record record =
          log_.end().value() == 5
              ? events::make_record(events::SigningKeyChanged{kSigner.verifier().text()})
              : events::make_record(
                    events::PodGone{model::PodUid("uid-" + number), "ns \"ü\"", "pod-" + number});
      record.log_time = base::LogTime(static_cast<std::int64_t>(log_.end().value()) * 1000);
      ASSERT_TRUE(log_.append(std::span(&record, 1), events::Durability::kSynced));
    }
    TileBuilder builder;
    auto cursor = log_.read(model::Position(1));
    for (auto event = (*cursor)->next(); *event; event = (*cursor)->next())
      builder.append(event_leaf_hash((*event)->raw, kSecret));
    size_ = builder.size();
    root_ = builder.root();
    tiles_.put(builder.take());
  }

  std::string trail(const TrailOptions& options) {
    TrailHeader header;
    header.log = "log-a";
    header.size = size_;
    header.complete = options.complete;
    header.filter = options.complete ? "" : "kind=PodGone";
    header.redacted = options.withhold ? "workloads" : "";
    header.key = options.sign ? kSigner.verifier().text() : "";
    TrailWriter writer(header, std::string(kSecret));
    std::string out(writer.begin());
    auto cursor = log_.read(model::Position(1));
    for (auto event = (*cursor)->next(); *event; event = (*cursor)->next()) {
      const std::uint64_t position = (*event)->envelope.position.value();
      if (!options.complete && position % 2 == 0) continue;
      std::vector<Hash> path;
      if (!options.complete) path = *inclusion_path(tiles_, position - 1, size_);
      out += writer.event(**event, options.withhold && position % 3 == 0,
                          options.complete ? nullptr : &path);
    }
    const Checkpoint head{"karst.dev/log-a", size_, root_};
    out += writer.end(checkpoint_bytes(head, options.sign ? &kSigner : nullptr));
    return out;
  }

  static base::Result<TrailFindings> check(std::string_view bytes, std::uint64_t since = 0) {
    TrailCheck check(since);
    if (auto status = check.feed(bytes); !status) return base::fail(status.error());
    return check.finish();
  }

  events::MemoryLog log_;
  MemoryTiles tiles_;
  std::uint64_t size_ = 0;
  Hash root_{};
};

constexpr TrailOptions kAll[] = {{true, true, true},   {true, true, false},  {true, false, true},
                                 {true, false, false}, {false, true, true},  {false, true, false},
                                 {false, false, true}, {false, false, false}};

TEST_F(Trails, WhatIsWrittenIsProven) {
  grow(300);
  for (const TrailOptions& options : kAll) {
    const std::string bytes = trail(options);
    auto found = check(bytes);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->events, options.complete ? 300U : 150U);
    EXPECT_EQ(found->withheld, !options.withhold ? 0U : options.complete ? 100U : 50U);
    EXPECT_EQ(found->first, 1U);
    EXPECT_EQ(found->last, options.complete ? 300U : 299U);
    EXPECT_EQ(found->checkpoint.checkpoint.root, root_);
    EXPECT_EQ(found->last_millis, options.complete ? 300'000 : 299'000);
    EXPECT_EQ(found->logged_key, kSigner.verifier().text());
    EXPECT_EQ(found->logged_at, 5U);
    const bool payloads_shown = bytes.find("\"pod-3\"") != std::string::npos;
    EXPECT_EQ(payloads_shown, !options.withhold);
  }
}

TEST_F(Trails, ArriveInPieces) {
  grow(10);
  const std::string bytes = trail({});
  for (std::size_t piece = 1; piece < 200; piece += 7) {
    TrailCheck check;
    for (std::size_t at = 0; at < bytes.size(); at += piece)
      ASSERT_TRUE(check.feed(std::string_view(bytes).substr(at, piece)));
    EXPECT_TRUE(check.finish()) << piece;
  }
}

TEST_F(Trails, TellTheRootThatASmallerTreeHad) {
  grow(100);
  const Hash before = root_;
  grow(170);
  auto found = check(trail({}), 100);
  ASSERT_TRUE(found && found->since_root);
  EXPECT_EQ(*found->since_root, before);
}

// Every single bit: of 16 KiB of a signed trail, whole and partial, and of small ones of each sort.
constexpr std::size_t kStep = kSanitized ? 13 : 1;  // builds with sanitizers take one of so many

TEST_F(Trails, EveryFlippedBitIsFound) {
  const auto flip_all = [&](const TrailOptions& options) {
    std::string bytes = trail(options);
    ASSERT_TRUE(check(bytes));
    std::size_t flips = 0, found = 0;
    for (std::size_t bit = 0; bit < bytes.size() * 8; bit += kStep, ++flips) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      const bool refused = !check(bytes);
      found += refused ? 1 : 0;
      EXPECT_TRUE(refused) << "bit " << bit;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    }
    std::printf("trail of %zu bytes (complete %d, signed %d, withheld %d): %zu flips, %zu found\n",
                bytes.size(), options.complete, options.sign, options.withhold, flips, found);
    EXPECT_EQ(flips, found);
  };
  grow(3);
  for (const TrailOptions& options : kAll) flip_all(options);
  // A part of a trail has every other event, with its path.
  for (const bool complete : {true, false}) {
    grow(complete ? 36 : 46);
    const TrailOptions options{complete, true, true};
    ASSERT_GE(trail(options).size(), std::size_t{16} << 10);
    flip_all(options);
  }
}

// Every length that trails of more than 16 KiB of each sort can be cut to.
TEST_F(Trails, EveryTruncationIsFound) {
  grow(46);
  std::size_t cuts = 0, found = 0;
  for (const TrailOptions& options : kAll) {
    const std::string bytes = trail(options);
    for (std::size_t size = 0; size < bytes.size(); size += kStep, ++cuts) {
      const bool refused = !check(std::string_view(bytes).substr(0, size));
      found += refused ? 1 : 0;
      EXPECT_TRUE(refused) << size;
    }
    EXPECT_FALSE(check(bytes + "\n"));
    EXPECT_FALSE(check(bytes + "x"));
    EXPECT_FALSE(check(bytes + bytes));
  }
  std::printf("trails of each sort: %zu cuts, %zu found\n", cuts, found);
  EXPECT_EQ(cuts, found);
}

std::vector<std::string> lines_of(const std::string& bytes) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t end = bytes.find('\n', at);
    lines.push_back(bytes.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Somebody who knows the format, and makes all that holds it together anew but for the signature.
std::string put_together(std::vector<std::string> lines) {
  base::Sha256 digest;
  std::string out;
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    digest.update(lines[i] + "\n");
    out += lines[i] + "\n";
  }
  std::string& last = lines.back();
  const std::size_t counted = last.rfind(",\"lines\":");
  last = last.substr(0, counted) + ",\"lines\":" + std::to_string(lines.size() - 1) +
         ",\"sha256\":\"" + base::hex_lower(digest.finish()) + "\"}";
  return out + last + "\n";
}

TEST_F(Trails, AForgerWithoutTheKeyIsFound) {
  grow(12);
  for (const bool complete : {true, false}) {
    const std::vector<std::string> whole = lines_of(trail({complete, true, true}));
    ASSERT_TRUE(check(put_together(whole)));
    const auto refused = [&](const char* what, std::vector<std::string> lines) {
      EXPECT_FALSE(check(put_together(std::move(lines)))) << what << complete;
    };
    auto lines = whole;
    std::swap(lines[2], lines[3]);
    refused("two events in another order", lines);
    lines = whole;
    lines.insert(lines.begin() + 2, lines[2]);
    refused("an event twice", lines);
    lines = whole;
    lines[1].insert(lines[1].size() - 1, ",\"event\":{}");
    refused("another field", lines);
    lines = whole;
    std::string& shown = lines[complete ? 2 : 4];
    shown.replace(shown.find("pod-"), 4, "pad-");
    refused("another readable form", lines);
    lines = whole;
    lines[1].replace(lines[1].find(','), 1, ", ");
    refused("a blank", lines);
    if (!complete) continue;
    lines = whole;
    lines.erase(lines.begin() + 4);
    refused("an event left out", lines);
    lines = whole;
    lines.erase(lines.begin() + 12);
    refused("the last event left out", lines);
  }
}

// Leaving lines out of a partial trail is no lie: it never said that it has all.
TEST_F(Trails, APartialTrailOfFewerEventsHolds) {
  grow(12);
  auto lines = lines_of(trail({false, true, true}));
  lines.erase(lines.begin() + 2);
  auto found = check(put_together(lines));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->events, 5U);
}

TEST_F(Trails, AHeaderThatClaimsMoreIsFound) {
  grow(12);
  auto lines = lines_of(trail({false, true, false}));
  lines[0].replace(lines[0].find("\"complete\":false"), 16, "\"complete\":true");
  EXPECT_FALSE(check(put_together(lines)));
}

// Without a filter a part is what a trimmed log still has: from a tile's first to the head.
TEST_F(Trails, APartThatNobodyAskedForIsFound) {
  grow(12);
  auto lines = lines_of(trail({false, true, false}));
  lines[0].replace(lines[0].find("\"kind=PodGone\""), 14, "\"\"");
  const auto found = check(put_together(lines));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, base::Kind::kCorrupt);
  EXPECT_NE(found.error().message.find("events are missing"), std::string::npos)
      << found.error().message;
}

// The first line is the writer's word: it must not look like ours.
TEST_F(Trails, WordsThatSteerTheReaderAreRefused) {
  grow(12);
  for (const char* words : {"a\\nproven      all", "a\\u001b[2J", "a\\u007f", "\u202e"}) {
    auto lines = lines_of(trail({false, true, false}));
    lines[0].replace(lines[0].find("kind=PodGone"), 12, words);
    const auto found = check(put_together(lines));
    ASSERT_FALSE(found) << words;
    EXPECT_EQ(found.error().kind, base::Kind::kCorrupt) << words;
  }
}

TEST_F(Trails, WhatIsNoneIsRefusedAsInput) {
  for (const char* text : {"{}\n", "\n", "text\n", "{\"trail\":\"karst-trail/2\"}\n"}) {
    auto found = check(text);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, base::Kind::kInvalid) << text;
  }
}

}  // namespace
}  // namespace karst::proof
