// A spread that ignores node affinity counts zones where its own pods cannot be: how many of them
// have a place is a matter of where others go. The twin tries every order and every zone.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "tests/scheduling/cases.h"
#include "tests/scheduling/replay.h"

namespace karst::scheduling::test {
namespace {

constexpr std::size_t kZoneCount = 3;
constexpr const char* kZoneNames[kZoneCount] = {"a", "b", "c"};

Pool three_zones() {
  Pool result = pool();
  std::vector<InstanceType> types = machines();
  for (InstanceType& type : types) {
    const std::int64_t price = type.offerings[0].price_nanos_per_hour;
    type.offerings.clear();
    for (const char* zone : kZoneNames)
      type.offerings.push_back(offering(zone, "on-demand", price));
  }
  result.types = std::move(types);
  return result;
}

struct Some {
  std::int64_t count = 0;
  std::int64_t cpu_millis = 0;
  int zone = -1;  // that they must be in; -1: any
  bool spreads = true;
};

PodGroup group_of(const Some& some) {
  PodGroup group = app(pods(some.count, some.cpu_millis), "web");
  if (some.zone >= 0) group = selecting(std::move(group), kZone, kZoneNames[some.zone]);
  if (!some.spreads) return group;
  group = spread(std::move(group), kZone, "web");
  group.shape.spread[0].ignore_node_affinity = true;
  return group;
}

// The most pods that can be placed, one after the other.
class Twin {
 public:
  explicit Twin(std::vector<Some> all) : all_(std::move(all)) {}
  std::int64_t most() {
    State start{};
    for (std::size_t i = 0; i < all_.size(); ++i) start[kZoneCount + i] = all_[i].count;
    return most_from(start);
  }

 private:
  using State =
      std::array<std::int64_t, kZoneCount + 3>;  // pods by zone, then what is left by group

  std::int64_t most_from(const State& state) {
    const auto [at, is_new] = known_.try_emplace(state, 0);
    if (!is_new) return at->second;
    const std::int64_t low = std::min({state[0], state[1], state[2]});
    std::int64_t most = 0;
    for (std::size_t group = 0; group < all_.size(); ++group)
      for (std::size_t zone = 0; zone < kZoneCount && state[kZoneCount + group] > 0; ++zone) {
        const Some& some = all_[group];
        if ((some.zone >= 0 && some.zone != static_cast<int>(zone)) ||
            (some.spreads && state[zone] + 1 - low > 1))
          continue;
        State next = state;
        ++next[zone];
        --next[kZoneCount + group];
        most = std::max(most, 1 + most_from(next));
      }
    return known_[state] = most;
  }

  std::vector<Some> all_;
  std::map<State, std::int64_t> known_;
};

TEST(EveryZone, OthersGoWhereTheyLetMoreIn) {
  for (const std::int64_t held : {1, 2, 4})
    for (const std::int64_t free : {1, 3, 5})
      for (const std::int64_t other : {0, 2})
        for (const bool held_is_larger : {false, true})
          for (const bool free_spreads : {false, true}) {
            const std::vector<Some> all = {{held, held_is_larger ? 900 : 300, 0, true},
                                           {free, held_is_larger ? 300 : 900, -1, free_spreads},
                                           {other, 700, 1, true}};
            std::vector<PodGroup> groups;
            for (const Some& some : all)
              if (some.count > 0) groups.push_back(group_of(some));
            const Problem one = problem(std::move(groups), {three_zones()});
            const Answer answer = solve(one);
            EXPECT_EQ(wrong_order(one, answer), "") << describe(one, answer);
            EXPECT_EQ(placed(answer), Twin(all).most())
                << held << " in one zone, " << free << " free, " << other << " in another, "
                << (held_is_larger ? "larger, " : "smaller, ")
                << (free_spreads ? "all spread" : "the free ones do not spread");
          }
}

}  // namespace
}  // namespace karst::scheduling::test
