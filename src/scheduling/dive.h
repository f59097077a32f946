// The best of a counted number of ways to fill one room with pods: whatever is worth most. Internal
// to refill. A search allocates nothing once it has seen classes as many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "scheduling/columns.h"
#include "scheduling/size_classes.h"

namespace karst::scheduling {

inline constexpr int kFillVisitsMax = 32;  // combinations looked at, per room

class Dive {
 public:
  // The classes outlive it, the largest first by CPU.
  explicit Dive(const SizeClasses& classes) : classes_(classes) {}

  // `room`: what is left on the machine; `blocked`: by class, not 0: may not be used; `looks`: what
  // is left of the budget of looks at classes. Returns the worth of best().
  std::int64_t search(const Row& room, const std::vector<char>& blocked, std::int64_t& looks);
  const std::vector<std::size_t>& best() const { return best_; }  // classes, one for each pod
  // The classes are others now.
  void restart() { is_new_ = true; }

 private:
  void note_least();
  bool has_room_for_any(std::size_t from) const;
  void visit(std::size_t from, std::int64_t worth);

  const SizeClasses& classes_;
  std::vector<std::int64_t> taken_;
  Row room_;
  const std::vector<char>* blocked_ = nullptr;
  std::int64_t* looks_ = nullptr;
  int visits_ = 0;
  std::int64_t best_worth_ = 0;
  std::vector<std::size_t> items_, best_;
  std::vector<std::int64_t> least_;  // by class and column: that it or any smaller class asks for
  bool is_new_ = true;
};

}  // namespace karst::scheduling
