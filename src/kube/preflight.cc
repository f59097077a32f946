#include "kube/preflight.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/certificate.h"

namespace karst::kube {
namespace {

using nlohmann::json;

constexpr std::size_t kToldRightsMax = 12;

Call get(std::string path) {
  Call call;
  call.path = std::move(path);
  return call;
}

Call review(std::string path, std::string body) {
  Call call;
  call.method = http::Method::kPost;
  call.path = std::move(path);
  call.body = std::move(body);
  return call;
}

std::string text_by_pointer(const json& object, const char* pointer) {
  const json::json_pointer at(pointer);
  return object.contains(at) && object[at].is_string() ? object[at].get<std::string>() : "";
}

std::string grant(const PreflightQuestion& asked) {
  return "kubectl apply -f " + asked.roles_file + ", and bind it to that user";
}

// An API server's own words; a proxy before it has others.
bool says_status(const http::Response& answer) {
  const json body = json::parse(answer.body, nullptr, false);
  return body.is_object() && text_by_pointer(body, "/kind") == "Status";
}

tl::unexpected<base::Error> not_accepted(const PreflightQuestion& asked, const std::string& text) {
  const auto end = base::certificate_end(asked.certificate_pem);
  if (end && *end < asked.now)
    return base::fail(base::Kind::kDenied,
                      asked.server + " does not accept the client certificate of " +
                          asked.user_place + " (" + text + "): it expired at " +
                          base::format_rfc3339_seconds(end->value()) +
                          "; renew client-certificate(-data) and client-key(-data)");
  return base::fail(base::Kind::kDenied,
                    asked.server + " does not accept the credentials of " + asked.user_place +
                        " (" + text +
                        "): they have expired, or are of another cluster; get new ones");
}

tl::unexpected<base::Error> out_of_reach(const PreflightQuestion& asked,
                                         const http::Response& answer) {
  const std::string text = failure_text(answer);
  if (answer.obstacle == http::Obstacle::kServerCertificate)
    return base::fail(base::Kind::kDenied,
                      "the certificate of " + asked.server + " is not trusted: " + text + ". " +
                          asked.cluster_place +
                          ": certificate-authority(-data) must be the CA that signed it, and "
                          "server or tls-server-name a name in it; is the file of this cluster?");
  if (answer.obstacle == http::Obstacle::kOwnCertificate)
    return base::fail(base::Kind::kDenied,
                      "the client certificate of " + asked.user_place + " cannot be used: " + text +
                          ": client-certificate(-data) and client-key(-data) must be PEM and "
                          "belong together");
  if (answer.obstacle == http::Obstacle::kProxy)
    return base::fail(base::Kind::kRetry,
                      asked.server + " cannot be reached through the proxy: " + text + ". Is " +
                          asked.cluster_place +
                          ".proxy-url right, or HTTPS_PROXY and NO_PROXY of the environment?");
  if (asked.has_password && (answer.status == 401 || answer.status == 403))
    return base::fail(base::Kind::kDenied,
                      asked.server + " does not take the username and password of " +
                          asked.user_place + " (" + text +
                          "): API servers have no basic authentication since Kubernetes 1.19; "
                          "expected a token, client-certificate and client-key, or exec there");
  if (answer.status == 401) return not_accepted(asked, text);
  if (answer.status == 403 && says_status(answer))
    return base::fail(base::Kind::kDenied, asked.server + " answers " + text +
                                               ": is that who karst should be? " + grant(asked));
  if (answer.status == 400 && asked.server.starts_with("http://"))
    return base::fail(base::Kind::kDenied, asked.server + " answers " + text +
                                               ": it speaks https; write https:// in " +
                                               asked.cluster_place + ".server");
  if (answer.failure == http::Failure::kNone && answer.status < 500 && answer.status != 429)
    return base::fail(base::Kind::kDenied,
                      asked.server + " answers " + text + ": is it a Kubernetes API server?");
  return base::fail(
      base::Kind::kRetry,
      asked.server + " cannot be reached: " + text + ". Is the API server up, and " +
          asked.cluster_place +
          ".server its address? If there is a proxy (proxy-url, HTTPS_PROXY), is that one up?");
}

// A resource that must be there: /apis/GROUP/VERSION names it.
base::Status check_resources(const PreflightQuestion& asked, const AskAll& ask,
                             std::set<std::string>& absent) {
  std::vector<Call> calls;
  std::vector<const Watched*> which;
  for (const Watched& one : asked.watched) {
    const ResourceName name = resource_of_path(one.path);
    if (name.group.empty()) continue;
    calls.push_back(get("/apis/" + name.group + "/" + name.version));
    which.push_back(&one);
  }
  const auto answers = ask(std::move(calls));
  std::string missing;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const ResourceName name = resource_of_path(which[i]->path);
    bool there = answers[i].status != 404;
    if (answers[i].ok()) {
      const json found = json::parse(answers[i].body, nullptr, false);
      const json list = found.is_object() ? found.value("resources", json()) : json();
      there = std::any_of(list.begin(), list.end(), [&](const json& one) {
        return one.is_object() && text_by_pointer(one, "/name") == name.resource;
      });
    }
    if (there) continue;
    absent.insert(name.resource + "." + name.group);
    const bool needed = which[i]->kind == WatchedKind::kNodePool ||
                        which[i]->kind == WatchedKind::kNodeClaim ||
                        which[i]->kind == WatchedKind::kNodeClass;
    if (needed)
      missing +=
          (missing.empty() ? "" : ", ") + name.resource + "." + name.group + " " + name.version;
  }
  if (missing.empty()) return {};
  return base::fail(base::Kind::kDenied,
                    asked.server + " has no " + missing +
                        ": the CRDs are not installed; kubectl apply -f deploy/crds");
}

std::string who_am_i(const AskAll& ask) {
  const auto answers =
      ask({review("/apis/authentication.k8s.io/v1/selfsubjectreviews",
                  R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})")});
  const json body = json::parse(answers[0].body, nullptr, false);
  const std::string name =
      body.is_object() ? text_by_pointer(body, "/status/userInfo/username") : "";
  return name.empty() ? "this user" : "the user " + name;
}

base::Status check_rights(const PreflightQuestion& asked, const AskAll& ask,
                          const std::set<std::string>& absent) {
  std::vector<Call> calls;
  std::vector<const Right*> which;
  for (const Right& right : asked.rights) {
    if (absent.contains(right.resource + "." + right.group)) continue;
    calls.push_back(
        review("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", access_review(right)));
    which.push_back(&right);
  }
  const auto answers = ask(std::move(calls));
  std::string missing;
  std::set<std::string> roles;
  std::size_t count = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const json body = json::parse(answers[i].body, nullptr, false);
    const json::json_pointer allowed("/status/allowed");
    // An answer that says neither is no reason to stop: the work itself will tell.
    if (!answers[i].ok() || !body.is_object() || !body.contains(allowed) || body[allowed] != false)
      continue;
    roles.insert(which[i]->role);
    if (++count <= kToldRightsMax) missing += (count == 1 ? "" : ", ") + which[i]->text();
  }
  if (count == 0) return {};
  if (count > kToldRightsMax) missing += " and " + std::to_string(count - kToldRightsMax) + " more";
  std::string granted;
  for (const std::string& role : roles) granted += (granted.empty() ? "" : ", ") + role;
  return base::fail(base::Kind::kDenied, who_am_i(ask) + " may not " + missing + "; " + granted +
                                             " grants it: " + grant(asked));
}

// EKS says "34+" where others say "34".
std::string version_of(const AskAll& ask) {
  const json body = json::parse(ask({get("/version")}).front().body, nullptr, false);
  const std::string major = body.is_object() ? text_by_pointer(body, "/major") : "";
  const std::string minor = body.is_object() ? text_by_pointer(body, "/minor") : "";
  if (major.empty() || minor.empty()) return "";
  return major + "." + minor.substr(0, minor.find_first_not_of("0123456789"));
}

bool passing(const http::Response& answer) {
  if (answer.failure == http::Failure::kUnclear) return true;
  return answer.failure == http::Failure::kNone && (answer.status == 429 || answer.status >= 500);
}

std::future<http::Response> sent(Client& client, const Call& call) {
  auto promise = std::make_shared<std::promise<http::Response>>();
  client.send(call,
              [promise](http::Response response) { promise->set_value(std::move(response)); });
  return promise->get_future();
}

}  // namespace

