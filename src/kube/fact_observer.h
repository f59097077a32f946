// Objects of one kind, as the list and watch protocol brings them, turned into facts for the
// engine's inbox. An object that cannot be read becomes an InputRefused and blocks nothing. One
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "base/clock.h"
#include "kube/list_watch.h"
#include "model/ids.h"
#include "ports/fact.h"
#include "ports/withheld_texts.h"

namespace karst::kube {

enum class WatchedKind { kPod, kNode, kNodePool, kNodeClaim, kDaemonSet, kNodeClass, kNamed };

struct Watched {
  WatchedKind kind = WatchedKind::kPod;
  std::string path;          // of the collection
  std::string group;         // of a node class
  std::string kind_name;     // of a node class or a named object (model::kNamedKinds)
  bool optional = false;     // a server that does not have it has none of them
  bool with_shapes = false;  // of workloads: what their pods ask for is read, too
  // Of pods: for those that name no topology spread (objects/scheduler_config.h). They come as if
  // they had named these.
  std::vector<model::SpreadConstraint> default_spread = {};
};

// As list brackets name it: Pod, Node, NodePool, NodeClaim, DaemonSet, NodeClass, or the kind of
// named object.
std::string_view listed_name(const Watched& watched);

inline constexpr std::int64_t kBeatMillis = 15'000;     // at most one SourceBeat in so long
inline constexpr std::size_t kShapesSentMax = 100'000;  // then shapes are sent again

class FactObserver final : public ListWatch::Observer {
 public:
  // `withheld` gets the user data of node classes, before the fact that names it.
  FactObserver(Watched watched, ports::FactSink& sink, ports::WithheldTexts& withheld,
               const base::Clock& clock);

  void list_started() override;
  void listed(simdjson::dom::element object) override { changed(object); }
  void list_ended(const std::string& version) override;
  void changed(simdjson::dom::element object) override;
  void gone(simdjson::dom::element object) override;
  void reached(const std::string& version) override;
  void refused(const std::string& reason, std::string_view bytes) override;

  // The engine takes nothing more: it is stopping.
  bool stopped() const { return stopped_; }

 private:
  void offer(events::Body body);
  void offer_shape(model::ShapeHash hash, const model::PodShape& shape);
  base::Status offer_changed(simdjson::dom::element object);
  base::Status offer_named(simdjson::dom::element object);

  const Watched watched_;
  ports::FactSink& sink_;
  ports::WithheldTexts& withheld_;
  const base::Clock& clock_;
  struct HashOf {
    std::size_t operator()(const model::ShapeHash& hash) const { return hash.low; }
  };
  // Within a list a shape is sent once. Outside, every time: the state forgets a shape with its
  // last pod.
  bool listing_ = false;
  std::unordered_set<model::ShapeHash, HashOf> shapes_sent_;
  std::int64_t next_beat_millis_ = 0;  // monotonic
  bool stopped_ = false;
};

}  // namespace karst::kube
