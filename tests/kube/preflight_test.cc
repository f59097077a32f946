// Bad starts: one line each, with the cure.
#include "kube/preflight.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/base/ended_certificate.h"

namespace karst::kube {
namespace {

// An API server that says yes to everything, but for what a test takes away.
struct ScriptedServer {
  std::vector<http::Response> operator()(std::vector<Call> calls) const {
    std::vector<http::Response> answers;
    for (const Call& call : calls) answers.push_back(serve(call));
    return answers;
  }
  http::Response serve(const Call& call) const {
    http::Response answer;
    answer.status = 200;
    if (call.path == "/api/v1/namespaces/kube-system") {
      answer = identity;
    } else if (call.path == "/apis/karpenter.sh/v1") {
      answer.status = crds ? 200 : 404;
      answer.body = R"({"resources":[{"name":"nodepools"},{"name":"nodeclaims"}]})";
    } else if (call.path == "/version") {
      answer.body = R"({"major":"1","minor":"34+","gitVersion":"v1.34.2-eks-1"})";
    } else if (call.path == "/apis/a.b/v1") {
      answer.body = class_crd ? R"({"resources":[{"name":"things"}]})" : R"({"resources":[]})";
    } else if (call.path.ends_with("/selfsubjectreviews")) {
      answer.body = R"({"status":{"userInfo":{"username":"me"}}})";
    } else if (call.path.ends_with("/selfsubjectaccessreviews")) {
      const bool no = !denied.empty() && call.body.find(denied) != std::string::npos;
      answer.body = no ? R"({"status":{"allowed":false}})" : R"({"status":{"allowed":true}})";
    }
    return answer;
  }
  http::Response identity = [] {
    http::Response answer;
    answer.status = 200;
    answer.body = R"({"metadata":{"uid":"u1"}})";
    return answer;
  }();
  bool crds = true;
  bool class_crd = true;
  std::string denied;
};

PreflightQuestion question() {
  PreflightQuestion asked;
  asked.server = "https://s:1";
  asked.cluster_place = "F: clusters[0].cluster";
  asked.user_place = "F: users[0].user";
  asked.watched = {{WatchedKind::kNodePool, "/apis/karpenter.sh/v1/nodepools", {}, {}},
                   {WatchedKind::kPod, "/api/v1/pods", {}, {}},
                   {WatchedKind::kNodeClass, "/apis/a.b/v1/things", "a.b", "Thing"}};
  events::Config acting;
  acting.provider = "kwok";
  acting.node_overlay = acting.capacity_buffer = true;
  asked.rights = rights_to_follow(asked.watched, acting);
  asked.roles_file = roles_file(false);
  for (const auto& more : {rights_to_act(acting), rights_to_lead("ns", "lease")})
    asked.rights.insert(asked.rights.end(), more.begin(), more.end());
  return asked;
}

http::Response failure(http::Failure what, const char* text,
                       http::Obstacle obstacle = http::Obstacle::kNone) {
  http::Response answer;
  answer.failure = what;
  answer.error = text;
  answer.obstacle = obstacle;
  return answer;
}
http::Response status(int code) {
  http::Response answer;
  answer.status = code;
  return answer;
}

// Such a server takes the user for system:anonymous, or for nobody.
TEST(Preflight, SaysThatServersHaveNoBasicAuthentication) {
  PreflightQuestion asked = question();
  asked.has_password = true;
  for (const int code : {401, 403}) {
    ScriptedServer server;
    server.identity = status(code);
    const auto identity = preflight(asked, server);
    ASSERT_FALSE(identity);
    EXPECT_EQ(identity.error().message,
              "https://s:1 does not take the username and password of F: users[0].user (HTTP " +
                  std::to_string(code) +
                  "): API servers have no basic authentication since Kubernetes 1.19; expected a "
                  "token, client-certificate and client-key, or exec there");
  }
}

// What Go's servers answer to a request without TLS.
TEST(Preflight, SaysThatAPortOfHttpsIsSpokenToWithoutIt) {
  PreflightQuestion asked = question();
  asked.server = "http://127.0.0.1:6443";
  ScriptedServer server;
  server.identity = status(400);
  server.identity.body = "Client sent an HTTP request to an HTTPS server.\n";
  const auto identity = preflight(asked, server);
  ASSERT_FALSE(identity);
  EXPECT_EQ(identity.error().kind, base::Kind::kDenied);
  EXPECT_TRUE(identity.error().message.starts_with("http://127.0.0.1:6443 answers HTTP 400"));
  EXPECT_TRUE(identity.error().message.ends_with(
      ": it speaks https; write https:// in F: clusters[0].cluster.server"))
      << identity.error().message;
}

TEST(Preflight, ReadsTheClustersUid) {
  const auto identity = preflight(question(), ScriptedServer());
  ASSERT_TRUE(identity) << identity.error().message;
  EXPECT_EQ(identity->uid, "u1");
  EXPECT_EQ(identity->version, "1.34");
}

TEST(Preflight, SaysWhatIsWrongAndWhatHelps) {
  struct Case {
    const char* name;
    std::function<void(ScriptedServer&)> break_it;
    base::Kind kind;
    const char* message;
  };
  const Case cases[] = {
      {"unreachable",
       [](ScriptedServer& s) { s.identity = failure(http::Failure::kNotSent, "refused"); },
       base::Kind::kRetry,
       "https://s:1 cannot be reached: refused. Is the API server up, and F: "
       "clusters[0].cluster.server its address?"},
      {"wrong CA",
       [](ScriptedServer& s) {
         s.identity =
             failure(http::Failure::kNotSent, "self-signed", http::Obstacle::kServerCertificate);
       },
       base::Kind::kDenied,
       "the certificate of https://s:1 is not trusted: self-signed. F: clusters[0].cluster: "
       "certificate-authority(-data) must be the CA that signed it"},
      {"a key of another certificate",
       [](ScriptedServer& s) {
         s.identity = failure(http::Failure::kNotSent, "mismatch", http::Obstacle::kOwnCertificate);
       },
       base::Kind::kDenied,
       "the client certificate of F: users[0].user cannot be used: mismatch: "
       "client-certificate(-data) and client-key(-data) must be PEM and belong together"},
      {"a proxy that refuses",
       [](ScriptedServer& s) {
         s.identity = failure(http::Failure::kNotSent, "403", http::Obstacle::kProxy);
       },
       base::Kind::kRetry,
       "https://s:1 cannot be reached through the proxy: 403. Is F: clusters[0].cluster.proxy-url "
       "right, or HTTPS_PROXY and NO_PROXY of the environment?"},
      {"expired", [](ScriptedServer& s) { s.identity = status(401); }, base::Kind::kDenied,
       "https://s:1 does not accept the credentials of F: users[0].user (HTTP 401): they have "
       "expired, or are of another cluster; get new ones"},
      {"overloaded", [](ScriptedServer& s) { s.identity = status(503); }, base::Kind::kRetry,
       "https://s:1 cannot be reached: HTTP 503."},
      {"something else", [](ScriptedServer& s) { s.identity = status(404); }, base::Kind::kDenied,
       "https://s:1 answers HTTP 404: is it a Kubernetes API server?"},
      {"no CRDs", [](ScriptedServer& s) { s.crds = false; }, base::Kind::kDenied,
       "https://s:1 has no nodepools.karpenter.sh v1: the CRDs are not installed; kubectl apply -f "
       "deploy/crds"},
      {"no class CRD", [](ScriptedServer& s) { s.class_crd = false; }, base::Kind::kDenied,
       "https://s:1 has no things.a.b v1: the CRDs are not installed"},
      {"may not evict", [](ScriptedServer& s) { s.denied = "eviction"; }, base::Kind::kDenied,
       "the user me may not create pods/eviction; ClusterRole karst grants it: kubectl apply -f "
       "deploy/manifests/karst/rbac.yaml, and bind it to that user"},
      {"may not show what a gate is about", [](ScriptedServer& s) { s.denied = "nodeoverlays"; },
       base::Kind::kDenied,
       "the user me may not get nodeoverlays.karpenter.sh, patch nodeoverlays/status.karpenter.sh; "
       "ClusterRole karst grants it"},
      {"may not lead", [](ScriptedServer& s) { s.denied = "leases"; }, base::Kind::kDenied,
       "the user me may not get leases.coordination.k8s.io ns/lease, update "
       "leases.coordination.k8s.io ns/lease, create leases.coordination.k8s.io in ns; Role "
       "karst-lease (the file has it in karpenter; write ns there, or set "
       "LEADER_ELECTION_NAMESPACE=karpenter) grants it"},
      {"may not follow the class", [](ScriptedServer& s) { s.denied = "things"; },
       base::Kind::kDenied,
       "the user me may not list things.a.b, watch things.a.b; ClusterRole karst-kwok grants it"},
      {"may nothing",
       [](ScriptedServer& s) {
         s.identity = status(403);
         s.denied = "verb";
       },
       base::Kind::kDenied,
       "the user me may not get namespaces kube-system, list nodepools.karpenter.sh, "},
      {"may not even be asked what it may",
       [](ScriptedServer& s) {
         s.identity = status(403);
         s.identity.body = R"({"kind":"Status","message":"User \"x\" cannot get"})";
       },
       base::Kind::kDenied,
       "https://s:1 answers HTTP 403: User \"x\" cannot get: is that who karst should be? kubectl "
       "apply -f deploy/manifests/karst/rbac.yaml, and bind it to that user"},
      {"something before the server refuses", [](ScriptedServer& s) { s.identity = status(403); },
       base::Kind::kDenied, "https://s:1 answers HTTP 403: is it a Kubernetes API server?"},
  };
  for (const Case& test : cases) {
    ScriptedServer server;
    test.break_it(server);
    const auto identity = preflight(question(), server);
    ASSERT_FALSE(identity) << test.name;
    EXPECT_EQ(identity.error().message.find(test.message), 0u)
        << test.name << ": " << identity.error().message;
    EXPECT_EQ(identity.error().kind, test.kind) << test.name;
  }
}

