// Canonical bytes: the layout, the way back, and damaged input at every byte.
#include "base/bytes.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace karst::base {

enum class Colour { kRed = 0, kBlue = 7 };

struct Inner {
  std::string text;
  std::int32_t number = 0;
  friend bool operator==(const Inner&, const Inner&) = default;
};
template <class Archive>
void fields(Archive& a, Inner& i) {
  a(i.text, i.number);
}

struct Outer {
  std::vector<Inner> list;
  std::optional<std::string> maybe;
  std::map<std::string, std::int64_t> map;
  std::set<std::string> set;
  std::pair<bool, Colour> pair;
  StrongString<struct OuterTag> id;
  StrongNumber<struct OuterTag, std::uint64_t> position;
  friend bool operator==(const Outer&, const Outer&) = default;
};
template <class Archive>
void fields(Archive& a, Outer& o) {
  a(o.list, o.maybe, o.map, o.set, o.pair, o.id, o.position);
}

namespace {

Outer sample() {
  Outer outer;
  outer.list = {{"one", -1}, {"", 2}};
  outer.maybe = "yes";
  outer.map = {{"a", INT64_MIN}, {"b", INT64_MAX}};
  outer.set = {"x", "y"};
  outer.pair = {true, Colour::kBlue};
  outer.id = StrongString<struct OuterTag>("name");
  outer.position = StrongNumber<struct OuterTag, std::uint64_t>(~std::uint64_t{0});
  return outer;
}

std::string written(const Outer& outer) {
  ByteWriter writer;
  writer(outer);
  return writer.take();
}

TEST(Bytes, Layout) {
  ByteWriter writer;
  writer(std::string("ab"), std::int32_t{-2}, std::optional<bool>(true),
         std::vector<std::string>{""});
  const std::string want = std::string("\x02\0\0\0\0\0\0\0", 8) + "ab" + "\xfe" +
                           std::string(7, '\xff') + std::string("\x01\0\0\0\0\0\0\0", 8) +
                           std::string("\x01\0\0\0\0\0\0\0", 8) +
                           std::string("\x01\0\0\0\0\0\0\0", 8) + std::string(8, '\0');
  EXPECT_EQ(want, writer.view());
  writer.clear();
  EXPECT_EQ("", writer.view());
}

TEST(Bytes, ThereAndBack) {
  const std::string bytes = written(sample());
  ByteReader reader(bytes);
  Outer back;
  back.list = {{"left over", 9}};
  reader(back);
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.at_end());
  EXPECT_EQ(sample(), back);
}

TEST(Bytes, CutAnywhereIsNotOk) {
  const std::string bytes = written(sample());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader reader(std::string_view(bytes).substr(0, cut));
    Outer back;
    reader(back);
    EXPECT_FALSE(reader.ok()) << "cut at " << cut;
  }
}

TEST(Bytes, DamageNeverReadsOutside) {
  EXPECT_TRUE(rc::check("damage", [] {
    std::string bytes = written(sample());
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] = *rc::gen::arbitrary<char>();
    ByteReader reader(bytes);
    Outer back;
    reader(back);  // the sanitizers judge
    RC_ASSERT(back.list.size() <= bytes.size());
  }));
}

TEST(Bytes, AHugeLengthAllocatesNothing) {
  const std::string bytes(8, '\xff');
  ByteReader reader(bytes);
  std::vector<std::string> list;
  reader(list);
  EXPECT_FALSE(reader.ok());
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace karst::base
