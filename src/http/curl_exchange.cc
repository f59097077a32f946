#include "http/curl_exchange.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <memory>

#include "base/check.h"
#include "http/no_proxy.h"

namespace karst::http {
namespace {

constexpr long kConnectTimeoutMillis = 10'000;
constexpr int kTcpUserTimeoutMillis =
    30'000;  // sent and not acknowledged for so long: the connection is dead
constexpr long kKeepAliveIdleSeconds = 15;
constexpr long kKeepAliveIntervalSeconds = 5;
// Idle for longer, a connection is not used again: this libcurl does not see that the other side
// has closed it, and the first write on it would be unclear.
constexpr long kConnectionIdleSecondsMax = 5;
constexpr long kConnectionAgeSecondsMax = 3600;  // a control plane that moved is followed
constexpr std::size_t kHeadersMax = 128;

int set_user_timeout(void*, curl_socket_t socket, curlsocktype) {
  const int millis = kTcpUserTimeoutMillis;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &millis, sizeof millis);
  return CURL_SOCKOPT_OK;
}

std::size_t on_body(char* data, std::size_t, std::size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  long status = 0;
  curl_easy_getinfo(exchange.easy, CURLINFO_RESPONSE_CODE, &status);
  if (exchange.request.on_chunk && status == 200) {
    if (exchange.request.on_chunk({data, count})) return count;
    exchange.stopped = Failure::kCancelled;
    return 0;
  }
  if (exchange.response.body.size() + count > exchange.request.response_bytes_max) {
    exchange.stopped = Failure::kTooLarge;
    return 0;
  }
  exchange.response.body.append(data, count);
  return count;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

std::size_t on_header(char* data, std::size_t, std::size_t count, void* user) {
  auto& exchange = *static_cast<Exchange*>(user);
  exchange.header_bytes += count;
  if (exchange.header_bytes > kHeaderBytesMax || exchange.response.headers.size() >= kHeadersMax) {
    exchange.stopped = Failure::kTooLarge;
    return 0;
  }
  const std::string_view line(data, count);
  if (line.starts_with("HTTP/"))
    exchange.response.headers.clear();  // an interim answer came before
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return count;
  std::string name(trimmed(line.substr(0, colon)));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  exchange.response.headers.emplace_back(std::move(name),
                                         std::string(trimmed(line.substr(colon + 1))));
  return count;
}

curl_blob blob_of(const std::string& text) {
  return curl_blob{const_cast<char*>(text.data()), text.size(), CURL_BLOB_COPY};
}

void set_tls(CURL* easy, const TlsOptions& tls) {
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  if (!tls.ca_pem.empty()) {
    const curl_blob blob = blob_of(tls.ca_pem);
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);  // or the system's CAs would do, too
    // As Go's transport has it, so that a kubeconfig for such a proxy works; and beside it the
    // system's, since the server behind it is verified all the same.
    curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO_BLOB, &blob);
  }
  if (tls.insecure) {
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 0L);
  }
  if (tls.certificate_pem.empty()) return;
  const curl_blob certificate = blob_of(tls.certificate_pem);
  const curl_blob key = blob_of(tls.key_pem);
  curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &certificate);
  curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
  curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &key);
  curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
}

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return "";
  std::string copy = text;
  curl_free(text);
  return copy;
}

// Whether a proxy that is itself spoken to over TLS may stand between, from where libcurl takes it.
bool tls_to_proxy(const Connection& connection) {
  if (!connection.proxy_url.empty()) return connection.proxy_url.starts_with("https://");
  static constexpr std::array kNames = {"https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy",
                                        "ALL_PROXY"};
  return std::any_of(kNames.begin(), kNames.end(), [](const char* name) {
    const char* url = std::getenv(name);
    return url != nullptr && std::string_view(url).starts_with("https://");
  });
}

// The URL as it goes to libcurl, and what depends on its host. Another server name takes the host's
// place there, so that it is asked for and verified; connection and Host header keep the host.
void set_url(Exchange& exchange, const Connection& connection) {
  const std::unique_ptr<CURLU, UrlDeleter> url(curl_url());
  if (curl_url_set(url.get(), CURLUPART_URL, exchange.request.url.c_str(), 0) != CURLUE_OK) {
    curl_easy_setopt(exchange.easy, CURLOPT_URL, exchange.request.url.c_str());  // it says so
    return;
  }
  const std::string host = part_of(url.get(), CURLUPART_HOST);
  const std::string port = part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  // libcurl would look for the name that stands in the host's place.
  bool direct = false;
  if (!connection.proxy_url.empty())
    curl_easy_setopt(exchange.easy, CURLOPT_PROXY, connection.proxy_url.c_str());
  else
    direct = never_by_proxy(host) || no_proxy_holds(no_proxy_of_environment(), host, port);
  curl_easy_setopt(exchange.easy, CURLOPT_NOPROXY, direct ? "*" : "");
  // Better to wait for a connection that may carry many streams than to open another. Without TLS
  // there is one exchange at a time, and a long poll would hold up everybody.
  // Nor with TLS inside of TLS: libcurl 7.88 waits for the socket while the bytes of a stream lie
  // in the outer layer, since another stream's exchange ended before it had read them.
  const bool may_share =
      part_of(url.get(), CURLUPART_SCHEME) == "https" && (direct || !tls_to_proxy(connection));
  curl_easy_setopt(exchange.easy, CURLOPT_PIPEWAIT, may_share ? 1L : 0L);
  curl_easy_setopt(exchange.easy, CURLOPT_HTTP_VERSION,
                   may_share ? long{CURL_HTTP_VERSION_2TLS} : long{CURL_HTTP_VERSION_1_1});
  const std::string& name = connection.tls.server_name;
  if (!name.empty() && name != host) {
    curl_url_set(url.get(), CURLUPART_HOST, name.c_str(), 0);
    exchange.connect_to = curl_slist_append(nullptr, ("::" + host + ":" + port).c_str());
    curl_easy_setopt(exchange.easy, CURLOPT_CONNECT_TO, exchange.connect_to);
    exchange.headers = curl_slist_append(exchange.headers, ("Host: " + host + ":" + port).c_str());
  }
  curl_easy_setopt(exchange.easy, CURLOPT_URL, part_of(url.get(), CURLUPART_URL).c_str());
}

