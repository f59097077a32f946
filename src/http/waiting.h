// Waiting for what comes on a transport's thread, by a thread that may be asked to end meanwhile.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>

namespace karst::http {

// Whether to wait no longer; asked every kLookMillis. Empty: never.
using GiveUp = std::function<bool()>;
inline constexpr std::int64_t kLookMillis = 100;

// False: nobody waits for it any more.
template <class Value>
bool comes(std::future<Value>& future, const GiveUp& give_up) {
  while (future.wait_for(std::chrono::milliseconds(kLookMillis)) != std::future_status::ready)
    if (give_up && give_up()) return false;
  return true;
}

}  // namespace karst::http
