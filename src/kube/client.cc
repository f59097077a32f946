#include "kube/client.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "base/utf8.h"
#include "objects/json.h"

namespace karst::kube {
namespace {

constexpr std::size_t kFailureTextMax = 400;

}  // namespace

Client::Client(http::Transport& transport, std::string server,
               std::shared_ptr<Credentials> credentials, std::string user_agent)
    : transport_(transport),
      server_(std::move(server)),
      credentials_(std::move(credentials)),
      user_agent_(std::move(user_agent)) {}

struct Client::Sent {
  Call call;
  std::shared_ptr<const Credential> credential;
  std::function<bool()> may_leave;  // as it was when the call was sent, for the second time too
  http::Transport::Done done;
  http::Response response;  // the 401, until something better comes
  bool again = false;       // sent for the second time
};

http::Request Client::request_of(const Sent& sent) const {
  const Call& call = sent.call;
  http::Request request;
  request.method = call.method;
  request.url = server_ + call.path;
  request.headers = {"Accept: application/json", "User-Agent: " + user_agent_};
  request.headers.insert(request.headers.end(), sent.credential->headers.begin(),
                         sent.credential->headers.end());
  if (!call.body.empty())
    request.headers.push_back("Content-Type: " + std::string(call.content_type));
  if (!call.audit_id.empty()) request.headers.push_back("Audit-ID: " + call.audit_id);
  request.body = call.body;
  request.timeout_millis = call.timeout_millis;
  request.idle_millis = call.idle_millis;
  request.response_bytes_max = call.response_bytes_max;
  request.on_chunk = call.on_chunk;
  request.connection = sent.credential->connection;
  request.may_leave = sent.may_leave;
  return request;
}

http::RequestId Client::send(Call call, http::Transport::Done done) {
  const auto sent = std::make_shared<Sent>();
  if (call.method != http::Method::kGet)
    sent->may_leave = call.may_leave ? std::move(call.may_leave) : guard_ ? guard_() : nullptr;
  sent->call = std::move(call);
  sent->done = std::move(done);
  return send(sent);
}

http::RequestId Client::send(const std::shared_ptr<Sent>& sent) {
  {
    std::lock_guard lock(pause_->mutex);
    // What does not fit goes out and hears 429 again.
    if (pause_->on && !sent->call.urgent && pause_->held.size() < kHeldCallsMax) {
      pause_->held.push_back(sent);
      return 0;
    }
  }
  return send_now(sent);
}

http::RequestId Client::send_now(const std::shared_ptr<Sent>& sent) {
  sent->credential = credentials_->current();
  return transport_.send(request_of(*sent), [this, sent](http::Response response) {
    note_pause(*sent, response);
    if (response.failure == http::Failure::kNone && response.status == 401 && !sent->again)
      return refused(sent, std::move(response));
    sent->done(std::move(response));
  });
}

// Only a whole number of seconds is known here; the API server sends nothing else. An eviction's
// 429 is about one budget, not about us.
void Client::note_pause(const Sent& sent, const http::Response& response) {
  if (response.failure != http::Failure::kNone || response.status != 429) return;
  if (sent.call.path.ends_with("/eviction")) return;
  int seconds = 0;
  const std::string_view text = response.header("retry-after");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 1) return;
  {
    std::lock_guard lock(pause_->mutex);
    if (std::exchange(pause_->on, true)) return;
  }
  transport_.after(std::min(seconds, kRetryAfterSecondsMax) * std::int64_t{1000}, [this] {
    std::vector<std::shared_ptr<Sent>> held;
    {
      std::lock_guard lock(pause_->mutex);
      pause_->on = false;
      held.swap(pause_->held);
    }
    for (const auto& one : held) send_now(one);
  });
}

void Client::refused(const std::shared_ptr<Sent>& sent, http::Response response) {
  sent->response = std::move(response);
  const auto renewal = credentials_->renew(sent->credential, [this, sent](bool changed) {
    if (changed) return send_again(sent);
    transport_.after(0, [sent] { sent->done(std::move(sent->response)); });
  });
  if (renewal == Credentials::Renewal::kChanged) return send_again(sent);
  if (renewal == Credentials::Renewal::kNone) sent->done(std::move(sent->response));
}

void Client::send_again(const std::shared_ptr<Sent>& sent) {
  sent->again = true;
  send(sent);
}

std::string escaped(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  return out;
}

std::string failure_text(const http::Response& response) {
  if (response.failure != http::Failure::kNone) return response.error;
  std::string text = "HTTP " + std::to_string(response.status);
  objects::Parser parser;
  const auto body = parser.parse(response.body, objects::kObjectBytesMax);
  std::string_view message;
  if (body && body->is_object() && !(*body)["message"].get_string().get(message)) {
    text += ": ";
    text += base::cut_utf8(message, kFailureTextMax);
  }
  return text;
}

}  // namespace karst::kube
