// The list and watch protocol as a script: what arrives, and what the machine does and tells.
#include "kube/list_watch.h"

#include <gtest/gtest.h>

namespace karst::kube {
namespace {

using Step = ListWatch::Step;

class Recorder final : public ListWatch::Observer {
 public:
  void list_started() override { log += "["; }
  void listed(simdjson::dom::element object) override { log += name(object); }
  void list_ended(const std::string& version) override { log += "]" + version + " "; }
  void changed(simdjson::dom::element object) override { log += "+" + name(object) + " "; }
  void gone(simdjson::dom::element object) override { log += "-" + name(object) + " "; }
  void reached(const std::string& version) override { log += "@" + version + " "; }
  void refused(const std::string& reason, std::string_view) override { refusals.push_back(reason); }
  static std::string name(simdjson::dom::element object) {
    std::string_view text;
    return object.at_pointer("/metadata/name").get_string().get(text) ? "?" : std::string(text);
  }
  std::string log;
  std::vector<std::string> refusals;
};

std::string list_of(const std::string& version, const std::string& names,
                    const std::string& more = "") {
  std::string items;
  for (const char name : names)
    items += std::string(items.empty() ? "" : ",") + R"({"metadata":{"name":")" + name + R"("}})";
  return R"({"metadata":{"resourceVersion":")" + version + R"(","continue":")" + more +
         R"("},"items":[)" + items + "]}";
}
std::string event(const std::string& type, const std::string& version, const std::string& name) {
  return R"({"type":")" + type + R"(","object":{"metadata":{"resourceVersion":")" + version +
         R"(","name":")" + name + "\"}}}\n";
}

struct ListWatchTest : ::testing::Test {
  Step watching() {
    (void)machine.start();
    const std::string body = list_of("10", "a");
    return machine.list_answered({200, body, {}});
  }
  Recorder recorder;
  ListWatch machine{"/api/v1/pods", recorder};
};

TEST_F(ListWatchTest, ListsPageByPageThenWatchesFromTheListsVersion) {
  Step step = machine.start();
  EXPECT_EQ(step.path, "/api/v1/pods?limit=500");
  const std::string first = list_of("10", "ab", "to/ken");
  step = machine.list_answered({200, first, {}});
  EXPECT_EQ(step.kind, Step::Kind::kList);
  EXPECT_EQ(step.path, "/api/v1/pods?limit=500&continue=to%2Fken");
  EXPECT_EQ(recorder.log, "[ab");
  const std::string second = list_of("10", "c");
  step = machine.list_answered({200, second, {}});
  EXPECT_EQ(step.kind, Step::Kind::kWatch);
  EXPECT_EQ(step.path,
            "/api/v1/pods?watch=1&allowWatchBookmarks=true&timeoutSeconds=290&resourceVersion=10");
  EXPECT_EQ(recorder.log, "[abc]10 ");
}

TEST_F(ListWatchTest, AListWithoutAnEndIsGivenUp) {
  Step step = machine.start();
  const std::string page = list_of("10", "", "more");
  int pages = 0;
  while (step.kind == Step::Kind::kList && pages <= kListPagesMax) {
    step = machine.list_answered({200, page, {}});
    ++pages;
  }
  EXPECT_EQ(pages, kListPagesMax);
  EXPECT_EQ(step.kind, Step::Kind::kWait);
  EXPECT_NE(machine.trouble().find("more than 200000 pages"), std::string::npos);
  EXPECT_EQ(machine.waited().path, "/api/v1/pods?limit=500") << "from the start";
  EXPECT_EQ(machine.list_answered({200, list_of("10", "", "more"), {}}).kind, Step::Kind::kList);
}

TEST_F(ListWatchTest, ACollectionThatNeedNotBeThereIsEmptyUntilItIs) {
  ListWatch optional{"/apis/x/v1/things", recorder, true};
  (void)optional.start();
  for (int i = 0; i < 3; ++i) {
    recorder.log.clear();  // of what the list began with
    const Step step = optional.list_answered({404, {}, "HTTP 404"});
    EXPECT_EQ(step.kind, Step::Kind::kWait);
    EXPECT_EQ(step.millis, kAbsentMillis);
    EXPECT_EQ(recorder.log, "] ") << "an empty list has ended";
    EXPECT_FALSE(optional.trouble().empty());
    EXPECT_EQ(optional.waited().path, "/apis/x/v1/things?limit=500");
  }
  EXPECT_EQ(optional.list_answered({500, {}, "HTTP 500"}).millis, kBackOffFirstMillis);
  EXPECT_EQ(optional.waited().kind, Step::Kind::kList);
  const std::string body = list_of("10", "a");
  EXPECT_EQ(optional.list_answered({200, body, {}}).kind, Step::Kind::kWatch);
  EXPECT_TRUE(optional.trouble().empty());
  (void)machine.start();
  recorder.log.clear();
  EXPECT_EQ(machine.list_answered({404, {}, "HTTP 404"}).millis, kBackOffFirstMillis);
  EXPECT_EQ(recorder.log, "") << "what must be there is not empty when it is not";
}

