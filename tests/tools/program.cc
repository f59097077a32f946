#include "tests/tools/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace karst::tests {

TempFolder::TempFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "karst-test-XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

Program::Program(const TempFolder& folder, const std::vector<std::string>& arguments,
                 const Environment& environment) {
  static std::atomic<int> number{0};
  const std::string name = "program-" + std::to_string(++number);
  out_path_ = folder / (name + ".out");
  err_path_ = folder / (name + ".err");
  std::vector<std::string> words{std::string(KARST_BINARY_DIR) + "/karst"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Environment all = environment;
  for (char** entry = environ; *entry != nullptr; ++entry) all.emplace_back(*entry);
  for (std::string& entry : all) envp.push_back(entry.data());
  envp.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, out_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  posix_spawn_file_actions_addopen(&files, 2, err_path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  if (posix_spawn(&pid_, argv[0], &files, nullptr, argv.data(), envp.data()) != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&files);
}

Program::~Program() {
  if (pid_ < 0 || waited_) return;
  send(SIGKILL);
  waitpid(pid_, &status_, 0);
}

bool Program::ended() {
  if (!waited_ && (pid_ < 0 || waitpid(pid_, &status_, WNOHANG) == pid_)) waited_ = true;
  return waited_;
}

bool Program::await(const std::string& path, const std::string& part) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < until) {
    const bool last = ended();
    if (read_file(path).find(part) != std::string::npos) return true;
    if (last) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

Ended Program::wait() {
  if (!waited_ && pid_ >= 0) waitpid(pid_, &status_, 0);
  waited_ = true;
  Ended result;
  if (pid_ >= 0 && WIFEXITED(status_)) result.code = WEXITSTATUS(status_);
  if (pid_ >= 0 && WIFSIGNALED(status_)) result.signal = WTERMSIG(status_);
  result.out = read_file(out_path_);
  result.err = read_file(err_path_);
  return result;
}

Ended karst(const std::vector<std::string>& arguments, const Environment& environment) {
  const TempFolder folder;
  return Program(folder, arguments, environment).wait();
}

Ended shell(const std::string& script) {
  const TempFolder folder;
  write_file(folder / "script", "exec 2>'" + (folder / "err") + "'\n" + script + "\n");
  const std::string command = "KARST='" + std::string(KARST_BINARY_DIR) + "/karst' sh '" +
                              (folder / "script") + "' >'" + (folder / "out") + "'";
  const int status = std::system(command.c_str());
  Ended result;
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  result.out = read_file(folder / "out");
  result.err = read_file(folder / "err");
  return result;
}

}  // namespace karst::tests
