#include "scheduling/equal_pods.h"

#include <algorithm>
#include <tuple>

#include "scheduling/columns.h"

namespace karst::scheduling {
namespace {

// By the price of a pod, then the more seats.
std::size_t cheapest_a_pod(const std::vector<Seats>& machines) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < machines.size(); ++i) {
    const Wide mine = Wide{machines[i].price} * machines[best].pods;
    const Wide least = Wide{machines[best].price} * machines[i].pods;
    if (mine < least || (mine == least && machines[i].pods > machines[best].pods)) best = i;
  }
  return best;
}

}  // namespace

std::vector<std::size_t> cheapest_for(std::int64_t pods, const std::vector<Seats>& machines) {
  std::vector<std::size_t> taken;
  if (machines.empty()) return taken;
  for (const std::size_t best = cheapest_a_pod(machines); pods > kEqualPodsMax;
       pods -= machines[best].pods)
    taken.push_back(best);
  if (pods < 0) pods = 0;
  struct Sum {
    std::int64_t price = 0;
    std::int64_t machines = 0;
    std::size_t last = 0;  // index into machines
  };
  std::vector<Sum> sums(static_cast<std::size_t>(pods) + 1);
  const auto rest = [&](std::int64_t count, std::size_t machine) {
    return static_cast<std::size_t>(std::max<std::int64_t>(count - machines[machine].pods, 0));
  };
  for (std::int64_t count = 1; count <= pods; ++count) {
    Sum& sum = sums[static_cast<std::size_t>(count)];
    for (std::size_t i = 0; i < machines.size(); ++i) {
      const Sum& before = sums[rest(count, i)];
      const Sum with{before.price + machines[i].price, before.machines + 1, i};
      if (i == 0 || std::tie(with.price, with.machines) < std::tie(sum.price, sum.machines))
        sum = with;
    }
  }
  for (std::int64_t count = pods; count > 0;) {
    taken.push_back(sums[static_cast<std::size_t>(count)].last);
    count = static_cast<std::int64_t>(rest(count, taken.back()));
  }
  std::stable_sort(taken.begin(), taken.end(), [&](std::size_t a, std::size_t b) {
    return machines[a].pods > machines[b].pods;
  });
  return taken;
}

}  // namespace karst::scheduling
