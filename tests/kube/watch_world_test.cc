// The list and watch protocol in a made-up world, from a seed: an API server that pages, forgets
// old versions and lags behind, over lines that cut, stall and refuse, in virtual time; at the
// other end the engine's own admission. Law: once the line is well again, what the engine believes
// is what there is; and nothing is ever believed that was not so, or that is older than what was
// believed before.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>

#include "kube/kube_edge.h"
#include "sim/event_queue.h"
#include "sim/rng.h"
#include "tests/engine/story.h"
#include "tests/kube/fake_transport.h"
#include "tests/sanitized.h"

namespace karst::kube {
namespace {

using engine::testing::Story;
using Objects = std::map<std::string, std::pair<std::string, std::int64_t>>;  // name: uid, version

// One collection of the API server, with its history.
struct Collection {
  explicit Collection(bool pods) : of_pods(pods) {}

  std::string json(const std::string& name, const std::string& uid, std::int64_t at) const {
    return R"({"metadata":{"uid":")" + uid + R"(","name":")" + name + R"(",)" +
           (of_pods ? R"("namespace":"ns",)" : "") + R"("labels":{"v":")" + std::to_string(at) +
           R"("},"resourceVersion":")" + std::to_string(at) +
           R"("},"spec":{"containers":[]},"status":{}})";
  }
  void put(const std::string& name, const std::string& uid) {
    const bool is_new = !objects.contains(name);
    objects[name] = {uid, ++version};
    ever.insert({uid, version});
    history[version] = std::string(R"({"type":")") + (is_new ? "ADDED" : "MODIFIED") +
                       R"(","object":)" + json(name, uid, version) + "}\n";
  }
  void remove(const std::string& name) {
    const std::string uid = objects.at(name).first;
    objects.erase(name);
    ++version;
    history[version] = R"({"type":"DELETED","object":)" + json(name, uid, version) + "}\n";
  }
  void forget() {
    history.clear();
    oldest = version;
    snapshots.clear();
  }

  const bool of_pods;
  std::int64_t version = 1;
  std::int64_t oldest = 1;  // watches from before have expired
  Objects objects;
  std::map<std::int64_t, std::string> history;  // version: the line of a watch
  std::map<std::string, std::pair<std::int64_t, Objects>>
      snapshots;  // continue token: what is left
  std::set<std::pair<std::string, std::int64_t>> ever;
};

// The server and the line to it.
class Wire final : public http::Transport {
 public:
  explicit Wire(std::uint64_t seed) : rng(seed, 1) {}

  http::RequestId send(http::Request request, Done done) override {
    auto call = std::make_shared<Open>(Open{std::move(request), std::move(done), 0, {}, false});
    calls_[++last_id_] = call;
    after(rng.between(1, 80), [this, call] { arrived(call); });
    return last_id_;
  }
  void cancel(http::RequestId id) override {
    const auto at = calls_.find(id);
    if (at == calls_.end()) return;
    after(0, [this, call = at->second] { end(call, 0, http::Failure::kCancelled); });
  }
  void after(std::int64_t millis, std::function<void()> action) override {
    queue_.at(clock.now_millis + millis, std::move(action));
  }
  void run_until(std::int64_t millis) {
    while (queue_.next_at() <= millis) {
      auto [at, action] = queue_.pop();
      clock.now_millis = at;
      action();
    }
    clock.now_millis = millis;
  }

  testing_kube::FakeClock clock;
  sim::Rng rng;
  Collection pods{true};
  Collection nodes{false};
  bool is_well = false;
  std::map<std::string, int> told;  // what the world did, counted

 private:
  struct Open {
    http::Request request;
    Done done;
    std::int64_t position = 0;  // of a watch
    std::string pending;        // bytes on their way
    bool ended = false;
  };
  using Call = std::shared_ptr<Open>;

  bool mishap(std::int64_t per_ten_thousand, const char* what) {
    if (is_well || !rng.chance(per_ten_thousand)) return false;
    ++told[what];
    return true;
  }
  void end(const Call& call, int status, http::Failure failure, std::string body = {}) {
    if (std::exchange(call->ended, true)) return;
    std::erase_if(calls_, [&](const auto& entry) { return entry.second == call; });
    http::Response response;
    response.status = status;
    response.failure = failure;
    response.error = failure == http::Failure::kNone ? "" : "the line is cut";
    response.body = std::move(body);
    call->done(std::move(response));
  }
  static std::string query_of(const std::string& url, const std::string& key) {
    const auto at = url.find(key + "=");
    if (at == url.npos) return {};
    const auto from = at + key.size() + 1;
    return url.substr(from, url.find('&', from) - from);
  }

