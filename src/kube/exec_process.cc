#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "kube/exec_plugin.h"

extern char** environ;

namespace karst::kube {
namespace {

class Pipe {
 public:
  // 0, or the number of the error.
  int open() { return ::pipe2(ends_.data(), O_CLOEXEC) == 0 ? 0 : errno; }
  ~Pipe() {
    close_write();
    if (ends_[0] >= 0) ::close(ends_[0]);
  }
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// The child's start: a group of its own (it is killed with what it started), none of our
// descriptors, the usual signals.
class Start {
 public:
  Start(const Pipe& out, const Pipe& complaints) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, out.write_end(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, complaints.write_end(), STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t none, pipe;
    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &pipe);
  }
  ~Start() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  Start(const Start&) = delete;
  Start& operator=(const Start&) = delete;

  // 0, or the number of the error.
  int run(const ExecPlugin& plugin, const std::string& request, pid_t& pid) const {
    std::vector<std::string> words{plugin.command};
    words.insert(words.end(), plugin.args.begin(), plugin.args.end());
    std::vector<std::string> settings;
    for (char** at = environ; *at != nullptr; ++at) {
      const std::string_view one = *at;
      if (!replaced(plugin, one.substr(0, one.find('=')))) settings.emplace_back(one);
    }
    for (const auto& [name, value] : plugin.env) settings.push_back(name + "=" + value);
    settings.push_back("KUBERNETES_EXEC_INFO=" + request);
    return posix_spawnp(&pid, plugin.command.c_str(), &actions_, &attributes_,
                        pointers(words).data(), pointers(settings).data());
  }

 private:
  static bool replaced(const ExecPlugin& plugin, std::string_view name) {
    if (name == "KUBERNETES_EXEC_INFO") return true;
    for (const auto& [own, value] : plugin.env)
      if (own == name) return true;
    return false;
  }
  static std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (std::string& text : texts) all.push_back(text.data());
    all.push_back(nullptr);
    return all;
  }

  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

struct Heard {
  std::string out;
  std::string complaints;  // its last part
  bool too_much = false;
  bool too_long = false;
};

// How long we may wait for the program.
struct Patience {
  const base::Clock& clock;
  std::int64_t until;
  const std::function<bool()>& give_up;

  bool ended() const { return clock.monotonic_millis() >= until || (give_up && give_up()); }
  int look_millis() const {
    constexpr std::int64_t kLookMillis = 100;
    return static_cast<int>(
        std::clamp<std::int64_t>(until - clock.monotonic_millis(), 0, kLookMillis));
  }
};

// Until both ends are closed, or a bound is reached.
Heard hear(const Pipe& out, const Pipe& complaints, const Patience& patience) {
  Heard heard;
  std::array<pollfd, 2> open{pollfd{out.read_end(), POLLIN, 0},
                             pollfd{complaints.read_end(), POLLIN, 0}};
  std::array<char, 4096> piece{};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (patience.ended()) {
      heard.too_long = true;
      return heard;
    }
    if (::poll(open.data(), open.size(), patience.look_millis()) < 0 && errno != EINTR) break;
    for (pollfd& end : open) {
      if (end.fd < 0 || end.revents == 0) continue;
      const ssize_t count = ::read(end.fd, piece.data(), piece.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) {
        end.fd = -1;
        continue;
      }
      std::string& text = &end == &open[0] ? heard.out : heard.complaints;
      text.append(piece.data(), static_cast<std::size_t>(count));
    }
    if (heard.complaints.size() > kPluginComplaintMax)
      heard.complaints.erase(0, heard.complaints.size() - kPluginComplaintMax);
    if (heard.out.size() > kPluginBytesMax) {
      heard.too_much = true;
      return heard;
    }
  }
  return heard;
}

// How it ended (of waitpid), or -1 when it has not until then. It has closed its output: it ends
// soon.
int await_end(pid_t pid, const Patience& patience) {
  constexpr int kLookMillis = 5;
  for (;;) {
    int status = 0;
    const pid_t found = ::waitpid(pid, &status, WNOHANG);
    if (found == pid) return status;
    if (found < 0 && errno != EINTR) return -1;
    if (patience.ended()) return -1;
    ::poll(nullptr, 0, kLookMillis);
  }
}

// The last line of what it said, without what does not belong on a line.
std::string last_line(std::string text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.pop_back();
  if (const auto at = text.find_last_of('\n'); at != std::string::npos) text.erase(0, at + 1);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return text.substr(0, 400);
}

tl::unexpected<base::Error> failed(const ExecPlugin& plugin, const std::string& what) {
  std::string hint = plugin.install_hint;
  for (char& c : hint)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return base::fail(base::Kind::kDenied, plugin.place + ": " + plugin.command + " " + what +
                                             (hint.empty() ? "" : ". Its install hint: " + hint));
}

}  // namespace

base::Result<std::string> run_plugin(const ExecPlugin& plugin, const std::string& request,
                                     const base::Clock& clock,
                                     const std::function<bool()>& give_up) {
  Pipe out, complaints;
  pid_t pid = 0;
  int error = out.open();
  if (error == 0) error = complaints.open();
  if (error == 0) error = Start(out, complaints).run(plugin, request, pid);
  if (error != 0)
    return failed(plugin, std::string("cannot be run: ") + std::strerror(error) +
                              (error == ENOENT ? "; install it, or put it into PATH" : ""));
  out.close_write();
  complaints.close_write();
  const Patience patience{clock, clock.monotonic_millis() + kPluginMillisMax, give_up};
  Heard heard = hear(out, complaints, patience);
  const bool bounded = heard.too_long || heard.too_much;
  const int status = bounded ? -1 : await_end(pid, patience);
  if (status < 0) {
    ::kill(-pid, SIGKILL);
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  }
  if (heard.too_much)
    return failed(plugin,
                  "printed more than " + std::to_string(kPluginBytesMax) + " bytes and was ended");
  if (status < 0 && give_up && give_up())
    return failed(plugin, "was ended: nobody waits for its credential any more");
  if (status < 0)
    return failed(plugin, "gave no credential within " + std::to_string(kPluginMillisMax / 1000) +
                              " s and was ended");
  if (WIFSIGNALED(status))
    return failed(plugin, "was ended by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0)
    return failed(plugin, "ended with exit code " + std::to_string(WEXITSTATUS(status)) + ": " +
                              last_line(std::move(heard.complaints)));
  return std::move(heard.out);
}

}  // namespace karst::kube