TEST_F(ListWatchTest, APageThatIsTooLargeIsAskedForInSmallerOnes) {
  (void)machine.start();
  const std::string first = list_of("10", "ab", "more");
  (void)machine.list_answered({200, first, {}});
  Step step = machine.list_answered({0, {}, "too large", true});
  EXPECT_EQ(step.path, "/api/v1/pods?limit=250&continue=more");
  for (int limit = 125; limit > 0; limit /= 2) {
    step = machine.list_answered({0, {}, "too large", true});
    EXPECT_EQ(step.path, "/api/v1/pods?limit=" + std::to_string(limit) + "&continue=more");
  }
  EXPECT_EQ(machine.list_answered({0, {}, "too large", true}).kind, Step::Kind::kWait)
      << "not even one";
  EXPECT_EQ(machine.trouble(), "too large");
  EXPECT_EQ(machine.waited().path, "/api/v1/pods?limit=1");
  const std::string last = list_of("10", "c");
  EXPECT_EQ(machine.list_answered({200, last, {}}).kind, Step::Kind::kWatch);
}

TEST_F(ListWatchTest, TellsEventsAndResumesFromTheLastVersion) {
  (void)watching();
  const std::string stream = event("ADDED", "11", "b") + event("MODIFIED", "12", "b") + "\n" +
                             event("DELETED", "13", "b") + event("BOOKMARK", "20", "");
  // Cut anywhere, the stream says the same.
  for (const char c : stream) EXPECT_TRUE(machine.watch_bytes({&c, 1}));
  EXPECT_EQ(recorder.log, "[a]10 +b +b -b @20 ");
  const Step step = machine.watch_closed({200, {}, {}});
  EXPECT_EQ(step.kind, Step::Kind::kWatch) << "it brought something: at once";
  EXPECT_NE(step.path.find("resourceVersion=20"), std::string::npos);
  EXPECT_TRUE(machine.trouble().empty());
}

TEST_F(ListWatchTest, ACutLineIsForgottenAndComesAgain) {
  (void)watching();
  EXPECT_TRUE(machine.watch_bytes(event("ADDED", "11", "b")));
  EXPECT_TRUE(machine.watch_bytes(R"({"type":"ADDED","object":{"meta)"));
  const Step step = machine.watch_closed({200, {}, "the line is cut"});
  EXPECT_NE(step.path.find("resourceVersion=11"), std::string::npos);
  EXPECT_TRUE(machine.watch_bytes(event("ADDED", "12", "c")));
  EXPECT_EQ(recorder.log, "[a]10 +b +c ");
  EXPECT_TRUE(recorder.refusals.empty());
}

TEST_F(ListWatchTest, AnExpiredVersionListsAgain) {
  for (const bool in_stream : {true, false}) {
    (void)watching();
    if (in_stream) {
      EXPECT_FALSE(machine.watch_bytes(
          "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"message\":\"too old\"}}\n"));
    }
    Step step = machine.watch_closed({in_stream ? 200 : 410, {}, {}});
    EXPECT_EQ(step.kind, Step::Kind::kWait);
    step = machine.waited();
    EXPECT_EQ(step.path, "/api/v1/pods?limit=500") << in_stream;
    EXPECT_TRUE(machine.trouble().empty());
  }
}

TEST_F(ListWatchTest, WhatCannotBeReadIsRefusedAndTheRestGoesOn) {
  (void)watching();
  EXPECT_TRUE(machine.watch_bytes("garbage\n" + event("ADDED", "11", "b") + "{}\n" +
                                  "{\"type\":\"ADDED\",\"object\":{\"metadata\":{}}}\n" +
                                  event("SURPRISE", "12", "c") + event("ADDED", "13", "d")));
  EXPECT_EQ(recorder.log, "[a]10 +b +d ");
  ASSERT_EQ(recorder.refusals.size(), 4u);
  EXPECT_EQ(recorder.refusals[0].substr(0, 35), "a watch event that cannot be read: ");
  EXPECT_EQ(recorder.refusals[1], "a watch event without type or object");
  EXPECT_EQ(recorder.refusals[2], "a watch event whose object has no metadata.resourceVersion");
  EXPECT_EQ(recorder.refusals[3], "a watch event of the unknown type SURPRISE");
}

TEST_F(ListWatchTest, ALineBeyondTheBoundIsSkippedToItsEnd) {
  (void)watching();
  const std::string piece(64 * 1024, 'x');
  for (std::size_t sent = 0; sent <= kWatchLineBytesMax * 2; sent += piece.size())
    EXPECT_TRUE(machine.watch_bytes(piece));
  EXPECT_TRUE(machine.watch_bytes("x\n" + event("ADDED", "11", "b")));
  EXPECT_EQ(recorder.log, "[a]10 +b ");
  EXPECT_EQ(recorder.refusals.size(), 1u);
}

TEST_F(ListWatchTest, BacksOffDoublingUpToTheBoundAndStartsAnew) {
  (void)machine.start();
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 10; ++i) {
    const Step step = machine.list_answered({503, {}, "HTTP 503"});
    ASSERT_EQ(step.kind, Step::Kind::kWait);
    waits.push_back(step.millis);
    EXPECT_EQ(machine.trouble(), "HTTP 503");
    EXPECT_EQ(machine.waited().kind, Step::Kind::kList);
  }
  EXPECT_EQ(waits, (std::vector<std::int64_t>{200, 400, 800, 1600, 3200, 6400, 12800, 25600, 30000,
                                              30000}));
  const std::string body = list_of("10", "a");
  EXPECT_EQ(machine.list_answered({200, body, {}}).kind, Step::Kind::kWatch);
  EXPECT_TRUE(machine.trouble().empty());
  EXPECT_EQ(machine.watch_closed({0, {}, "cut"}).millis, 200);
}

