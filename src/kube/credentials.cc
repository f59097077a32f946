#include "kube/credentials.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/base64.h"
#include "base/check.h"

namespace karst::kube {
namespace {

void trim_end(std::string& text) {
  while (!text.empty() && std::string_view("\n\r\t ").find(text.back()) != std::string_view::npos)
    text.pop_back();
}

bool fit_for_token(const std::string& token) {
  return !token.empty() && std::all_of(token.begin(), token.end(),
                                       [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

std::string basic(const ServerAccess& access) {
  return "Basic " + base::encode_base64(access.username + ":" + access.password);
}

// The whole file into `bytes`, if one is named.
base::Status take_file(const ServerAccess& access, const std::string& path,
                       const std::string& place, std::string& bytes) {
  if (path.empty()) return {};
  auto read = read_file(path, kCredentialBytesMax,
                        access.absent_cure.empty() ? kAbsentCure : access.absent_cure);
  if (!read) return base::fail(read.error().with_context(place));
  if (read->empty())
    return base::fail(base::Kind::kInvalid,
                      place + ": " + path + " is empty; write it anew, or name another file");
  bytes = std::move(*read);
  return {};
}

Credential make_credential(const ServerAccess& access, const std::string& authorization,
                           http::TlsOptions tls) {
  Credential made;
  made.headers = access.headers;
  if (!authorization.empty()) made.headers.push_back("Authorization: " + authorization);
  made.connection =
      std::make_shared<const http::Connection>(http::Connection{std::move(tls), access.proxy_url});
  return made;
}

bool same(const Credential& a, const Credential& b) {
  const http::TlsOptions &x = a.connection->tls, &y = b.connection->tls;
  return a.headers == b.headers && x.ca_pem == y.ca_pem && x.certificate_pem == y.certificate_pem &&
         x.key_pem == y.key_pem;
}

}  // namespace

CredentialReader::CredentialReader(ServerAccess access, const base::Clock& clock, RunPlugin run)
    : access_(std::move(access)), clock_(clock), run_(std::move(run)) {}

base::Result<std::string> CredentialReader::header_value() {
  std::string token = access_.token;
  if (!access_.token_file.empty()) {
    std::string bytes;
    const std::string place = access_.user_place + ".tokenFile";
    if (auto status = take_file(access_, access_.token_file, place, bytes); !status)
      return base::fail(status.error());
    trim_end(bytes);
    if (!fit_for_token(bytes))
      return base::fail(base::Kind::kInvalid,
                        place + ": " + access_.token_file +
                            " holds no token; expected one line of visible ASCII");
    token = std::move(bytes);
  }
  if (!token.empty()) return "Bearer " + token;
  if (!access_.username.empty()) return basic(access_);
  if (answer_ && !answer_->token.empty()) return "Bearer " + answer_->token;
  return std::string();
}

base::Status CredentialReader::ask_plugin(const http::TlsOptions& tls, bool refused) {
  const bool needless = !access_.token.empty() || !access_.token_file.empty() ||
                        !access_.username.empty() || !tls.certificate_pem.empty();
  if (!access_.exec || needless) return {};
  const bool ends_soon =
      answer_ && answer_->expires_wall_millis &&
      *answer_->expires_wall_millis - clock_.wall().value() <= kCredentialAheadMillis;
  if (answer_ && !ends_soon && !refused) return {};
  auto output = run_(*access_.exec,
                     plugin_request(*access_.exec, {access_.server, tls.server_name, tls.insecure,
                                                    tls.ca_pem, access_.proxy_url}));
  if (!output) return base::fail(output.error());
  auto answer = read_plugin_answer(*access_.exec, *output);
  if (!answer) return base::fail(answer.error());
  trim_end(answer->token);
  if (!answer->token.empty() && !fit_for_token(answer->token))
    return base::fail(base::Kind::kInvalid,
                      access_.exec->place + ": the answer of " + access_.exec->command +
                          ": status.token holds characters that no token has");
  answer_ = std::move(*answer);
  return {};
}

base::Result<Credential> CredentialReader::read(bool refused) {
  http::TlsOptions tls = access_.tls;
  const auto take = [this](const std::string& path, const std::string& place, std::string& pem) {
    return take_file(access_, path, place, pem);
  };
  const std::string user = access_.user_place;
  KARST_TRY(take(access_.ca_file, access_.cluster_place + ".certificate-authority", tls.ca_pem));
  KARST_TRY(take(access_.certificate_file, user + ".client-certificate", tls.certificate_pem));
  KARST_TRY(take(access_.key_file, user + ".client-key", tls.key_pem));
  KARST_TRY(ask_plugin(tls, refused));
  auto authorization = header_value();
  if (!authorization) return base::fail(authorization.error());
  if (answer_ && !answer_->key_pem.empty()) {
    tls.certificate_pem = answer_->certificate_pem;
    tls.key_pem = answer_->key_pem;
  }
  return make_credential(access_, *authorization, std::move(tls));
}

std::int64_t CredentialReader::next_read_millis() const {
  if (!answer_ || !answer_->expires_wall_millis) return kCredentialReadMillis;
  return std::clamp(*answer_->expires_wall_millis - kCredentialAheadMillis - clock_.wall().value(),
                    kCredentialGapMillis, kCredentialReadMillis);
}

Credentials::Credentials(const ServerAccess& access)
    : current_(std::make_shared<const Credential>(
          make_credential(access,
                          access.token.empty() ? (access.username.empty() ? "" : basic(access))
                                               : "Bearer " + access.token,
                          access.tls))) {}

Credentials::Credentials(std::unique_ptr<CredentialReader> reader, Credential first,
                         std::shared_ptr<std::atomic<bool>> ended)
    : reader_(std::move(reader)),
      ended_(std::move(ended)),
      current_(std::make_shared<const Credential>(std::move(first))) {}

Credentials::~Credentials() {
  stop();
}

void Credentials::start(Notice notice) {
  KARST_CHECK(reader_ != nullptr && !thread_.joinable(), "credentials are kept fresh once");
  notice_ = std::move(notice);
  running_ = true;
  thread_ = std::thread([this] { keep_fresh(); });
}

void Credentials::stop() {
  {
    std::lock_guard lock(mutex_);
    running_ = false;
  }
  if (ended_) *ended_ = true;
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const Credential> Credentials::current() const {
  std::lock_guard lock(mutex_);
  return current_;
}

Credentials::Renewal Credentials::renew(const std::shared_ptr<const Credential>& used,
                                        std::function<void(bool)> then) {
  std::lock_guard lock(mutex_);
  if (used != current_) return Renewal::kChanged;
  if (!running_ || just_read_ || waiting_.size() >= kRenewalsWaitingMax) return Renewal::kNone;
  waiting_.push_back(std::move(then));
  wake_.notify_all();
  return Renewal::kComing;
}

void Credentials::keep_fresh() {
  using std::chrono::milliseconds;
  std::unique_lock lock(mutex_);
  while (running_) {
    const std::int64_t wait = told_.empty() ? reader_->next_read_millis() : kCredentialGapMillis;
    wake_.wait_for(lock, milliseconds(wait), [&] { return !running_ || !waiting_.empty(); });
    if (!running_) break;
    const auto used = current_;
    const auto askers = std::exchange(waiting_, {});
    lock.unlock();
    read_again(!askers.empty());
    lock.lock();
    // A server that refuses what was just read is not asked about over and over.
    just_read_ = true;
    const bool changed = current_ != used;
    lock.unlock();
    for (const auto& then : askers) then(changed);
    lock.lock();
    wake_.wait_for(lock, milliseconds(kCredentialGapMillis), [&] { return !running_; });
    just_read_ = false;
  }
  const auto askers = std::exchange(waiting_, {});
  lock.unlock();
  for (const auto& then : askers) then(false);
}

void Credentials::read_again(bool refused) {
  auto read = reader_->read(refused);
  if (!read) {
    if (notice_ && read.error().message != told_)
      notice_(false,
              "credentials cannot be renewed, the old ones stay in use: " + read.error().message);
    told_ = read.error().message;
    return;
  }
  if (!told_.empty() && notice_) notice_(true, "credentials were renewed again");
  told_.clear();
  std::lock_guard lock(mutex_);
  if (!same(*read, *current_)) current_ = std::make_shared<const Credential>(std::move(*read));
}

base::Result<std::shared_ptr<Credentials>> open_credentials(const ServerAccess& access,
                                                            const base::Clock& clock,
                                                            const std::function<bool()>& give_up) {
  auto ended = std::make_shared<std::atomic<bool>>(false);
  auto reader = std::make_unique<CredentialReader>(
      access, clock,
      [&clock, give_up, ended](const ExecPlugin& plugin, const std::string& request) {
        return run_plugin(plugin, request, clock, [&] { return *ended || (give_up && give_up()); });
      });
  auto first = reader->read(false);
  if (!first) return base::fail(first.error());
  return std::make_shared<Credentials>(std::move(reader), std::move(*first), std::move(ended));
}

}  // namespace karst::kube
