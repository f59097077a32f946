// The file DIR/access: accesses to the trail while no daemon ran, or a busy one,
// "TIME<tab>USER<tab>COMMAND" a line, which the next daemon takes over into the log (access.h).
// Whoever may read the log writes it; what is in it is believed as a record of that, no more:
// plain_command makes each printable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "events/body.h"

namespace karst::daemon {

inline constexpr std::size_t kAccessCommandMax = 512;  // bytes; what is longer is cut, and says so
inline constexpr std::size_t kAccessFileMax =
    64 << 20;  // bytes of the file: of more none is written, or read
inline constexpr std::size_t kAccessLineMax = 1024;      // bytes of a line of the file
inline constexpr std::size_t kAccessOfflineMax = 1'000;  // that are taken over; more are counted

// Printable, one line, at most kAccessCommandMax bytes: a longer one is cut, and its end says how
// long it was, and its SHA-256.
std::string plain_command(std::string_view command);

// With errno. kFull, kDenied, otherwise kInvalid.
tl::unexpected<base::Error> access_error(const std::string& doing, const std::string& path);

// Appends it; a file that root makes is the folder's owner's. Errors: kFull (there is no room for
// another line, and what to do), kDenied, kInvalid when something else is there, kRetry when it was
// taken away each time.
base::Status write_access_line(const std::string& data, const std::string& line);

// What was read while no daemon ran.
struct OfflineAccesses {
  std::vector<events::AccessRecorded> accesses;
  // It could not be read: `accesses` says that something is missing, and the file is to stay.
  std::optional<base::Error> unread;
};

// What DIR/access holds, for the daemon that holds the log's lock: it is moved aside first, to
// DIR/access.taken, which goes with forget_accesses once the events are in the log, durably. Equal
// ones in a row are one, with how many they were. What is not taken over one by one, because there
// is too much, or because it is no such line, is counted in a last one.
OfflineAccesses offline_accesses(const std::string& data);
void forget_accesses(const std::string& data);

}  // namespace karst::daemon