  void arrived(const Call& call) {
    if (call->ended) return;
    if (mishap(300, "refused")) return end(call, rng.below(2) == 0 ? 500 : 429, {});
    if (mishap(300, "cut")) return end(call, 0, http::Failure::kUnclear);
    if (mishap(400, "stalled"))
      return after(60'000, [this, call] { end(call, 0, http::Failure::kUnclear); });
    const std::string& url = call->request.url;
    Collection& collection = url.find("/pods?") != url.npos ? pods : nodes;
    if (url.find("watch=1") == url.npos) return list(call, collection);
    call->position = std::stoll(query_of(url, "resourceVersion"));
    if (call->position < collection.oldest && rng.below(2) == 0) {
      ++told["410"];
      return end(call, 410, {});
    }
    pump(call, collection);
  }

  void list(const Call& call, Collection& collection) {
    std::int64_t version = collection.version;
    Objects left = collection.objects;
    if (const std::string token = query_of(call->request.url, "continue"); !token.empty()) {
      const auto at = collection.snapshots.find(token);
      if (at == collection.snapshots.end()) {
        ++told["410 of a page"];
        return end(call, 410, {});
      }
      std::tie(version, left) = at->second;
    }
    std::string items;
    for (int i = 0; i < 7 && !left.empty(); ++i) {
      const auto first = left.begin();
      items += (items.empty() ? "" : ",") +
               collection.json(first->first, first->second.first, first->second.second);
      left.erase(first);
    }
    std::string token;
    if (!left.empty()) {
      token = "t" + std::to_string(++last_token_);
      collection.snapshots[token] = {version, std::move(left)};
      ++told["page"];
    }
    std::string body = R"({"metadata":{"resourceVersion":")" + std::to_string(version) +
                       R"(","continue":")" + token + R"("},"items":[)" + items + "]}";
    const bool cut = mishap(300, "list cut");
    if (cut) body.resize(static_cast<std::size_t>(rng.below(std::ssize(body))));
    after(rng.between(1, is_well ? 100 : 3'000), [this, call, cut, body = std::move(body)] {
      end(call, 200, cut ? http::Failure::kUnclear : http::Failure::kNone, body);
    });
  }

  // The next bytes of a watch, and again later.
  void pump(const Call& call, Collection& collection) {
    if (call->ended) return;
    if (mishap(80, "watch closed")) return end(call, 200, {});
    if (mishap(80, "watch cut")) return end(call, 200, http::Failure::kUnclear);
    if (mishap(10, "watch dead"))
      return after(call->request.idle_millis,
                   [this, call] { end(call, 200, http::Failure::kUnclear); });
    if (call->position < collection.oldest) {
      ++told["410 in the stream"];
      call->pending += "{\"type\":\"ERROR\",\"object\":{\"code\":410,\"message\":\"too old\"}}\n";
      call->position = collection.version;
    }
    const bool lags = mishap(2'000, "lag");  // a server that is behind the others
    for (auto next = collection.history.upper_bound(call->position);
         !lags && next != collection.history.end(); ++next) {
      call->pending += next->second;
      call->position = next->first;
    }
    if (!lags && rng.below(50) == 0)
      call->pending += R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" +
                       std::to_string(call->position) + "\"}}}\n";
    std::string bytes = std::exchange(call->pending, {});
    if (!is_well && !bytes.empty()) {
      const auto size = static_cast<std::size_t>(rng.between(1, std::ssize(bytes)));
      call->pending = bytes.substr(size);
      bytes.resize(size);
    }
    if (!bytes.empty() && !call->request.on_chunk(bytes))
      return end(call, 200, http::Failure::kCancelled);
    after(rng.between(20, 800), [this, call, &collection] { pump(call, collection); });
  }

  sim::EventQueue queue_;
  http::RequestId last_id_ = 0;
  std::uint64_t last_token_ = 0;
  std::map<http::RequestId, Call> calls_;
};

class WatchWorld {
 public:
  explicit WatchWorld(std::uint64_t seed) : wire(seed), chance_(seed, 2) { edge_.start(); }