// The role of one that acts would let a shadow write.
TEST(Preflight, AShadowHearsOfItsOwnRole) {
  struct Case {
    const char *cloud, *denied, *message;
  };
  const Case cases[] = {
      {"kwok", "kube-system",
       "the user me may not get namespaces kube-system; ClusterRole karst-shadow grants it: "
       "kubectl apply -f deploy/manifests/shadow/rbac.yaml, and bind it to that user"},
      {"kwok", "things",
       "the user me may not list things.a.b, watch things.a.b; ClusterRole karst-shadow grants it: "
       "kubectl apply -f deploy/manifests/shadow/rbac.yaml, and bind it to that user"},
      {"aws", "things",
       "the user me may not list things.a.b, watch things.a.b; ClusterRole karst-shadow-aws grants "
       "it: kubectl apply -f deploy/manifests/shadow/rbac.yaml, and bind it to that user"},
  };
  for (const Case& test : cases) {
    events::Config shadow;
    shadow.shadow = true;
    shadow.provider = test.cloud;
    PreflightQuestion asked = question();
    asked.rights = rights_to_follow(asked.watched, shadow);
    asked.roles_file = roles_file(true);
    ScriptedServer server;
    server.denied = test.denied;
    server.identity = test.denied == std::string("kube-system") ? status(403) : server.identity;
    const auto identity = preflight(asked, server);
    ASSERT_FALSE(identity);
    EXPECT_EQ(identity.error().message, test.message);
  }
}

