// The credentials of requests to an API server, kept fresh: files are read again each minute (a
// pod's token and CA change under it), a plugin is asked again before its credential expires, and
// both at once after a 401.
//   CredentialReader  reads once; one thread at a time, blocks on files and on the plugin.
//   Credentials       what clients share: the newest one, and the thread that keeps it so.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kube/access.h"

namespace karst::kube {

inline constexpr std::int64_t kCredentialReadMillis = 60'000;   // between two looks at the files
inline constexpr std::int64_t kCredentialAheadMillis = 60'000;  // renewed so long before its end
inline constexpr std::int64_t kCredentialGapMillis = 5'000;     // at least, between two readings
inline constexpr std::size_t kRenewalsWaitingMax = 20'000;  // requests that wait for one after 401

// One request's share: headers, and the connection with its trust and client certificate.
struct Credential {
  std::vector<std::string> headers;  // "Authorization: …", "Impersonate-…: …"
  std::shared_ptr<const http::Connection> connection;
};

class CredentialReader {
 public:
  using RunPlugin =
      std::function<base::Result<std::string>(const ExecPlugin&, const std::string& request)>;

  // `clock` outlives the reader.
  CredentialReader(ServerAccess access, const base::Clock& clock, RunPlugin run);

  // Reads the files, and asks the plugin if its credential is about to end, or `refused` by the
  // server. Errors: kInvalid, kDenied: what cannot be had, with place and cure.
  base::Result<Credential> read(bool refused);

  // From now, in milliseconds: when to read again.
  std::int64_t next_read_millis() const;

 private:
  base::Result<std::string> header_value();
  base::Status ask_plugin(const http::TlsOptions& tls, bool refused);

  const ServerAccess access_;
  const base::Clock& clock_;
  const RunPlugin run_;
  std::optional<PluginAnswer> answer_;
};

class Credentials {
 public:
  // What people should know: renewing has failed (the old credential stays in use), or works again.
  using Notice = std::function<void(bool works, const std::string& line)>;

  // The inline part of `access`, for ever: for tests and for what has no files.
  explicit Credentials(const ServerAccess& access);
  // `first` is what `reader` has read already. stop() sets `ended`: the reader's plugin is to be
  // given up.
  Credentials(std::unique_ptr<CredentialReader> reader, Credential first,
              std::shared_ptr<std::atomic<bool>> ended = nullptr);
  ~Credentials();
  Credentials(const Credentials&) = delete;
  Credentials& operator=(const Credentials&) = delete;

  // Begins to keep them fresh, on a thread of its own. Once.
  void start(Notice notice);
  // Ends that; whoever waits for a renewal is told that there is none. Before the transports go.
  void stop();

  // Any thread, never blocks.
  std::shared_ptr<const Credential> current() const;

  // The server has answered 401 to `used`. kChanged: there is another one already. kComing: `then`
  // is called on another thread, with whether there is. kNone: no other one can be had now.
  enum class Renewal { kChanged, kComing, kNone };
  Renewal renew(const std::shared_ptr<const Credential>& used, std::function<void(bool)> then);

 private:
  void keep_fresh();
  void read_again(bool refused);

  const std::unique_ptr<CredentialReader> reader_;
  const std::shared_ptr<std::atomic<bool>> ended_;
  Notice notice_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::shared_ptr<const Credential> current_;
  std::vector<std::function<void(bool)>> waiting_;
  bool running_ = false;
  bool just_read_ = false;  // less than kCredentialGapMillis ago
  std::string told_;        // the failure that was last told
  std::thread thread_;
};

// Reads the first one: the plugin may take its time, until `give_up`. `clock` outlives them.
// Errors: those of CredentialReader::read.
base::Result<std::shared_ptr<Credentials>> open_credentials(
    const ServerAccess& access, const base::Clock& clock,
    const std::function<bool()>& give_up = {});

}  // namespace karst::kube