  void run(std::int64_t millis) {
    for (const std::int64_t until = wire.clock.now_millis + millis;
         wire.clock.now_millis < until && !::testing::Test::HasFatalFailure();) {
      wire.run_until(wire.clock.now_millis + kStepMillis);
      if (!wire.is_well) something_happens();
      for (ports::Fact& fact : sink_.facts) story_.fact(std::move(fact.body));
      sink_.facts.clear();
      story_.step(kStepMillis);
      check();
    }
  }
  void expect_the_truth() {
    EXPECT_EQ(believed_pods(), truth(wire.pods));
    EXPECT_EQ(believed_nodes(), truth(wire.nodes));
  }

  Wire wire;

 private:
  static constexpr std::int64_t kStepMillis = 200;
  using Beliefs = std::map<std::string, std::int64_t>;  // uid: version

  void something_happens() {
    for (Collection* collection : {&wire.pods, &wire.nodes}) {
      const std::string name = "o" + std::to_string(chance_.below(30));
      const auto at = collection->objects.find(name);
      if (chance_.below(4) == 0) {
        if (at == collection->objects.end())
          collection->put(name, "uid-" + std::to_string(++last_uid_));
        else if (chance_.below(2) == 0)
          collection->put(name, std::string(at->second.first));
        else
          collection->remove(name);
      }
      if (chance_.below(200) == 0) collection->forget();
    }
    if (chance_.below(700) == 0) {
      edge_.relist();
      ++wire.told["relist"];
    }
  }
  static Beliefs truth(const Collection& collection) {
    Beliefs all;
    for (const auto& [name, object] : collection.objects) all[object.first] = object.second;
    return all;
  }
  static std::int64_t version_in(const model::Labels& labels) {
    for (const auto& [key, value] : labels)
      if (key == "v") return std::stoll(value);
    return 0;
  }
  Beliefs believed_pods() const {
    Beliefs all;
    for (const std::string& uid : story_.state().pods().all_uids())
      all[uid] = version_in(story_.state().pods().row_of(uid).to_model().labels);
    return all;
  }
  Beliefs believed_nodes() const {
    Beliefs all;
    for (const auto& [name, slot] : story_.state().nodes().slots())
      all[slot.row.node.uid.str()] = version_in(slot.row.node.labels);
    return all;
  }
  void check() {
    check(believed_pods(), wire.pods);
    check(believed_nodes(), wire.nodes);
  }
  void check(const Beliefs& now, const Collection& collection) {
    Beliefs& before = before_[&collection];
    for (const auto& [uid, version] : now) {
      ASSERT_TRUE(collection.ever.contains({uid, version})) << uid << " was never at " << version;
      ASSERT_GE(version, highest_[uid]) << uid << " went back";
      ASSERT_FALSE(gone_.contains(uid)) << uid << " was gone, and came back";
      highest_[uid] = version;
    }
    for (const auto& [uid, version] : before)
      if (!now.contains(uid)) gone_.insert(uid);
    before = now;
  }

  sim::Rng chance_;
  std::uint64_t last_uid_ = 0;
  testing_kube::FakeSink sink_;
  ports::WithheldTexts withheld_;
  events::MemoryLog log_{model::LogId("log")};
  Story story_{log_};
  Client client_{wire, ServerAccess{"https://server", {}, "secret", ""}, "karst/test"};
  KubeEdge edge_{
      client_,
      {{WatchedKind::kPod, "/api/v1/pods", {}, {}}, {WatchedKind::kNode, "/api/v1/nodes", {}, {}}},
      sink_,
      withheld_,
      wire.clock,
      {}};
  std::map<const Collection*, Beliefs> before_;
  Beliefs highest_;
  std::set<std::string> gone_;
};

TEST(WatchWorld, EndsInTheTruthWhateverHappenedToTheLine) {
  std::map<std::string, int> told;
  for (std::uint64_t seed = 1; seed <= (kSanitized ? 4 : 12); ++seed) {
    WatchWorld world(seed);
    world.run(600'000);
    world.wire.is_well = true;
    // A dead stream, and after it the longest pause.
    world.run(kWatchIdleMillis + 2 * kBackOffMaxMillis + 10'000);
    if (HasFatalFailure()) FAIL() << "seed " << seed;
    world.expect_the_truth();
    if (HasFailure()) FAIL() << "seed " << seed;
    for (const auto& [what, count] : world.wire.told) told[what] += count;
  }
  for (const char* what :
       {"410", "410 in the stream", "410 of a page", "cut", "lag", "list cut", "page", "refused",
        "relist", "stalled", "watch closed", "watch cut", "watch dead"})
    EXPECT_GE(told[what], kSanitized ? 1 : 5)
        << what << ": or the world is too quiet to tell anything";
}

}  // namespace
}  // namespace karst::kube
