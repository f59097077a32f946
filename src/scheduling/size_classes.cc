#include "scheduling/size_classes.h"

#include <algorithm>

namespace karst::scheduling {

SizeClasses::SizeClasses(const Prepared& prepared, const std::vector<HostTies>& ties,
                         const std::vector<Share>& loose)
    : columns_(prepared.columns.size()) {
  rows_ = loose;
  const auto request_of = [&](const Share& share) -> const Row& {
    return prepared.rows[share.group].request;
  };
  std::stable_sort(rows_.begin(), rows_.end(), [&](const Share& a, const Share& b) {
    const auto order = request_of(a) <=> request_of(b);
    return order != 0 ? order > 0 : ties[b.group].at_most.size() < ties[a.group].at_most.size();
  });
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const Row& request = request_of(rows_[row]);
    if (row == 0 || request != request_of(rows_[row - 1])) add(request, 0, row);
    pods_.back() += rows_[row].count;
    ends_.back() = row + 1;
  }
}

void SizeClasses::add(Amounts request, std::int64_t worth, std::size_t first_row) {
  requests_.insert(requests_.end(), request.begin(), request.end());
  worth_.push_back(worth);
  pods_.push_back(0);
  first_row_.push_back(first_row);
  ends_.push_back(first_row);
}

std::size_t SizeClasses::first_of_cpu(std::size_t from, std::int64_t cpu) const {
  cpu = std::max<std::int64_t>(cpu, 0);  // who asks for none fits everywhere
  std::size_t to = size();
  while (from < to) {
    const std::size_t middle = from + (to - from) / 2;
    if (requests_[middle * columns_] > cpu)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

SizeClasses SizeClasses::in_order(const std::vector<std::size_t>& order) const {
  SizeClasses sorted;
  sorted.columns_ = columns_;
  for (const std::size_t at : order) {
    sorted.add(request(at), worth_[at], sorted.rows_.size());
    sorted.pods_.back() = pods_[at];
    sorted.rows_.insert(sorted.rows_.end(),
                        rows_.begin() + static_cast<std::ptrdiff_t>(first_row_[at]),
                        rows_.begin() + static_cast<std::ptrdiff_t>(ends_[at]));
    sorted.ends_.back() = sorted.rows_.size();
  }
  return sorted;
}

}  // namespace karst::scheduling
