// The curl transport against our own small server and against a line that is cut, and the small
// server against rude clients.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "http/curl_transport.h"
#include "http/date.h"
#include "http/local_server.h"
#include "tests/http/wire.h"

namespace karst::http {
namespace {

std::unique_ptr<LocalServer> serve(LocalServer::Handler handler) {
  auto server = LocalServer::listen("127.0.0.1:0", std::move(handler));
  EXPECT_TRUE(server) << server.error().message;
  return std::move(*server);
}
// A connected socket, for what no decent client sends.
class RawClient {
 public:
  explicit RawClient(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~RawClient() { ::close(fd_); }
  void say(const std::string& bytes) {
    (void)!::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  // Reads until the server closes, or until `enough` is there.
  std::string hear(const std::string& enough = "") {
    std::string heard;
    char buffer[4096];
    for (;;) {
      if (!enough.empty() && heard.find(enough) != std::string::npos) return heard;
      const ssize_t count = ::recv(fd_, buffer, sizeof buffer, 0);
      if (count <= 0) return heard;
      heard.append(buffer, static_cast<std::size_t>(count));
    }
  }

 private:
  int fd_;
};

TEST(CurlTransport, BringsStatusHeadersAndBody) {
  const auto server = serve([](std::string_view target) {
    return target == "/here?query=1" ? Reply{200, "text/plain", "hello"}
                                     : Reply{404, "text/plain", "no"};
  });
  CurlTransport transport({});
  const Response found = exchange(transport, get(url(server->port(), "/here?query=1")));
  EXPECT_TRUE(found.ok()) << found.error;
  EXPECT_EQ(found.body, "hello");
  EXPECT_EQ(found.header("content-type"), "text/plain");
  const Response absent = exchange(transport, get(url(server->port(), "/there")));
  EXPECT_EQ(absent.status, 404);
  EXPECT_EQ(absent.failure, Failure::kNone) << "an answer is an answer";
  Request post = get(url(server->port(), "/here"));
  post.method = Method::kPost;
  EXPECT_EQ(exchange(transport, std::move(post)).status, 405);
}

TEST(CurlTransport, TellsNotSentFromUnclear) {
  CurlTransport transport({});
  int closed_port = 0;
  {
    const auto server = serve([](std::string_view) { return Reply{}; });
    closed_port = server->port();
  }
  EXPECT_EQ(exchange(transport, get(url(closed_port))).failure, Failure::kNotSent);
  EXPECT_EQ(exchange(transport, get("http://no-such-host.invalid/")).failure, Failure::kNotSent);
  EXPECT_EQ(exchange(transport, get("ftp://127.0.0.1/")).failure, Failure::kNotSent);
  const HangUpServer silent("");
  const Response cut = exchange(transport, get(url(silent.port)));
  EXPECT_EQ(cut.failure, Failure::kUnclear);
  EXPECT_FALSE(cut.error.empty());
  const HangUpServer half("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
  EXPECT_EQ(exchange(transport, get(url(half.port))).failure, Failure::kUnclear)
      << "half a body is no answer";
}

// Answers the first request on a connection, hangs up on the second one without a word, and answers
// everything on connections after that.
class RudeServer {
 public:
  RudeServer() {
    thread_ = std::thread([this] {
      for (int connection = 0; (connection = listening.accept()) >= 0;) {
        char buffer[4096];
        const bool first = requests == 0;
        while (::recv(connection, buffer, sizeof buffer, 0) > 0 && !(++requests == 2 && first)) {
          const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
          (void)!::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);
          if (!first) break;
        }
        ::close(connection);
      }
    });
  }
  ~RudeServer() {
    listening.stop();
    thread_.join();
  }
  std::atomic<int> requests{0};
  const Listening listening;
  const int port = listening.port();

 private:
  std::thread thread_;
};

TEST(CurlTransport, AWriteLeavesOnceWhenItsConnectionEndsAndAReadMayBeRepeated) {
  for (const Method method : {Method::kPost, Method::kPatch, Method::kGet}) {
    RudeServer server;
    CurlTransport transport({});
    ASSERT_EQ(exchange(transport, get(url(server.port))).body, "ok");
    Request request = get(url(server.port));
    request.method = method;
    if (method != Method::kGet) request.body = "x";
    const Response response = exchange(transport, request);
    if (method == Method::kGet) {
      EXPECT_EQ(response.failure, Failure::kNone) << response.error;
    } else {
      EXPECT_EQ(response.failure, Failure::kUnclear) << method_name(method);
      EXPECT_EQ(server.requests, 2) << method_name(method) << " may have been done: once only";
    }
  }
}

TEST(CurlTransport, AsksBeforeARequestLeaves) {
  std::atomic<int> served{0};
  const auto server = serve([&](std::string_view) {
    ++served;
    return Reply{};
  });
  CurlTransport transport({});
  Request held = get(url(server->port()));
  held.may_leave = [] { return false; };
  const Response response = exchange(transport, held);
  EXPECT_EQ(response.failure, Failure::kNotSent);
  EXPECT_EQ(response.error, "held back: it may not be sent any more");
  EXPECT_EQ(served, 0);
  held.may_leave = [] { return true; };
  EXPECT_EQ(exchange(transport, held).failure, Failure::kNone);
  EXPECT_EQ(served, 1);
}

TEST(CurlTransport, ReachesAServerOverItsProxyAndByAnotherName) {
  const auto server =
      serve([](std::string_view target) { return Reply{200, "text/plain", std::string(target)}; });
  CurlTransport transport({});
  Request over = get("http://cluster.invalid:1/a");
  over.connection = std::make_shared<const Connection>(
      Connection{{}, "http://127.0.0.1:" + std::to_string(server->port())});
  EXPECT_EQ(exchange(transport, over).body, "http://cluster.invalid:1/a");
  Request named = get(url(server->port(), "/b"));
  Connection other;
  other.tls.server_name = "cluster.invalid";
  named.connection = std::make_shared<const Connection>(other);
  EXPECT_EQ(exchange(transport, named).body, "/b");
  setenv("http_proxy", url(server->port()).c_str(), 1);
  EXPECT_EQ(exchange(transport, get("http://cluster.invalid:1/c")).body,
            "http://cluster.invalid:1/c");
  Request local = get("http://169.254.1.1:1/d");  // link-local: no proxy of the environment
  local.timeout_millis = 200;
  EXPECT_NE(exchange(transport, local).body, local.url);
  unsetenv("http_proxy");
}

TEST(CurlTransport, BoundsBodiesAndHeaders) {
  const auto server =
      serve([](std::string_view) { return Reply{200, "text/plain", std::string(10'000, 'x')}; });
  CurlTransport transport({});
  Request small = get(url(server->port()));
  small.response_bytes_max = 9'999;
  EXPECT_EQ(exchange(transport, std::move(small)).failure, Failure::kTooLarge);
  Request enough = get(url(server->port()));
  enough.response_bytes_max = 10'000;
  EXPECT_TRUE(exchange(transport, std::move(enough)).ok());
  const HangUpServer headers("HTTP/1.1 200 OK\r\nX: " + std::string(kHeaderBytesMax, 'h') +
                             "\r\n\r\n");
  EXPECT_EQ(exchange(transport, get(url(headers.port))).failure, Failure::kTooLarge);
}

TEST(CurlTransport, StreamsInPiecesAndStopsWhenToldSo) {
  const auto server = serve([](std::string_view path) {
    return Reply{path == "/bad" ? 500 : 200, "text/plain", std::string(100'000, 'x')};
  });
  CurlTransport transport({});
  auto heard = std::make_shared<std::atomic<std::size_t>>(0);
  Request all = get(url(server->port()));
  all.response_bytes_max = 10;  // does not bind a stream
  all.on_chunk = [heard](std::string_view bytes) {
    *heard += bytes.size();
    return true;
  };
  Response response = exchange(transport, all);
  EXPECT_TRUE(response.ok());
  EXPECT_EQ(heard->load(), 100'000u);
  EXPECT_TRUE(response.body.empty());
  Request stop = get(url(server->port()));
  stop.on_chunk = [](std::string_view) { return false; };
  EXPECT_EQ(exchange(transport, std::move(stop)).failure, Failure::kCancelled);
  Request bad = get(url(server->port(), "/bad"));
  bad.on_chunk = [](std::string_view) { return true; };
  response = exchange(transport, std::move(bad));
  EXPECT_EQ(response.status, 500);
  EXPECT_EQ(response.body.size(), 100'000u) << "what is no stream is collected";
}

// A watch whose server died without a word: nothing else would ever end it.
TEST(CurlTransport, EndsAnExchangeOnWhichNothingComes) {
  const HangUpServer silent("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
                            HangUpServer::Then::kIsSilent);
  CurlTransport transport({});
  std::string heard;
  Request watch = get(url(silent.port));
  watch.timeout_millis = 0;
  watch.idle_millis = 1000;
  watch.on_chunk = [&heard](std::string_view bytes) {
    heard += bytes;
    return true;
  };
  const Response response = exchange(transport, std::move(watch));
  EXPECT_EQ(response.failure, Failure::kUnclear) << response.error;
  EXPECT_EQ(heard, "hello");
}

TEST(CurlTransport, CancelAndStopEndWhatIsOpen) {
  std::promise<void> release;
  const auto released = release.get_future().share();
  const auto server = serve([released](std::string_view) {
    released.wait();
    return Reply{};
  });
  std::promise<Response> cancelled, stopped;
  {
    CurlTransport transport({});
    const RequestId id = transport.send(get(url(server->port())),
                                        [&](Response r) { cancelled.set_value(std::move(r)); });
    transport.cancel(id);
    EXPECT_EQ(cancelled.get_future().get().failure, Failure::kCancelled);
    transport.cancel(id);
    transport.send(get(url(server->port())), [&](Response r) { stopped.set_value(std::move(r)); });
  }
  EXPECT_EQ(stopped.get_future().get().failure, Failure::kCancelled);
  release.set_value();
}

TEST(CurlTransport, CarriesMoreThanFitsAtOnce) {
  const auto server = serve([](std::string_view) { return Reply{}; });
  CurlTransport transport({});
  constexpr int kRequests = 500;
  std::atomic<int> good{0}, left{kRequests};
  std::promise<void> all;
  for (int i = 0; i < kRequests; ++i) {
    transport.send(get(url(server->port())), [&](const Response& response) {
      if (response.ok()) ++good;
      if (--left == 0) all.set_value();
    });
  }
  all.get_future().wait();
  EXPECT_EQ(good.load(), kRequests);
}

TEST(CurlTransport, TimersRunInTheOrderOfTheirTimes) {
  CurlTransport transport({});
  std::promise<std::string> order;
  auto told = std::make_shared<std::string>();
  transport.after(40, [told, &order] { order.set_value(*told + "c"); });
  transport.after(20, [told] { *told += "b"; });
  transport.after(0, [told] { *told += "a"; });
  EXPECT_EQ(order.get_future().get(), "abc");
}

TEST(LocalServer, AnswersOneConnectionManyTimesAndHead) {
  const auto server =
      serve([](std::string_view path) { return Reply{200, "text/plain", std::string(path)}; });
  RawClient client(server->port());
  client.say("GET /one HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(client.hear("/one").find("HTTP/1.1 200 OK\r\n"), std::string::npos);
  client.say("GET /two HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_NE(client.hear("/two").find("Content-Length: 4"), std::string::npos);
  client.say("HEAD /three HTTP/1.1\r\nConnection: close\r\n\r\n");
  const std::string head = client.hear();
  EXPECT_NE(head.find("Content-Length: 6"), std::string::npos);
  EXPECT_EQ(head.find("/three"), std::string::npos);
}

TEST(LocalServer, RefusesWhatIsNoGet) {
  const auto server = serve([](std::string_view) { return Reply{}; });
  struct Case {
    std::string bytes;
    const char* status;
  };
  const Case cases[] = {
      {"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello", "405"},
      {"nonsense\r\n\r\n", "400"},
      {"GET / HTTP/2.0\r\n\r\n", "400"},
      {"\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nA: " + std::string(kServerHeaderBytesMax, 'a') + "\r\n", "431"},
  };
  for (const Case& test : cases) {
    RawClient client(server->port());
    client.say(test.bytes);
    EXPECT_EQ(client.hear().substr(0, 12), std::string("HTTP/1.1 ") + test.status)
        << test.bytes.substr(0, 40);
  }
}

TEST(LocalServer, MakesRoomByClosingTheOldestConnection) {
  const auto server = serve([](std::string_view) { return Reply{}; });
  std::vector<std::unique_ptr<RawClient>> idle;
  for (std::size_t i = 0; i < kServerConnectionsMax; ++i) {
    idle.push_back(std::make_unique<RawClient>(server->port()));
    idle.back()->say("GET / HTTP/1.1\r\n\r\n");
    EXPECT_NE(idle.back()->hear("\r\n\r\n").find("200"), std::string::npos);
  }
  RawClient probe(server->port());
  probe.say("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  EXPECT_NE(probe.hear().find("200"), std::string::npos);
  EXPECT_EQ(idle.front()->hear(), "") << "closed";
}

TEST(LocalServer, SaysWhyItCannotListen) {
  const auto server = serve([](std::string_view) { return Reply{}; });
  const auto taken = LocalServer::listen("127.0.0.1:" + std::to_string(server->port()),
                                         [](std::string_view) { return Reply{}; });
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().kind, base::Kind::kTaken);
  for (const char* address : {"8080", "127.0.0.1:http", "256.0.0.1:80", "127.0.0.1:99999"}) {
    const auto refused = LocalServer::listen(address, [](std::string_view) { return Reply{}; });
    ASSERT_FALSE(refused) << address;
    EXPECT_EQ(refused.error().kind, base::Kind::kInvalid) << address;
    EXPECT_NE(refused.error().message.find(address), std::string::npos);
  }
}

TEST(HttpDate, ReadsThePreferredFormOnly) {
  EXPECT_EQ(parse_http_date("Sat, 21 Nov 2026 10:17:51 GMT"), 1795256271000);
  EXPECT_EQ(parse_http_date("Thu, 01 Jan 1970 00:00:00 GMT"), 0);
  for (const char* text : {"", "Sat, 21 Nov 2026 10:17:51 UTC", "Sat, 21 Foo 2026 10:17:51 GMT",
                           "Saturday, 21-Nov-26 10:17:51 GMT", "Sat, 41 Nov 2026 10:17:51 GMT"})
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
}

}  // namespace
}  // namespace karst::http
