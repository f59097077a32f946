// Whether this build watches every access (AddressSanitizer, ThreadSanitizer): what it runs takes
// ten to twenty times as long. Long tests then take a part of what the release build plays whole.
#pragma once

namespace karst {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace karst
