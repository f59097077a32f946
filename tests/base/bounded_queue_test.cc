// The two-lane queue: order, bounds, closing, and many threads at once (for ThreadSanitizer as
// well).
#include "base/bounded_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace karst::base {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{60'000};  // never waited for when the queue works

TEST(BoundedQueue, UrgentFirstAndEachLaneInOrder) {
  BoundedQueue<int> queue(10);
  for (const int i : {1, 2}) EXPECT_TRUE(queue.push(i, Lane::kOrdinary));
  for (const int i : {11, 12}) EXPECT_TRUE(queue.push(i, Lane::kUrgent));
  EXPECT_TRUE(queue.has_urgent());
  EXPECT_EQ(4u, queue.size());
  EXPECT_EQ((std::vector{11, 12, 1}), queue.pop_some(3, milliseconds(0)));
  EXPECT_FALSE(queue.has_urgent());
  EXPECT_EQ((std::vector{2}), queue.pop_some(3, milliseconds(0)));
  EXPECT_EQ(std::vector<int>{}, queue.pop_some(3, milliseconds(0)));
}

TEST(BoundedQueue, LanesAreBoundedApart) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.try_push(1, Lane::kOrdinary));
  EXPECT_TRUE(queue.try_push(2, Lane::kOrdinary));
  EXPECT_FALSE(queue.try_push(3, Lane::kOrdinary));
  EXPECT_TRUE(queue.try_push(4, Lane::kUrgent));
  EXPECT_EQ((std::vector{4, 1, 2}), queue.pop_some(10, milliseconds(0)));
}

TEST(BoundedQueue, ClosedTakesNothingAndGivesWhatItHas) {
  BoundedQueue<int> queue(2);
  EXPECT_TRUE(queue.push(1, Lane::kOrdinary));
  queue.close();
  EXPECT_FALSE(queue.push(2, Lane::kOrdinary));
  EXPECT_FALSE(queue.try_push(2, Lane::kUrgent));
  EXPECT_EQ((std::vector{1}), queue.pop_some(10, kLong));
  EXPECT_EQ(std::vector<int>{}, queue.pop_some(10, kLong));
  queue.wait_urgent(kLong);
}

TEST(BoundedQueue, PushWaitsForRoom) {
  BoundedQueue<int> queue(1);
  ASSERT_TRUE(queue.push(1, Lane::kOrdinary));
  std::thread producer([&] { EXPECT_TRUE(queue.push(2, Lane::kOrdinary)); });
  std::vector<int> taken;
  while (taken.size() < 2)
    for (const int i : queue.pop_some(1, kLong)) taken.push_back(i);
  producer.join();
  EXPECT_EQ((std::vector{1, 2}), taken);
}

TEST(BoundedQueue, CloseFreesAProducerThatWaits) {
  BoundedQueue<int> queue(1);
  ASSERT_TRUE(queue.push(1, Lane::kOrdinary));
  std::thread producer([&] { EXPECT_FALSE(queue.push(2, Lane::kOrdinary)); });
  queue.close();
  producer.join();
  EXPECT_EQ(1u, queue.size());
}

TEST(BoundedQueue, WakeEndsAWaitOnce) {
  BoundedQueue<int> queue(1);
  queue.wake();
  EXPECT_EQ(std::vector<int>{}, queue.pop_some(1, kLong));
  std::thread waker([&] { queue.wake(); });
  EXPECT_EQ(std::vector<int>{}, queue.pop_some(1, kLong));
  waker.join();
}

TEST(BoundedQueue, AnUrgentElementEndsItsWait) {
  BoundedQueue<int> queue(1);
  ASSERT_TRUE(queue.push(1, Lane::kOrdinary));
  std::thread producer([&] { EXPECT_TRUE(queue.push(2, Lane::kUrgent)); });
  queue.wait_urgent(kLong);
  EXPECT_TRUE(queue.has_urgent());
  producer.join();
  EXPECT_EQ(2u, queue.size());
}

TEST(BoundedQueue, MoveOnlyElements) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  EXPECT_TRUE(queue.push(std::make_unique<int>(5), Lane::kUrgent));
  const auto taken = queue.pop_some(1, milliseconds(0));
  ASSERT_EQ(1u, taken.size());
  EXPECT_EQ(5, *taken[0]);
}

TEST(BoundedQueue, ManyThreadsLoseAndDoubleNothing) {
  constexpr int kProducers = 4, kEach = 2000, kConsumers = 2;
  BoundedQueue<int> queue(16);
  std::atomic<int> left = kProducers * kEach;
  std::vector<std::vector<int>> taken(kConsumers);
  std::vector<std::thread> threads;
  for (int p = 0; p < kProducers; ++p)
    threads.emplace_back([&queue, p] {
      for (int i = 0; i < kEach; ++i)
        EXPECT_TRUE(queue.push(p * kEach + i, i % 7 == 0 ? Lane::kUrgent : Lane::kOrdinary));
    });
  for (auto& mine : taken)
    threads.emplace_back([&queue, &mine, &left] {
      while (left > 0)
        for (const int element : queue.pop_some(5, kLong)) {
          mine.push_back(element);
          if (--left == 0) queue.close();
        }
    });
  for (std::thread& thread : threads) thread.join();
  std::vector<int> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  ASSERT_EQ(static_cast<std::size_t>(kProducers * kEach), all.size());
  for (int i = 0; i < kProducers * kEach; ++i) ASSERT_EQ(i, all[static_cast<std::size_t>(i)]);
}

}  // namespace
}  // namespace karst::base
