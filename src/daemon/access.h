// Access to the trail is itself recorded, as the event AccessRecorded: a command that gives out
// what is in it (audit export, audit prove, log dump, log tail, log archive, state, explain,
// replay) says so first. What only counts or names it (log stat, audit checkpoint) does not.
//
// Beside a running daemon: one line over the unix socket DIR/access.sock (mode 0600), "access
// COMMAND\n", answered by "ok\n" once it waits for the engine, or "no\n". Who it was says the
// kernel (SO_PEERCRED). Without a daemon, or with one that is so busy: one line in DIR/access,
// "TIME<tab>USER<tab>COMMAND", which the next daemon takes over; where that cannot be written
// either the caller is told, and goes on: who may read the files of the log may read them without
// karst too. So it is when DIR/access is full (kAccessFileMax); that it was is the last of what the
// next daemon takes over.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/time.h"
#include "daemon/access_file.h"
#include "events/body.h"

namespace karst::daemon {

inline constexpr std::size_t kAccessConnectionsMax = 16;  // more wait in the kernel
inline constexpr std::size_t kAccessPerSecondMax = 20;    // more wait, as long as one talks
inline constexpr std::int64_t kAccessTalkMillis = 2'000;  // for one message and its answer

// The daemon's end. A thread of its own.
class AccessServer {
 public:
  // `record` is called on that thread; false: it cannot be recorded now. Errors: kDenied, kInvalid
  // with the path. A socket that a dead daemon left is replaced (this process has the log's lock).
  static base::Result<std::unique_ptr<AccessServer>> listen(
      const std::string& data, std::function<bool(events::AccessRecorded)> record);
  ~AccessServer();
  AccessServer(const AccessServer&) = delete;
  AccessServer& operator=(const AccessServer&) = delete;

 private:
  AccessServer(int listener, int stop, std::string path,
               std::function<bool(events::AccessRecorded)> record);
  void run();

  const int listener_, stop_;
  const std::string path_;
  const std::function<bool(events::AccessRecorded)> record_;
  std::thread thread_;
};

// The reader's end: tells the daemon, or writes DIR/access. Errors: neither could be done, and why
// (kFull: the file has no room for another line, and what to do).
base::Status tell_access(const std::string& data, std::string_view command, base::WallTime now);

}  // namespace karst::daemon