TEST(Preflight, AClientCertificateThatHasEndedIsNamed) {
  PreflightQuestion asked = question();
  asked.certificate_pem = base::testing::kEndedCertificate;
  const auto told = [&](const char* now) {
    asked.now = base::WallTime(*base::parse_rfc3339(now));
    ScriptedServer server;
    server.identity = status(401);
    return preflight(asked, server).error().message;
  };
  EXPECT_EQ(told("2026-11-25T00:00:00Z"),
            "https://s:1 does not accept the client certificate of F: users[0].user (HTTP 401): it "
            "expired at 2026-11-24T19:00:18Z; renew client-certificate(-data) and "
            "client-key(-data)");
  EXPECT_EQ(told("2026-11-24T00:00:00Z"),
            "https://s:1 does not accept the credentials of F: users[0].user (HTTP 401): they have "
            "expired, or are of another cluster; get new ones");
}

TEST(Preflight, AnOptionalKindThatIsNotThereNeedsNoRight) {
  PreflightQuestion asked = question();
  asked.watched.push_back({WatchedKind::kPod, "/apis/gone.sh/v1/others", {}, {}});
  asked.rights = rights_to_follow(asked.watched, {});
  ScriptedServer server;
  server.denied = "others";
  const auto with_404 = [&](std::vector<Call> calls) {
    auto answers = server(calls);
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (calls[i].path == "/apis/gone.sh/v1") answers[i].status = 404;
    return answers;
  };
  const auto identity = preflight(asked, with_404);
  EXPECT_TRUE(identity) << identity.error().message;
}

}  // namespace
}  // namespace karst::kube