base::Result<ClusterIdentity> preflight(const PreflightQuestion& question, const AskAll& ask) {
  const http::Response answer = ask({get("/api/v1/namespaces/kube-system")}).front();
  const bool forbidden = answer.failure == http::Failure::kNone && answer.status == 403;
  if (!answer.ok() && !forbidden) return out_of_reach(question, answer);
  std::set<std::string> absent;
  KARST_TRY(check_resources(question, ask, absent));
  KARST_TRY(check_rights(question, ask, absent));
  if (forbidden) return out_of_reach(question, answer);
  const json body = json::parse(answer.body, nullptr, false);
  ClusterIdentity identity;
  identity.uid = body.is_object() ? text_by_pointer(body, "/metadata/uid") : "";
  if (identity.uid.empty())
    return base::fail(
        base::Kind::kDenied,
        question.server + ": the namespace kube-system has no uid: is it a Kubernetes API server?");
  identity.version = version_of(ask);
  return identity;
}

AskAll ask_all_of(Client& client, AskPatience patience) {
  return [&client, patience = std::move(patience)](std::vector<Call> calls) {
    std::vector<http::Response> answers(calls.size());
    for (http::Response& answer : answers) answer.failure = http::Failure::kCancelled;
    std::vector<std::size_t> open(calls.size());
    for (std::size_t i = 0; i < open.size(); ++i) open[i] = i;
    for (int attempt = 1;; ++attempt) {
      std::vector<std::future<http::Response>> coming;
      for (const std::size_t i : open) coming.push_back(sent(client, calls[i]));
      std::vector<std::size_t> again;
      for (std::size_t n = 0; n < open.size(); ++n) {
        if (!http::comes(coming[n], patience.give_up)) return answers;
        answers[open[n]] = coming[n].get();
        if (passing(answers[open[n]])) again.push_back(open[n]);
      }
      if (again.empty() || attempt == kPreflightTriesMax) return answers;
      if (attempt == 1 && patience.waiting) patience.waiting(failure_text(answers[again.front()]));
      open = std::move(again);
      auto paused = std::make_shared<std::promise<void>>();
      client.after(kPreflightPauseMillis, [paused] { paused->set_value(); });
      if (auto over = paused->get_future(); !http::comes(over, patience.give_up)) return answers;
    }
  };
}

}  // namespace karst::kube
