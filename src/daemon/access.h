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
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "events/body.h"

namespace karst::daemon {

inline constexpr std::size_t kAccessCommandMax = 512;  // bytes; what is longer is cut, and says so
inline constexpr std::size_t kAccessConnectionsMax = 16;  // more wait in the kernel
inline constexpr std::size_t kAccessPerSecondMax = 20;    // more wait, as long as one talks
inline constexpr std::int64_t kAccessTalkMillis = 2'000;  // for one message and its answer
inline constexpr std::size_t kAccessFileMax =
    64 << 20;  // bytes of the file: of more none is written, or read
inline constexpr std::size_t kAccessLineMax = 1024;      // bytes of a line of the file
inline constexpr std::size_t kAccessOfflineMax = 1'000;  // that are taken over; more are counted

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

// What DIR/access holds, for the daemon that holds the log's lock: it is moved aside first, to
// DIR/access.taken, which goes with forget_accesses once the events are in the log. Equal ones in a
// row are one, with how many they were. What is not taken over one by one, because there is too
// much, or because it is no such line, is counted in a last one.
std::vector<events::AccessRecorded> offline_accesses(const std::string& data);
void forget_accesses(const std::string& data);

// Printable, one line, at most kAccessCommandMax bytes: a longer one is cut, and its end says how
// long it was, and its SHA-256.
std::string plain_command(std::string_view command);

}  // namespace karst::daemon