TEST_F(ListWatchTest, TheBracketOpensBeforeTheListIsAskedFor) {
  EXPECT_EQ(machine.start().kind, Step::Kind::kList);
  EXPECT_EQ(recorder.log, "[") << "what is made from now on may be missing from the answer";
}

TEST_F(ListWatchTest, AListThatBreaksOffBeginsAgainFromTheFirstPage) {
  (void)machine.start();
  const std::string first = list_of("10", "a", "more");
  (void)machine.list_answered({200, first, {}});
  EXPECT_EQ(machine.list_answered({410, {}, "HTTP 410"}).kind, Step::Kind::kWait);
  EXPECT_EQ(machine.waited().path, "/api/v1/pods?limit=500");
  const std::string again = list_of("12", "ab");
  (void)machine.list_answered({200, again, {}});
  EXPECT_EQ(recorder.log, "[a[ab]12 ") << "the bracket is opened anew";
}

TEST_F(ListWatchTest, WhatIsNoListIsNeverAnEmptyList) {
  for (const char* body : {"", "{}", "[]", R"({"items":[]})",
                           R"({"metadata":{"resourceVersion":"1"}, "items":{}})", "{\"items\":"}) {
    (void)machine.start();
    EXPECT_EQ(machine.list_answered({200, body, {}}).kind, Step::Kind::kWait) << body;
    EXPECT_FALSE(machine.trouble().empty()) << body;
  }
  EXPECT_EQ(recorder.log, "[[[[[[") << "asked for, never ended";
  const Step step =
      machine.list_answered({200, R"({"metadata":{"resourceVersion":"7"},"items":null})", {}});
  EXPECT_EQ(step.kind, Step::Kind::kWatch) << "Go writes an empty list as null";
}

TEST_F(ListWatchTest, AWatchThatKeepsFailingListsAgain) {
  (void)watching();
  for (int i = 1; i < kWatchFailuresMax; ++i) {
    EXPECT_EQ(machine.watch_closed({0, {}, "cut"}).kind, Step::Kind::kWait);
    EXPECT_EQ(machine.waited().kind, Step::Kind::kWatch);
  }
  (void)machine.watch_closed({0, {}, "cut"});
  EXPECT_EQ(machine.waited().kind, Step::Kind::kList);
}

TEST_F(ListWatchTest, ARefusedWatchListsAgainAndSaysWhy) {
  (void)watching();
  (void)machine.watch_closed({403, {}, "HTTP 403: pods is forbidden"});
  EXPECT_EQ(machine.trouble(), "HTTP 403: pods is forbidden");
  EXPECT_EQ(machine.waited().kind, Step::Kind::kList);
}

}  // namespace
}  // namespace karst::kube
