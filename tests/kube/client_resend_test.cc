// A call that the server refused with 401: it is sent once more, with what the renewal brought.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>

#include "kube/client.h"
#include "tests/kube/fake_transport.h"

namespace karst::kube {
namespace {

using testing_kube::FakeClock;
using testing_kube::FakeTransport;

// Says when the second request is there: a renewal may send it from its own thread.
class TwiceTransport final : public FakeTransport {
 public:
  http::RequestId send(http::Request request, Done done) override {
    const http::RequestId id = FakeTransport::send(std::move(request), std::move(done));
    if (id == 2) second_.set_value();
    return id;
  }
  void await_second() { second_.get_future().get(); }

 private:
  std::promise<void> second_;
};

struct ClientResend : ::testing::Test {
  ClientResend() {
    std::filesystem::create_directories(folder);
    write_token("one");
    const ServerAccess access{"https://s", {}, "", folder + "/token"};
    auto reader = std::make_unique<CredentialReader>(access, clock, CredentialReader::RunPlugin());
    auto read = reader->read(false);
    EXPECT_TRUE(read);
    credentials = std::make_shared<Credentials>(std::move(reader), std::move(*read));
    credentials->start({});
    client = std::make_unique<Client>(transport, "https://s", credentials, "karst/test");
  }
  ~ClientResend() override {
    credentials->stop();
    std::filesystem::remove_all(folder);
  }
  void write_token(const std::string& token) const { std::ofstream(folder + "/token") << token; }
  // Somebody else's call was refused before, and the new token is there.
  void renew_before() {
    std::promise<bool> renewed;
    ASSERT_EQ(credentials->renew(credentials->current(),
                                 [&](bool changed) { renewed.set_value(changed); }),
              Credentials::Renewal::kComing);
    ASSERT_TRUE(renewed.get_future().get());
  }
  // A write that is answered 401 while the token changes. Its second request is open then.
  void send_and_refuse(bool renewed_before) {
    Call call;
    call.method = http::Method::kPatch;
    call.path = "/a";
    call.body = "{}";
    call.audit_id = "log-1-1";
    client->send(std::move(call), [this](const http::Response& response) {
      ++answers;
      last = response;
    });
    write_token("two");
    if (renewed_before) renew_before();
    first = transport.answer(401, "{}");
    transport.await_second();
    ASSERT_EQ(transport.open.size(), 1u);
    EXPECT_EQ(answers, 0) << "the 401 is not told";
  }

  const std::string folder =
      std::filesystem::temp_directory_path() / ("karst-resend-" + std::to_string(::getpid()));
  FakeClock clock;
  TwiceTransport transport;
  std::shared_ptr<Credentials> credentials;
  std::unique_ptr<Client> client;
  http::Request first;
  http::Response last;
  int answers = 0;
};

bool carries(const http::Request& request, const std::string& header) {
  return std::find(request.headers.begin(), request.headers.end(), header) != request.headers.end();
}

struct WhenRenewed : ClientResend, ::testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Before, WhenRenewed, ::testing::Bool(), [](const auto& when) {
  return std::string(when.param ? "Changed" : "Coming");
});

TEST_P(WhenRenewed, TheSameCallGoesOutWithTheNewTokenAndIsAnsweredOnce) {
  send_and_refuse(GetParam());
  EXPECT_TRUE(carries(first, "Authorization: Bearer one"));
  const http::Request second = transport.answer(200, "{}");
  EXPECT_TRUE(carries(second, "Authorization: Bearer two"));
  EXPECT_FALSE(carries(second, "Authorization: Bearer one"));
  EXPECT_TRUE(carries(second, "Audit-ID: log-1-1"));
  EXPECT_EQ(second.method, http::Method::kPatch);
  EXPECT_EQ(second.url, first.url);
  EXPECT_EQ(second.body, "{}");
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(last.status, 200);
  EXPECT_TRUE(transport.open.empty());
}

TEST_P(WhenRenewed, ASecond401IsTheAnswer) {
  send_and_refuse(GetParam());
  transport.answer(401, "{}");
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(last.status, 401);
  EXPECT_TRUE(transport.open.empty()) << "there is no third time";
}

TEST_P(WhenRenewed, AWriteWhoseGuardHasClosedMeanwhileDoesNotLeave) {
  bool open = true;
  client->guard_writes([&open] { return [&open] { return open; }; });
  send_and_refuse(GetParam());
  ASSERT_TRUE(transport.open[0].request.may_leave);
  EXPECT_TRUE(transport.open[0].request.may_leave());
  open = false;
  EXPECT_FALSE(transport.open[0].request.may_leave());
  transport.fail(http::Failure::kNotSent);  // as a transport answers then
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(last.failure, http::Failure::kNotSent);
}

TEST_P(WhenRenewed, APauseThatTheServerAsksForThenIsGivenToo) {
  send_and_refuse(GetParam());
  http::Response busy;
  busy.status = 429;
  busy.headers = {{"retry-after", "3"}};
  transport.answer(std::move(busy));
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(last.status, 429);
  client->send({}, [](const http::Response&) {});
  EXPECT_TRUE(transport.open.empty());
  transport.advance(3'000);
  EXPECT_EQ(transport.open.size(), 1u);
}

TEST_F(ClientResend, WaitsForAPauseThatTheServerAskedForMeanwhile) {
  Call call;
  call.path = "/a";
  client->send(std::move(call), [this](const http::Response&) { ++answers; });
  const auto refused = transport.take();
  client->send({}, [](const http::Response&) {});
  http::Response busy;
  busy.status = 429;
  busy.headers = {{"retry-after", "3"}};
  transport.answer(std::move(busy));
  write_token("two");
  renew_before();
  http::Response unauthorized;
  unauthorized.status = 401;
  refused.done(std::move(unauthorized));
  EXPECT_TRUE(transport.open.empty());
  transport.advance(3'000);
  EXPECT_TRUE(carries(transport.answer(200, "{}"), "Authorization: Bearer two"));
  EXPECT_EQ(answers, 1);
}

TEST_F(ClientResend, WhatWasJustReadIsNotReadOverAndOver) {
  write_token("two");
  const auto used = credentials->current();
  renew_before();
  EXPECT_EQ(credentials->renew(used, {}), Credentials::Renewal::kChanged);
  EXPECT_EQ(credentials->renew(credentials->current(), {}), Credentials::Renewal::kNone);
  client->send({}, [this](const http::Response& response) { last = response; });
  EXPECT_TRUE(carries(transport.answer(401, "{}"), "Authorization: Bearer two"));
  EXPECT_EQ(last.status, 401) << "there is no newer one";
  EXPECT_TRUE(transport.open.empty());
}

}  // namespace
}  // namespace karst::kube
