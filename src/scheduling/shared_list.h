// A list that does not change and that many hold together: the thousands of claims of a large
// answer have a few hundred different lists of types. Compared by value.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

namespace karst::scheduling {

template <class T>
class SharedList {
 public:
  SharedList() = default;
  SharedList(std::vector<T> items)
      : items_(std::make_shared<const std::vector<T>>(std::move(items))) {}
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}

  const std::vector<T>& items() const {
    static const std::vector<T> none;
    return items_ == nullptr ? none : *items_;
  }
  auto begin() const { return items().begin(); }
  auto end() const { return items().end(); }
  std::size_t size() const { return items().size(); }
  bool empty() const { return items().empty(); }
  const T& front() const { return items().front(); }
  const T& operator[](std::size_t at) const { return items()[at]; }
  const T& at(std::size_t at) const { return items().at(at); }
  friend bool operator==(const SharedList& a, const SharedList& b) {
    return a.items_ == b.items_ || a.items() == b.items();
  }

 private:
  std::shared_ptr<const std::vector<T>> items_;
};

}  // namespace karst::scheduling
