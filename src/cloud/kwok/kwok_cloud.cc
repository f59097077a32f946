#include "cloud/kwok/kwok_cloud.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "cloud/kwok/kwok_instance.h"
#include "kube/answer.h"
#include "kube/node_patch.h"

namespace karst::cloud {
namespace {

using kube::Asked;
using model::RefusalCode;
using nlohmann::json;

constexpr std::size_t kPageBytesMax = 64u << 20;
constexpr int kPageItems = 500;
constexpr std::int64_t kListAgainMillis = 1000;  // after a list that ran beside a launch, or failed

std::string node_path(const std::string& name) {
  return "/api/v1/nodes/" + kube::escaped(name);
}

kube::Call call_to(http::Method method, std::string path, std::string body = {},
                   std::string_view type = kube::kJson) {
  kube::Call call;
  call.method = method;
  call.path = std::move(path);
  call.body = std::move(body);
  call.content_type = type;
  return call;
}

model::Instance gone_instance(const model::Terminate& spec) {
  model::Instance instance;
  instance.provider_id = spec.provider_id;
  instance.claim = spec.claim;
  instance.state = model::InstanceState::kTerminated;
  return instance;
}

}  // namespace

struct KwokCloud::Order {
  Command command;
  const model::Launch* launch = nullptr;
  std::vector<NodeToCreate> nodes;
  std::size_t open = 0;
  std::vector<model::Instance> instances;
  model::Outcome worst;  // of the nodes that were not made
  bool some_unclear = false;
  bool some_refused = false;
};

struct KwokCloud::Collection {
  std::vector<KwokInstance> instances;
  std::string more;
  std::string version;
  int pages = 0;
  Command command;  // the search that asks; none: the periodic list
  std::function<void(const Collection&)> complete;
  std::function<void(const http::Response&, const std::string& unreadable)> broken;
};

KwokCloud::KwokCloud(kube::Client& client, ports::FactSink& sink, const base::Clock& clock)
    : client_(client), sink_(sink), clock_(clock) {}
KwokCloud::~KwokCloud() = default;

void KwokCloud::start() {
  client_.after(0, [this] { list_instances(); });
}

void KwokCloud::relist() {
  client_.after(0, [this] {
    ++lists_;
    list_instances();
  });
}

void KwokCloud::submit(const ports::IssuedCommand& issued) {
  KARST_CHECK(model::goes_to_cloud(model::kind_of(issued.spec)),
              "a command of the API server at the cloud's hands");
  const auto command = std::make_shared<const ports::IssuedCommand>(issued);
  const bool full = in_flight_.fetch_add(1) >= ports::kInFlightMax;
  if (model::kind_of(issued.spec) != model::CommandKind::kFindInstances) {
    ++changing_;
    ++changes_;
  }
  // On the transport's thread, so that the caller never waits for its own inbox.
  client_.after(0, [this, command, full] {
    if (full)
      return finish(
          kube::refused(*command, RefusalCode::kThrottled, "too many commands in flight"));
    if (const auto* order = std::get_if<model::Launch>(&command->spec))
      return launch(command, *order);
    if (const auto* end = std::get_if<model::Terminate>(&command->spec))
      return terminate(command, *end);
    if (const auto* search = std::get_if<model::FindInstances>(&command->spec))
      return find(command, *search);
  });
}

void KwokCloud::send(const Command& command, kube::Call call,
                     std::function<void(const http::Response&)> then) {
  if (command) call.audit_id = kube::audit_id(*command);
  client_.send(std::move(call),
               [then = std::move(then)](const http::Response& response) { then(response); });
}

void KwokCloud::offer(events::Body body) {
  if (!stopped_) stopped_ = !sink_.offer({std::move(body), clock_.wall(), {}});
}

void KwokCloud::finish(model::Outcome outcome) {
  in_flight_.fetch_sub(1);
  offer(std::move(outcome));
}

// ---- launch ----

void KwokCloud::launch(const Command& command, const model::Launch& spec) {
  auto nodes = split_request(spec.request);
  auto order = std::make_shared<Order>();
  order->command = command;
  order->launch = &spec;
  if (!nodes) {
    order->open = 1;
    return settle(order, kube::refused(*command, RefusalCode::kInvalid, nodes.error().message));
  }
  order->nodes = std::move(*nodes);
  order->open = order->nodes.size();
  for (std::size_t i = 0; i < order->nodes.size(); ++i) {
    if (order->nodes[i].delay_millis == 0)
      create_node(order, i);
    else
      client_.after(order->nodes[i].delay_millis, [this, order, i] { create_node(order, i); });
  }
}

void KwokCloud::create_node(const std::shared_ptr<Order>& order, std::size_t index) {
  send(order->command, call_to(http::Method::kPost, "/api/v1/nodes", order->nodes[index].body),
       [this, order, index](const http::Response& response) {
         if (response.status == 409) return existing_node(order, index);
         if (!response.ok())
           return settle(order, kube::failed(*order->command, response, Asked::kWrite));
         auto made = read_instance(response.body);
         model::Outcome part = kube::done(*order->command);
         if (made) {
           part.instances.push_back(std::move(made->instance));
         } else {  // it exists, but we cannot say what it is: find it by its tag
           part.kind = model::OutcomeKind::kUnclear;
           part.message = made.error().message;
         }
         settle(order, std::move(part));
       });
}

// The name is taken. With our launch token on it, it is this very order's node, made by an earlier
// send.
void KwokCloud::existing_node(const std::shared_ptr<Order>& order, std::size_t index) {
  send(order->command, call_to(http::Method::kGet, node_path(order->nodes[index].name)),
       [this, order](const http::Response& response) {
         if (!response.ok())
           return settle(order, kube::failed(*order->command, response, Asked::kRead));
         auto found = read_instance(response.body);
         if (!found || found->launch_token != order->launch->token.str())
           return settle(order, kube::refused(*order->command, RefusalCode::kConflict,
                                              "a node of that name exists, made by another order"));
         model::Outcome part = kube::done(*order->command);
         part.instances.push_back(std::move(found->instance));
         settle(order, std::move(part));
       });
}

// One node of the order is decided; with the last of them the whole order is. What exists is always
// reported.
void KwokCloud::settle(const std::shared_ptr<Order>& order, model::Outcome part) {
  std::move(part.instances.begin(), part.instances.end(), std::back_inserter(order->instances));
  const bool unclear = part.kind == model::OutcomeKind::kUnclear;
  const bool refused = part.kind == model::OutcomeKind::kRefused;
  if ((unclear && !order->some_unclear) ||
      (refused && !order->some_unclear && !order->some_refused))
    order->worst = part;
  order->some_unclear = order->some_unclear || unclear;
  order->some_refused = order->some_refused || refused;
  if (--order->open > 0) return;
  model::Outcome outcome = kube::done(*order->command);
  if (order->some_unclear || (order->some_refused && order->instances.empty()))
    outcome = order->worst;
  if (outcome.kind == model::OutcomeKind::kDone && order->some_refused)
    outcome.message = "in part: " + order->worst.message;
  outcome.instances = std::move(order->instances);
  std::sort(outcome.instances.begin(), outcome.instances.end(),
            [](const auto& a, const auto& b) { return a.provider_id < b.provider_id; });
  ++changes_;
  --changing_;
  finish(std::move(outcome));
}

// ---- terminate ----

void KwokCloud::terminate(const Command& command, const model::Terminate& spec) {
  const auto end = [this](model::Outcome outcome) {
    ++changes_;
    --changing_;
    finish(std::move(outcome));
  };
  const auto name = node_name_of(spec.provider_id);
  if (!name)
    return end(kube::refused(*command, RefusalCode::kInvalid,
                             "not a kwok provider id: " + spec.provider_id.str()));
  send(command, call_to(http::Method::kGet, node_path(*name)),
       [this, command, &spec, end](const http::Response& response) {
         if (response.status == 404) {
           model::Outcome outcome = kube::done(*command);
           outcome.instances.push_back(gone_instance(spec));
           return end(std::move(outcome));
         }
         if (!response.ok()) return end(kube::failed(*command, response, Asked::kRead));
         const auto found = read_instance(response.body);
         if (!found)
           return end(kube::refused(*command, RefusalCode::kRetry, found.error().message));
         if (found->instance.provider_id != spec.provider_id || found->instance.claim != spec.claim)
           return end(kube::refused(*command, RefusalCode::kConflict,
                                    "the instance does not carry this claim's tag: left alone"));
         delete_node(command, spec, response.body);
       });
}

void KwokCloud::delete_node(const Command& command, const model::Terminate& spec,
                            std::string body) {
  const json node = json::parse(body, nullptr, false);
  const json options = {{"apiVersion", "v1"},
                        {"kind", "DeleteOptions"},
                        {"preconditions", {{"uid", kube::uid_of(node)}}}};
  const std::string name = *node_name_of(spec.provider_id);
  send(command, call_to(http::Method::kDelete, node_path(name), options.dump()),
       [this, command, &spec, body = std::move(body)](const http::Response& response) mutable {
         const bool absent = response.status == 404 || response.status == 409;
         if (response.ok() || absent) return strip_finalizer(command, spec, std::move(body));
         ++changes_;
         --changing_;
         finish(kube::failed(*command, response, Asked::kWrite));
       });
}

// The instance is the Node object, and the object stays for as long as it has our finalizer: off
// with it.
void KwokCloud::strip_finalizer(const Command& command, const model::Terminate& spec,
                                std::string body) {
  const auto end = [this, command, &spec](const http::Response& response) {
    ++changes_;
    --changing_;
    const bool gone = response.ok() || response.status == 404;
    model::Outcome outcome =
        gone ? kube::done(*command) : kube::failed(*command, response, Asked::kWrite);
    if (response.status == 422) outcome.code = RefusalCode::kConflict;
    if (gone) outcome.instances.push_back(gone_instance(spec));
    finish(std::move(outcome));
  };
  auto patch = kube::finalizer_patch(json::parse(body, nullptr, false), false);
  if (!patch) {
    http::Response nothing_to_do;
    nothing_to_do.status = 200;
    return end(nothing_to_do);
  }
  const std::string name = *node_name_of(spec.provider_id);
  send(command, call_to(http::Method::kPatch, node_path(name), std::move(*patch), kube::kJsonPatch),
       end);
}

// ---- find ----

void KwokCloud::find(const Command& command, const model::FindInstances& spec) {
  if (!spec.provider_id.empty()) return find_by_id(command, spec);
  auto collection = std::make_shared<Collection>();
  collection->command = command;
  collection->complete = [this, command, &spec](const Collection& all) {
    model::Outcome outcome = kube::done(*command);
    for (const KwokInstance& one : all.instances)
      if (one.instance.claim == spec.claim) outcome.instances.push_back(one.instance);
    finish(std::move(outcome));
  };
  collection->broken = [this, command](const http::Response& response,
                                       const std::string& unreadable) {
    finish(unreadable.empty() ? kube::failed(*command, response, Asked::kRead)
                              : kube::refused(*command, RefusalCode::kRetry, unreadable));
  };
  collect(collection);
}

void KwokCloud::find_by_id(const Command& command, const model::FindInstances& spec) {
  const auto name = node_name_of(spec.provider_id);
  if (!name)
    return finish(kube::refused(*command, RefusalCode::kInvalid,
                                "not a kwok provider id: " + spec.provider_id.str()));
  send(command, call_to(http::Method::kGet, node_path(*name)),
       [this, command, &spec](const http::Response& response) {
         if (response.status == 404) return finish(kube::done(*command));  // proven absent
         if (!response.ok()) return finish(kube::failed(*command, response, Asked::kRead));
         auto found = read_instance(response.body);
         if (!found)
           return finish(kube::refused(*command, RefusalCode::kRetry, found.error().message));
         model::Outcome outcome = kube::done(*command);
         if (found->instance.provider_id == spec.provider_id)
           outcome.instances.push_back(std::move(found->instance));
         finish(std::move(outcome));
       });
}

// ---- the periodic list ----

void KwokCloud::collect(const std::shared_ptr<Collection>& collection) {
  std::string path = "/api/v1/nodes?labelSelector=" + kube::escaped(kKwokNodeSelector) +
                     "&limit=" + std::to_string(kPageItems);
  if (!collection->more.empty()) path += "&continue=" + kube::escaped(collection->more);
  kube::Call call = call_to(http::Method::kGet, std::move(path));
  call.response_bytes_max = kPageBytesMax;
  send(collection->command, std::move(call), [this, collection](const http::Response& response) {
    if (!response.ok()) return collection->broken(response, {});
    auto page = read_instance_page(response.body);
    if (!page) return collection->broken(response, page.error().message);
    if (++collection->pages >= kInstancePagesMax && !page->more.empty())
      return collection->broken(response, "more pages of instances than expected");
    std::move(page->instances.begin(), page->instances.end(),
              std::back_inserter(collection->instances));
    collection->more = std::move(page->more);
    collection->version = std::move(page->version);
    if (collection->more.empty()) return collection->complete(*collection);
    collect(collection);
  });
}

void KwokCloud::list_instances() {
  if (stopped_) return;
  const std::uint64_t before = changes_;
  const bool busy = changing_ > 0;
  const std::uint64_t round = lists_;  // a later one has its own list under way
  auto collection = std::make_shared<Collection>();
  const auto again = [this, round](std::int64_t millis) {
    client_.after(millis, [this, round] {
      if (round == lists_) list_instances();
    });
  };
  collection->complete = [this, before, busy, round, again](const Collection& all) {
    if (round != lists_) return;
    if (busy || changing_ > 0 || changes_ != before) return again(kListAgainMillis);
    report_list(all);
    again(kInstanceListMillis);
  };
  collection->broken = [again](const http::Response& response, const std::string&) {
    if (response.failure != http::Failure::kCancelled) again(kListAgainMillis);
  };
  collect(collection);
}

void KwokCloud::report_list(const Collection& collection) {
  offer(events::ListStarted{"Instance"});
  for (const KwokInstance& one : collection.instances)
    offer(events::InstanceObserved{one.instance});
  offer(events::ListEnded{"Instance", collection.version});
}

}  // namespace karst::cloud