// Before each time that the request goes out. libcurl sends one again by itself when a connection
// that was used before ends without an answer; the server may have done it all the same, so only
// reading is repeated.
int before_request(void* user, char*, char*, int, int) {
  auto& exchange = *static_cast<Exchange*>(user);
  if (exchange.sent && exchange.request.method != Method::kGet) {
    exchange.cut = true;
    return CURL_PREREQFUNC_ABORT;
  }
  if (exchange.request.may_leave && !exchange.request.may_leave()) {
    exchange.held = true;
    return CURL_PREREQFUNC_ABORT;
  }
  exchange.sent = true;
  return CURL_PREREQFUNC_OK;
}

void set_connection(CURL* easy) {
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "https,http");
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectTimeoutMillis);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, kKeepAliveIdleSeconds);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, kKeepAliveIntervalSeconds);
  curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, set_user_timeout);
  curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, kConnectionIdleSecondsMax);
  curl_easy_setopt(easy, CURLOPT_MAXLIFETIME_CONN, kConnectionAgeSecondsMax);
}

void set_request(Exchange& exchange) {
  CURL* easy = exchange.easy;
  const Request& request = exchange.request;
  curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before_request);
  curl_easy_setopt(easy, CURLOPT_PREREQDATA, &exchange);
  if (request.method != Method::kGet) {
    if (!request.body.empty() || request.method == Method::kPost) {
      curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.c_str());
    }
    curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, std::string(method_name(request.method)).c_str());
  }
  exchange.headers =
      curl_slist_append(exchange.headers, "Expect:");  // one round trip, no interim answers
  for (const std::string& header : request.headers)
    exchange.headers = curl_slist_append(exchange.headers, header.c_str());
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange.headers);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_millis));
  if (request.idle_millis > 0) {
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME,
                     static_cast<long>(std::max<std::int64_t>(1, request.idle_millis / 1000)));
  }
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, exchange.error);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_PRIVATE, &exchange);
}

// Whether the request can have reached the server: libcurl had a connection and began to send.
bool may_have_left(CURL* easy) {
  curl_off_t began_micros = 0;
  curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &began_micros);
  return began_micros > 0;
}

Failure failure_of(const Exchange& exchange, CURLcode code) {
  if (exchange.cut) return Failure::kUnclear;
  if (exchange.held) return Failure::kNotSent;
  if (exchange.stopped) return *exchange.stopped;
  if (code == CURLE_OK) return Failure::kNone;
  return may_have_left(exchange.easy) ? Failure::kUnclear : Failure::kNotSent;
}

Obstacle obstacle_of(CURL* easy, CURLcode code) {
  long proxy_untrusted = 0;
  curl_easy_getinfo(easy, CURLINFO_PROXY_SSL_VERIFYRESULT, &proxy_untrusted);
  if (code == CURLE_PEER_FAILED_VERIFICATION && proxy_untrusted != 0) return Obstacle::kProxy;
  long proxy_status = 0;
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &proxy_status);
  if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE)
    return Obstacle::kServerCertificate;
  if (code == CURLE_SSL_CERTPROBLEM) return Obstacle::kOwnCertificate;
  if (code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_PROXY || proxy_status >= 300)
    return Obstacle::kProxy;
  return Obstacle::kNone;
}

}  // namespace

void set_up(Exchange& exchange, const Connection& own) {
  exchange.easy = curl_easy_init();
  KARST_CHECK(exchange.easy != nullptr, "memory for a libcurl handle");
  const Connection& connection = exchange.request.connection ? *exchange.request.connection : own;
  set_connection(exchange.easy);
  set_tls(exchange.easy, connection.tls);
  set_url(exchange, connection);
  set_request(exchange);
}

void conclude(Exchange& exchange, CURLcode code) {
  Response& response = exchange.response;
  long status = 0;
  curl_easy_getinfo(exchange.easy, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  response.failure = failure_of(exchange, code);
  if (response.failure == Failure::kNotSent) response.obstacle = obstacle_of(exchange.easy, code);
  if (exchange.cut) response.error = "the connection ended before an answer came";
  if (exchange.held) response.error = "held back: it may not be sent any more";
  if (response.failure == Failure::kCancelled) response.error = "cancelled";
  if (response.failure == Failure::kTooLarge) response.error = "the answer is larger than allowed";
  if (response.error.empty() && response.failure != Failure::kNone)
    response.error = exchange.error[0] != '\0' ? exchange.error : curl_easy_strerror(code);
}

}  // namespace karst::http
