#include "kube/kube_edge.h"

#include "http/date.h"

namespace karst::kube {
namespace {

constexpr std::int64_t kListTimeoutMillis = 60'000;
constexpr std::int64_t kWatchTimeoutMillis = (kWatchSeconds + 60) * 1000;

ListWatch::Answer answer_of(const http::Response& response) {
  ListWatch::Answer answer{
      response.status, response.body, {}, response.failure == http::Failure::kTooLarge};
  const bool good = response.failure == http::Failure::kNone && response.status == 200;
  if (!good) answer.error = failure_text(response);
  // A list that was cut is no list, whatever its status said. A watch may end anyhow.
  return answer;
}

}  // namespace

struct KubeEdge::Resource {
  Resource(const Watched& what, ports::FactSink& sink, ports::WithheldTexts& withheld,
           const base::Clock& clock)
      : watched(what),
        observer(what, sink, withheld, clock),
        protocol(what.path, observer, what.optional) {}
  const Watched watched;
  FactObserver observer;
  ListWatch protocol;
  std::string told;             // the trouble that was last told
  std::uint64_t round = 0;      // of lists: what was asked for in an earlier one is passed over
  http::RequestId request = 0;  // the last one sent
};

namespace {

Watched named(std::string path, std::string kind) {
  return {WatchedKind::kNamed, std::move(path), {}, std::move(kind)};
}
Watched named_if_there(std::string path, std::string kind) {
  Watched watched = named(std::move(path), std::move(kind));
  watched.optional = true;
  return watched;
}

}  // namespace

std::vector<Watched> core_resources(const events::Config& config) {
  std::vector<Watched> resources = {
      {WatchedKind::kNodePool, "/apis/karpenter.sh/v1/nodepools", {}, {}},
      {WatchedKind::kNodeClaim, "/apis/karpenter.sh/v1/nodeclaims", {}, {}},
      {WatchedKind::kNode, "/api/v1/nodes", {}, {}},
      {WatchedKind::kDaemonSet, "/apis/apps/v1/daemonsets", {}, {}},
      named("/api/v1/persistentvolumeclaims", "PersistentVolumeClaim"),
      named("/api/v1/persistentvolumes", "PersistentVolume"),
      named("/apis/storage.k8s.io/v1/storageclasses", "StorageClass"),
      named("/apis/storage.k8s.io/v1/csinodes", "CSINode"),
      named("/apis/storage.k8s.io/v1/volumeattachments", "VolumeAttachment"),
      named("/api/v1/namespaces", "Namespace"),
      named("/apis/policy/v1/poddisruptionbudgets", "PodDisruptionBudget")};
  for (const auto& [path, kind] : {std::pair("/apis/apps/v1/deployments", "Deployment"),
                                   std::pair("/apis/apps/v1/replicasets", "ReplicaSet"),
                                   std::pair("/apis/apps/v1/statefulsets", "StatefulSet")}) {
    resources.push_back(named(path, kind));
    resources.back().with_shapes = config.capacity_buffer;
  }
  if (config.node_overlay)
    resources.push_back(named_if_there("/apis/karpenter.sh/v1alpha1/nodeoverlays", "NodeOverlay"));
  if (config.capacity_buffer) {
    resources.push_back(
        named_if_there("/apis/autoscaling.x-k8s.io/v1beta1/capacitybuffers", "CapacityBuffer"));
    resources.push_back(named("/api/v1/podtemplates", "PodTemplate"));
  }
  // Last: by then most of what their places depend on is there.
  resources.push_back({WatchedKind::kPod, "/api/v1/pods", {}, {}});
  return resources;
}

Watched node_class_resource(const std::string& group, const std::string& version,
                            const std::string& plural, const std::string& kind) {
  return {WatchedKind::kNodeClass, "/apis/" + group + "/" + version + "/" + plural, group, kind};
}

KubeEdge::KubeEdge(Client& client, std::vector<Watched> resources, ports::FactSink& sink,
                   ports::WithheldTexts& withheld, const base::Clock& clock, Notice notice)
    : client_(client), clock_(clock), notice_(std::move(notice)) {
  for (const Watched& watched : resources)
    resources_.push_back(std::make_unique<Resource>(watched, sink, withheld, clock));
}

KubeEdge::~KubeEdge() = default;

void KubeEdge::start() {
  client_.after(0, [this] {
    for (const auto& resource : resources_) carry_out(*resource, resource->protocol.start());
  });
}

void KubeEdge::relist() {
  client_.after(0, [this] {
    for (const auto& resource : resources_) {
      ++resource->round;
      client_.cancel(resource->request);
      carry_out(*resource, resource->protocol.relist());
    }
  });
}

void KubeEdge::carry_out(Resource& resource, const ListWatch::Step& step) {
  note_trouble(resource);
  if (resource.observer.stopped()) return;
  switch (step.kind) {
    case ListWatch::Step::Kind::kList:
      return list(resource, step.path);
    case ListWatch::Step::Kind::kWatch:
      return watch(resource, step.path);
    case ListWatch::Step::Kind::kWait:
      client_.after(step.millis, [this, &resource, round = resource.round] {
        if (round == resource.round) carry_out(resource, resource.protocol.waited());
      });
  }
}

// Remembers the request; answers of an earlier round are passed over.
void KubeEdge::send(Resource& resource, Call call,
                    std::function<void(const http::Response&)> then) {
  resource.request = client_.send(
      std::move(call),
      [&resource, round = resource.round, then = std::move(then)](const http::Response& response) {
        if (round == resource.round) then(response);
      });
}

void KubeEdge::list(Resource& resource, const std::string& path) {
  Call call;
  call.path = path;
  call.timeout_millis = kListTimeoutMillis;
  call.response_bytes_max = objects::kListBytesMax;
  const std::int64_t asked = clock_.monotonic_millis();
  send(resource, std::move(call), [this, &resource, asked](const http::Response& response) {
    if (response.failure == http::Failure::kCancelled) return;
    if (clock_.monotonic_millis() - asked <= kDateAgeMillisMax) note_date(response);
    ListWatch::Answer answer = answer_of(response);
    if (response.failure != http::Failure::kNone) answer.status = 0;
    carry_out(resource, resource.protocol.list_answered(answer));
  });
}

void KubeEdge::watch(Resource& resource, const std::string& path) {
  Call call;
  call.path = path;
  call.timeout_millis = kWatchTimeoutMillis;
  call.idle_millis = kWatchIdleMillis;
  // False also when the protocol wants the stream ended; which it was shows in the answer below.
  auto ended = std::make_shared<bool>(false);
  call.on_chunk = [&resource, ended, round = resource.round](std::string_view bytes) {
    if (round != resource.round) return false;
    *ended = !resource.protocol.watch_bytes(bytes);
    return !*ended && !resource.observer.stopped();
  };
  send(resource, std::move(call), [this, &resource, ended](const http::Response& response) {
    if (response.failure == http::Failure::kCancelled && !*ended) return;
    carry_out(resource, resource.protocol.watch_closed(answer_of(response)));
  });
}

void KubeEdge::note_trouble(Resource& resource) {
  const std::string& trouble = resource.protocol.trouble();
  if (trouble == resource.told) return;
  resource.told = trouble;
  if (!notice_) return;
  const std::string what = resource.watched.path;
  if (trouble.empty())
    notice_(Following::kAgain, what + " is followed again");
  else
    notice_(Following::kStopped, what + " cannot be followed at the moment: " + trouble);
}

void KubeEdge::note_date(const http::Response& response) {
  if (!response.ok()) return;  // a proxy's, perhaps
  const auto date = http::parse_http_date(response.header("date"));
  if (!date) return;
  offset_millis_ = *date - clock_.wall().value();
  offset_known_ = true;
}

std::optional<std::int64_t> KubeEdge::server_offset_millis() const {
  if (!offset_known_) return std::nullopt;
  return offset_millis_.load();
}

}  // namespace karst::kube
