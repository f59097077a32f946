#include "kube/fact_observer.h"

#include "base/sha256.h"
#include "objects/cluster.h"
#include "objects/named.h"
#include "objects/pod.h"
#include "objects/scheduler_config.h"
#include "objects/withhold.h"

namespace karst::kube {
namespace {

using simdjson::dom::element;

struct Identity {
  std::string uid;
  std::string namespace_name;
  std::string name;
};

// What little of an object is enough to say that it is gone, even if the rest of it cannot be read.
base::Result<Identity> identity_of(element object) {
  objects::Context context;
  Identity identity;
  objects::Object::from(context, object).object("metadata", [&](const objects::Object& metadata) {
    identity = {metadata.text("uid"), metadata.text("namespace"), metadata.text("name")};
  });
  if (identity.uid.empty() || identity.name.empty())
    context.fail("metadata.uid or metadata.name is missing");
  KARST_TRY(context.status());
  return identity;
}

std::string place_of(element object) {
  const auto identity = identity_of(object);
  if (!identity) return {};
  return identity->namespace_name.empty() ? identity->name
                                          : identity->namespace_name + "/" + identity->name;
}

events::Body gone_body(const Watched& watched, const Identity& identity) {
  switch (watched.kind) {
    case WatchedKind::kPod:
      return events::PodGone{model::PodUid(identity.uid), identity.namespace_name, identity.name};
    case WatchedKind::kNode:
      return events::NodeGone{model::NodeUid(identity.uid), model::NodeName(identity.name)};
    case WatchedKind::kNodePool:
      return events::NodePoolGone{model::PoolName(identity.name)};
    case WatchedKind::kNodeClaim:
      return events::NodeClaimGone{model::ClaimUid(identity.uid), model::ClaimName(identity.name)};
    case WatchedKind::kDaemonSet:
      return events::DaemonSetGone{identity.uid};
    case WatchedKind::kNamed:
      return events::ObjectGone{{watched.kind_name, identity.namespace_name, identity.name}};
    case WatchedKind::kNodeClass:
      break;
  }
  return events::NodeClassGone{{watched.group, watched.kind_name, identity.name}};
}

}  // namespace

std::string_view listed_name(const Watched& watched) {
  switch (watched.kind) {
    case WatchedKind::kPod:
      return "Pod";
    case WatchedKind::kNode:
      return "Node";
    case WatchedKind::kNodePool:
      return "NodePool";
    case WatchedKind::kNodeClaim:
      return "NodeClaim";
    case WatchedKind::kDaemonSet:
      return "DaemonSet";
    case WatchedKind::kNodeClass:
      return "NodeClass";
    case WatchedKind::kNamed:
      return watched.kind_name;
  }
  return {};
}

FactObserver::FactObserver(Watched watched, ports::FactSink& sink, ports::WithheldTexts& withheld,
                           const base::Clock& clock)
    : watched_(std::move(watched)), sink_(sink), withheld_(withheld), clock_(clock) {}

void FactObserver::offer(events::Body body) {
  if (stopped_) return;
  stopped_ = !sink_.offer({std::move(body), clock_.wall(), {}});
}

void FactObserver::offer_shape(model::ShapeHash hash, const model::PodShape& shape) {
  if (shapes_sent_.size() >= kShapesSentMax) shapes_sent_.clear();
  if (listing_ && !shapes_sent_.insert(hash).second) return;
  offer(events::ShapeRecorded{hash, shape});
}

void FactObserver::list_started() {
  listing_ = true;
  shapes_sent_.clear();
  offer(events::ListStarted{std::string(listed_name(watched_))});
}

void FactObserver::list_ended(const std::string& version) {
  listing_ = false;
  shapes_sent_.clear();
  offer(events::ListEnded{std::string(listed_name(watched_)), version});
  next_beat_millis_ = clock_.monotonic_millis() + kBeatMillis;
}

void FactObserver::reached(const std::string& version) {
  if (clock_.monotonic_millis() < next_beat_millis_) return;
  next_beat_millis_ = clock_.monotonic_millis() + kBeatMillis;
  offer(events::SourceBeat{"kube/" + std::string(listed_name(watched_)), version});
}

base::Status FactObserver::offer_changed(element object) {
  switch (watched_.kind) {
    case WatchedKind::kPod: {
      auto reduced = objects::reduce_pod(object);
      if (!reduced) {
        if (auto instead = objects::pod_in_place_of(object)) {
          offer_shape(instead->pod.shape, instead->shape);
          offer(events::PodObserved{std::move(instead->pod)});
        }
        return base::fail(reduced.error());
      }
      if (objects::add_default_spread(watched_.default_spread, reduced->pod.labels, reduced->shape))
        reduced->pod.shape = model::hash_of(reduced->shape);
      offer_shape(reduced->pod.shape, reduced->shape);
      offer(events::PodObserved{std::move(reduced->pod)});
      return {};
    }
    case WatchedKind::kDaemonSet: {
      auto reduced = objects::reduce_daemon_set(object);
      if (!reduced) return base::fail(reduced.error());
      offer_shape(reduced->daemon_set.shape, reduced->shape);
      offer(events::DaemonSetObserved{std::move(reduced->daemon_set)});
      return {};
    }
    case WatchedKind::kNode: {
      auto node = objects::reduce_node(object);
      if (!node) return base::fail(node.error());
      offer(events::NodeObserved{std::move(*node)});
      return {};
    }
    case WatchedKind::kNodePool: {
      auto pool = objects::reduce_node_pool(object);
      if (!pool) return base::fail(pool.error());
      offer(events::NodePoolObserved{std::move(*pool)});
      return {};
    }
    case WatchedKind::kNodeClaim: {
      auto claim = objects::reduce_node_claim(object);
      if (!claim) return base::fail(claim.error());
      offer(events::NodeClaimObserved{std::move(*claim)});
      return {};
    }
    case WatchedKind::kNodeClass: {
      auto node_class = objects::reduce_node_class(object, watched_.group, watched_.kind_name);
      if (!node_class) return base::fail(node_class.error());
      if (std::string text = objects::withhold_user_data(*node_class); !text.empty())
        withheld_.keep(std::move(text));
      offer(events::NodeClassObserved{std::move(*node_class)});
      return {};
    }
    case WatchedKind::kNamed:
      return offer_named(object);
  }
  return {};
}

base::Status FactObserver::offer_named(element object) {
  auto reduced = objects::reduce_named(watched_.kind_name, object, watched_.with_shapes);
  if (!reduced) return base::fail(reduced.error());
  const auto* workload = std::get_if<model::Workload>(&reduced->object);
  const bool old_revision = workload != nullptr && workload->kind == "ReplicaSet" &&
                            !workload->owner_kind.empty() && workload->replicas == 0;
  if (old_revision) {
    offer(events::ObjectGone{model::key_of(reduced->object)});
    return {};
  }
  if (reduced->shape) offer_shape(*model::shape_of(reduced->object), *reduced->shape);
  offer(events::ObjectObserved{std::move(reduced->object)});
  return {};
}

void FactObserver::changed(element object) {
  const auto status = offer_changed(object);
  if (status) return;
  const std::string bytes = simdjson::minify(object);
  offer(events::InputRefused{"kube/" + std::string(listed_name(watched_)), place_of(object),
                             status.error().message, base::hex_lower(base::sha256(bytes))});
}

void FactObserver::gone(element object) {
  const auto identity = identity_of(object);
  if (identity)
    offer(gone_body(watched_, *identity));
  else
    refused(identity.error().message, simdjson::minify(object));
}

void FactObserver::refused(const std::string& reason, std::string_view bytes) {
  offer(events::InputRefused{"kube/" + std::string(listed_name(watched_)),
                             {},
                             reason,
                             base::hex_lower(base::sha256(bytes))});
}

}  // namespace karst::kube
