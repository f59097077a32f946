// Plays a command at the API server's hands by script: what goes out, and what comes of it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kube/kube_writer.h"
#include "tests/kube/fake_transport.h"

namespace karst::testing_kube {

using http::Failure;
using kube::Client;
using kube::KubeWriter;
using kube::ServerAccess;
using model::OutcomeKind;
using model::RefusalCode;

inline const model::CommandId kId{model::LogId("abcdefghijklmnopqrstuvwxyz"), model::Position(42)};

struct Reply {
  int status = 200;
  std::string body = "{}";
  Failure failure = Failure::kNone;
};

inline const Reply kGone{404, R"({"message":"not found"})", Failure::kNone};
inline const Reply kCut{0, "", Failure::kUnclear};

struct Case {
  std::string name;
  model::CommandSpec spec;
  std::vector<Reply> replies;
  std::vector<std::string> requests;  // "METHOD path", in order
  OutcomeKind kind = OutcomeKind::kDone;
  RefusalCode code = RefusalCode::kNone;
};

struct Played {
  std::vector<http::Request> requests;
  std::vector<model::Outcome> outcomes;
};

inline Played play(const model::CommandSpec& spec, const std::vector<Reply>& replies) {
  FakeTransport transport;
  FakeSink sink;
  FakeClock clock;
  Client client(transport, ServerAccess{"https://s", {}, "t", ""}, "karst/test");
  KubeWriter writer(client, sink, clock);
  writer.submit({kId, 3, spec});
  transport.advance(0);
  Played played;
  for (const Reply& reply : replies) {
    if (transport.open.empty()) break;
    http::Response response;
    response.status = reply.failure == Failure::kNone ? reply.status : 0;
    response.body = reply.body;
    response.failure = reply.failure;
    response.error = "the line is cut";
    played.requests.push_back(transport.answer(std::move(response)));
  }
  EXPECT_TRUE(transport.open.empty()) << "a request without an answer in the script";
  played.outcomes = sink.all<model::Outcome>();
  return played;
}

// Each ends in the outcome that it wants, and every request says which attempt of which command it
// is of.
inline void play_all(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    const Played got = play(test.spec, test.replies);
    std::vector<std::string> requests;
    for (const http::Request& request : got.requests) {
      requests.push_back(std::string(http::method_name(request.method)) + " " +
                         request.url.substr(std::string("https://s").size()));
      EXPECT_NE(std::find(request.headers.begin(), request.headers.end(),
                          "Audit-ID: abcdefghijklmnopqrstuvwxyz-42-3"),
                request.headers.end())
          << test.name;
    }
    EXPECT_EQ(requests, test.requests) << test.name;
    ASSERT_EQ(got.outcomes.size(), 1u) << test.name;
    EXPECT_EQ(got.outcomes[0].kind, test.kind) << test.name << ": " << got.outcomes[0].message;
    EXPECT_EQ(got.outcomes[0].code, test.code) << test.name << ": " << got.outcomes[0].message;
    EXPECT_EQ(got.outcomes[0].command, kId.position) << test.name;
    EXPECT_EQ(got.outcomes[0].attempt, 3u) << test.name;
  }
}

}  // namespace karst::testing_kube
