// Watches of everything that karst needs to see of a cluster: lists, then watches, each resource on
// its own, all over one connection; what arrives goes to the engine's inbox as facts. Runs on the
// thread of the client's transport, which must be this edge's alone: a full inbox blocks it, and
// with it the watches (the server's flow control holds the rest back).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/client.h"
#include "kube/fact_observer.h"
#include "kube/list_watch.h"
#include "ports/fact.h"

namespace karst::kube {

// A stream without a byte for so long is dead (bookmarks come about every minute).
inline constexpr std::int64_t kWatchIdleMillis = 150'000;
// A Date is of when the answer began: of one that took longer nobody knows how old it is.
inline constexpr std::int64_t kDateAgeMillisMax = 1'000;

// Everything but node classes that decisions under these settings rest on.
std::vector<Watched> core_resources(const events::Config& config);
// A node class as a cloud defines it, e.g. {"karpenter.kwok.sh", "v1alpha1", "kwoknodeclasses",
// "KWOKNodeClass"}.
Watched node_class_resource(const std::string& group, const std::string& version,
                            const std::string& plural, const std::string& kind);

class KubeEdge {
 public:
  // When a resource stops or starts again to be followed: one line for people. On the transport's
  // thread.
  enum class Following { kStopped, kAgain };
  using Notice = std::function<void(Following how, const std::string& line)>;

  // `client`, `sink`, `withheld` and `clock` outlive the edge's transport: destroy the transport
  // first, then the edge.
  KubeEdge(Client& client, std::vector<Watched> resources, ports::FactSink& sink,
           ports::WithheldTexts& withheld, const base::Clock& clock, Notice notice);
  ~KubeEdge();
  KubeEdge(const KubeEdge&) = delete;
  KubeEdge& operator=(const KubeEdge&) = delete;

  // Any thread, once. Returns at once.
  void start();
  // Any thread, after start(). Lists everything anew: what was under way is dropped, and a list
  // that began before this call counts for nothing.
  void relist();

  // The API server's clock (Date header of the last page of a list that was there within
  // kDateAgeMillisMax) minus this machine's wall clock, in milliseconds; the header has whole
  // seconds. None before the first one. Any thread.
  std::optional<std::int64_t> server_offset_millis() const;

 private:
  struct Resource;
  void carry_out(Resource& resource, const ListWatch::Step& step);
  void send(Resource& resource, Call call, std::function<void(const http::Response&)> then);
  void list(Resource& resource, const std::string& path);
  void watch(Resource& resource, const std::string& path);
  void note_trouble(Resource& resource);
  void note_date(const http::Response& response);

  Client& client_;
  const base::Clock& clock_;
  const Notice notice_;
  std::vector<std::unique_ptr<Resource>> resources_;
  std::atomic<std::int64_t> offset_millis_{0};
  std::atomic<bool> offset_known_{false};
};

}  // namespace karst::kube
