// Pods to be dealt out, as columns: those that ask for the same are one class, whose request, worth
// and count lie side by side with the others'. Within a class the rows that the pods are of.
// Internal to refill. Copies into one that was as large before allocate nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/host_ties.h"
#include "scheduling/prepared.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

class SizeClasses {
 public:
  SizeClasses() = default;
  // `loose`: rows (Share::group) and their pods. The classes: the largest first, by CPU, then by
  // the next column. In a class whoever minds the others on the host comes first: later there is
  // less choice.
  SizeClasses(const Prepared& prepared, const std::vector<HostTies>& ties,
              const std::vector<Share>& loose);

  std::size_t size() const { return pods_.size(); }
  std::size_t columns() const { return columns_; }
  // As many amounts as there are columns.
  Amounts request(std::size_t at) const { return {requests_.data() + at * columns_, columns_}; }
  std::int64_t worth(std::size_t at) const { return worth_[at]; }
  void set_worth(std::size_t at, std::int64_t worth) { worth_[at] = worth; }
  std::int64_t pods(std::size_t at) const { return pods_[at]; }
  // The first one from `from` on that asks for no more CPU than that, where they are by CPU.
  std::size_t first_of_cpu(std::size_t from, std::int64_t cpu) const;

  // The rows of a class that have pods left are among [first_row(at), end_row(at)).
  std::size_t first_row(std::size_t at) const { return first_row_[at]; }
  std::size_t end_row(std::size_t at) const { return ends_[at]; }
  const Share& row(std::size_t index) const { return rows_[index]; }
  // `count` pods of that row of the class are dealt out.
  void take(std::size_t at, std::size_t row, std::int64_t count) {
    pods_[at] -= count;
    rows_[row].count -= count;
    while (first_row_[at] < ends_[at] && rows_[first_row_[at]].count == 0) ++first_row_[at];
  }

  // The same classes in another order.
  SizeClasses in_order(const std::vector<std::size_t>& order) const;

 private:
  void add(Amounts request, std::int64_t worth, std::size_t first_row);

  std::size_t columns_ = 0;
  std::vector<std::int64_t> requests_;  // by class and column
  std::vector<std::int64_t> worth_;     // nano-dollars an hour
  std::vector<std::int64_t> pods_;
  std::vector<std::size_t> first_row_;  // by class: the first that has pods left
  std::vector<std::size_t> ends_;       // by class: where its rows end
  std::vector<Share> rows_;
};

}  // namespace karst::scheduling
