#include "daemon/access.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/descriptor.h"
#include "base/system_error.h"
#include "daemon/system_clock.h"

namespace karst::daemon {
namespace {

constexpr std::string_view kVerb = "access ";
constexpr std::string_view kSocketName = "access.sock";
constexpr int kOutOfFilesWaitMillis = 100;
constexpr std::size_t kMessageMax = kVerb.size() + kAccessCommandMax + 1;

std::int64_t now_millis() {
  return SystemClock().monotonic_millis();
}

// The path of a socket has 108 bytes, that of a folder 4,096: by way of the folder's descriptor.
sockaddr_un address_in(const base::Descriptor& folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path =
      "/proc/self/fd/" + std::to_string(folder.get()) + "/" + std::string(kSocketName);
  KARST_CHECK(path.size() < sizeof(address.sun_path), "a short path");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}
int open_folder(const std::string& data) {
  return ::open(data.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

std::string user_name(uid_t uid) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return plain_command(found->pw_name);
  return "uid " + std::to_string(uid);
}

void set_time_out(int socket) {
  const timeval time{kAccessTalkMillis / 1000, (kAccessTalkMillis % 1000) * 1000};
  setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

// True when the daemon has it.
bool tell_daemon(const std::string& data, const std::string& command) {
  const base::Descriptor folder(open_folder(data));
  const base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (folder.get() < 0 || socket.get() < 0) return false;
  set_time_out(socket.get());
  const sockaddr_un address = address_in(folder);
  if (connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return false;
  const std::string message = std::string(kVerb) + command + "\n";
  if (send(socket.get(), message.data(), message.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(message.size()))
    return false;
  char answer[2] = {};
  return recv(socket.get(), answer, sizeof(answer), MSG_WAITALL) == 2 &&
         std::string_view(answer, 2) == "ok";
}

// No more than kAccessPerSecondMax in any second.
class Pace {
 public:
  bool allows(std::int64_t now) {
    while (!times_.empty() && now - times_.front() >= 1000) times_.pop_front();
    if (times_.size() >= kAccessPerSecondMax) return false;
    times_.push_back(now);
    return true;
  }

 private:
  std::deque<std::int64_t> times_;
};

// One connection: its message as far as it is here, or what it tells and has no place for yet.
struct Talk {
  int socket = -1;
  std::int64_t until_millis = 0;
  std::string message;
  std::optional<events::AccessRecorded> waits;
};

enum class Heard { kMore, kWhole, kNonsense, kGone };

Heard hear(Talk& talk) {
  std::array<char, kMessageMax> bytes{};
  const ssize_t size =
      recv(talk.socket, bytes.data(), kMessageMax - talk.message.size(), MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return Heard::kMore;
  if (size <= 0) return Heard::kGone;
  talk.message.append(bytes.data(), static_cast<std::size_t>(size));
  const std::size_t end = talk.message.find('\n');
  if (end == std::string::npos)
    return talk.message.size() < kMessageMax ? Heard::kMore : Heard::kNonsense;
  ucred peer{};
  socklen_t length = sizeof(peer);
  if (!talk.message.starts_with(kVerb) ||
      getsockopt(talk.socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return Heard::kNonsense;
  const std::string_view command =
      std::string_view(talk.message).substr(kVerb.size(), end - kVerb.size());
  talk.waits = {user_name(peer.uid), plain_command(command)};
  return Heard::kWhole;
}

// What is to be said; nullopt: there is more to come, or no place for it yet.
std::optional<std::string_view> answer_of(
    Talk& talk, std::int64_t now, Pace& pace,
    const std::function<bool(events::AccessRecorded)>& record) {
  if (!talk.waits) {
    const Heard heard = hear(talk);
    if (heard == Heard::kGone) return "";
    if (heard == Heard::kNonsense) return "no\n";
    if (heard == Heard::kMore) return std::nullopt;
  }
  if (!pace.allows(now)) return std::nullopt;
  return record(*std::move(talk.waits)) ? "ok\n" : "no\n";
}

}  // namespace

base::Result<std::unique_ptr<AccessServer>> AccessServer::listen(
    const std::string& data, std::function<bool(events::AccessRecorded)> record) {
  const std::string path = data + "/" + std::string(kSocketName);
  unlink(path.c_str());
  const base::Descriptor folder(open_folder(data));
  if (folder.get() < 0) return access_error("cannot open", data);
  base::Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) return access_error("cannot make the socket", path);
  // Before it has a name: the mode of the inode is taken from that of the socket.
  if (fchmod(socket.get(), 0600) != 0) return access_error("cannot protect the socket", path);
  const sockaddr_un address = address_in(folder);
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      chmod(path.c_str(), 0600) != 0 ||
      ::listen(socket.get(), static_cast<int>(kAccessConnectionsMax)) != 0)
    return access_error("cannot listen on", path);
  const int stop = eventfd(0, EFD_CLOEXEC);
  if (stop < 0) return access_error("cannot make an event for", path);
  return std::unique_ptr<AccessServer>(
      new AccessServer(socket.release(), stop, path, std::move(record)));
}

AccessServer::AccessServer(int listener, int stop, std::string path,
                           std::function<bool(events::AccessRecorded)> record)
    : listener_(listener), stop_(stop), path_(std::move(path)), record_(std::move(record)) {
  thread_ = std::thread([this] { run(); });
}

AccessServer::~AccessServer() {
  unlink(path_.c_str());
  eventfd_write(stop_, 1);
  thread_.join();
  close(listener_);
  close(stop_);
}

void AccessServer::run() {
  std::vector<Talk> talks;
  Pace pace;
  for (;;) {
    std::vector<pollfd> waits = {{stop_, POLLIN, 0}};
    for (const Talk& talk : talks) waits.push_back({talk.waits ? -1 : talk.socket, POLLIN, 0});
    if (talks.size() < kAccessConnectionsMax) waits.push_back({listener_, POLLIN, 0});
    poll(waits.data(), waits.size(), talks.empty() ? -1 : 100);
    if (waits.front().revents != 0) break;
    const bool knocks = waits.back().fd == listener_ && waits.back().revents != 0;
    const std::int64_t now = now_millis();
    for (std::size_t i = 0; i < talks.size(); ++i) {
      const bool late = now > talks[i].until_millis;
      if (waits[i + 1].revents == 0 && !talks[i].waits && !late) continue;
      std::optional<std::string_view> answer = answer_of(talks[i], now, pace, record_);
      if (!answer && late) answer = "no\n";
      if (!answer) continue;
      // A few bytes into an empty buffer; who does not read them has gone.
      (void)!send(talks[i].socket, answer->data(), answer->size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      close(std::exchange(talks[i].socket, -1));
    }
    std::erase_if(talks, [](const Talk& talk) { return talk.socket < 0; });
    if (!knocks) continue;
    const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) talks.push_back({socket, now + kAccessTalkMillis, ""});
    // It knocks on, and nothing can be done: without a pause that is a loop that takes a whole
    // core.
    if (socket < 0 && base::is_at_a_limit(errno)) poll(waits.data(), 1, kOutOfFilesWaitMillis);
  }
  for (const Talk& talk : talks) close(talk.socket);
}

base::Status tell_access(const std::string& data, std::string_view command, base::WallTime now) {
  const std::string plain = plain_command(command);
  if (tell_daemon(data, plain)) return {};
  return write_access_line(
      data, base::format_rfc3339(now.value()) + "\t" + user_name(getuid()) + "\t" + plain + "\n");
}

}  // namespace karst::daemon
