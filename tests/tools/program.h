// Runs the built program `karst` as its users do: arguments in, exit code, stdout and stderr out.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace karst::tests {

using Environment = std::vector<std::string>;  // "NAME=VALUE", beside the test's own

// A fresh folder, removed at the end.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);

struct Ended {
  int code = -1;  // of exit; -1 when a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
};

inline bool says(const Ended& ended, const std::string& words) {
  return (ended.out + ended.err).find(words) != std::string::npos;
}

// A running program. The destructor kills it.
class Program {
 public:
  // Keeps stdout and stderr in files under `folder`.
  Program(const TempFolder& folder, const std::vector<std::string>& arguments,
          const Environment& environment = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }
  // Until stderr or stdout holds `part`; false when the program ended first or a minute passed.
  bool await_err(const std::string& part) { return await(err_path_, part); }
  bool await_out(const std::string& part) { return await(out_path_, part); }
  void send(int signal) const { kill(pid_, signal); }
  Ended wait();

 private:
  bool ended();
  bool await(const std::string& path, const std::string& part);
  std::string out_path_;
  std::string err_path_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool waited_ = false;
};

// To its end.
Ended karst(const std::vector<std::string>& arguments, const Environment& environment = {});
// A script of sh to its end; $KARST is the program.
Ended shell(const std::string& script);

}  // namespace karst::tests
