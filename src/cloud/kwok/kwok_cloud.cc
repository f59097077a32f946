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
    : Hands([&client](auto millis, auto action) { client.after(millis, std::move(action)); }, sink,
            clock),
      client_(client) {}
KwokCloud::~KwokCloud() = default;

std::function<void()> KwokCloud::work_of(const Command& command) {
  return [this, command] {
    if (const auto* order = std::get_if<model::Launch>(&command->spec))
      return launch(command, *order);
    if (const auto* end = std::get_if<model::Terminate>(&command->spec))
      return terminate(command, *end);
    if (const auto* search = std::get_if<model::FindInstances>(&command->spec))
      return find(command, *search);
    finish(ports::refused(*command, RefusalCode::kInvalid, "a kwok node class names nothing"));
  };
}

void KwokCloud::send(const Command& command, kube::Call call,
                     std::function<void(const http::Response&)> then) {
  if (command) {
    call.audit_id = kube::audit_id(*command);
    call.may_leave = command->may_leave;
  }
  client_.send(std::move(call),
               [then = std::move(then)](const http::Response& response) { then(response); });
}

// ---- launch ----

void KwokCloud::launch(const Command& command, const model::Launch& spec) {
  auto nodes = split_request(spec.request);
  auto order = std::make_shared<Order>();
  order->command = command;
  order->launch = &spec;
  if (!nodes) {
    order->open = 1;
    return settle_part(order,
                       ports::refused(*command, RefusalCode::kInvalid, nodes.error().message));
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
           return settle_part(order, kube::failed(*order->command, response, Asked::kWrite));
         auto made = read_instance(response.body);
         model::Outcome part = ports::done(*order->command);
         if (made) {
           part.instances.push_back(std::move(made->instance));
         } else {  // it exists, but we cannot say what it is: find it by its tag
           part.kind = model::OutcomeKind::kUnclear;
           part.message = made.error().message;
         }
         settle_part(order, std::move(part));
       });
}

// The name is taken. With our launch token on it, it is this very order's node, made by an earlier
// send.
void KwokCloud::existing_node(const std::shared_ptr<Order>& order, std::size_t index) {
  send(order->command, call_to(http::Method::kGet, node_path(order->nodes[index].name)),
       [this, order](const http::Response& response) {
         if (!response.ok())
           return settle_part(order, kube::failed(*order->command, response, Asked::kRead));
         auto found = read_instance(response.body);
         if (!found || found->launch_token != order->launch->token.str())
           return settle_part(order,
                              ports::refused(*order->command, RefusalCode::kConflict,
                                             "a node of that name exists, made by another order"));
         model::Outcome part = ports::done(*order->command);
         part.instances.push_back(std::move(found->instance));
         settle_part(order, std::move(part));
       });
}

// One node of the order is decided; with the last of them the whole order is. What exists is always
// reported.
void KwokCloud::settle_part(const std::shared_ptr<Order>& order, model::Outcome part) {
  std::move(part.instances.begin(), part.instances.end(), std::back_inserter(order->instances));
  const bool unclear = part.kind == model::OutcomeKind::kUnclear;
  const bool refused = part.kind == model::OutcomeKind::kRefused;
  if ((unclear && !order->some_unclear) ||
      (refused && !order->some_unclear && !order->some_refused))
    order->worst = part;
  order->some_unclear = order->some_unclear || unclear;
  order->some_refused = order->some_refused || refused;
  if (--order->open > 0) return;
  model::Outcome outcome = ports::done(*order->command);
  if (order->some_unclear || (order->some_refused && order->instances.empty()))
    outcome = order->worst;
  if (outcome.kind == model::OutcomeKind::kDone && order->some_refused)
    outcome.message = "in part: " + order->worst.message;
  outcome.instances = std::move(order->instances);
  std::sort(outcome.instances.begin(), outcome.instances.end(),
            [](const auto& a, const auto& b) { return a.provider_id < b.provider_id; });
  settle(std::move(outcome));
}

// ---- terminate ----

void KwokCloud::terminate(const Command& command, const model::Terminate& spec) {
  const auto name = node_name_of(spec.provider_id);
  if (!name)
    return settle(ports::refused(*command, RefusalCode::kInvalid,
                                 "not a kwok provider id: " + spec.provider_id.str()));
  send(
      command, call_to(http::Method::kGet, node_path(*name)),
      [this, command, &spec](const http::Response& response) {
        if (response.status == 404) {
          model::Outcome outcome = ports::done(*command);
          outcome.instances.push_back(gone_instance(spec));
          return settle(std::move(outcome));
        }
        if (!response.ok()) return settle(kube::failed(*command, response, Asked::kRead));
        const auto found = read_instance(response.body);
        if (!found)
          return settle(ports::refused(*command, RefusalCode::kRetry, found.error().message));
        if (spec.claim.empty() || found->instance.provider_id != spec.provider_id ||
            found->instance.claim != spec.claim)
          return settle(ports::refused(*command, RefusalCode::kConflict,
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
         settle(kube::failed(*command, response, Asked::kWrite));
       });
}

// The instance is the Node object, and the object stays for as long as it has our finalizer: off
// with it.
void KwokCloud::strip_finalizer(const Command& command, const model::Terminate& spec,
                                std::string body) {
  const auto end = [this, command, &spec](const http::Response& response) {
    const bool gone = response.ok() || response.status == 404;
    model::Outcome outcome =
        gone ? ports::done(*command) : kube::failed(*command, response, Asked::kWrite);
    if (response.status == 422) outcome.code = RefusalCode::kConflict;
    if (gone) outcome.instances.push_back(gone_instance(spec));
    settle(std::move(outcome));
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
    model::Outcome outcome = ports::done(*command);
    for (const KwokInstance& one : all.instances)
      if (one.instance.claim == spec.claim) outcome.instances.push_back(one.instance);
    finish(std::move(outcome));
  };
  collection->broken = [this, command](const http::Response& response,
                                       const std::string& unreadable) {
    finish(unreadable.empty() ? kube::failed(*command, response, Asked::kRead)
                              : ports::refused(*command, RefusalCode::kRetry, unreadable));
  };
  collect(collection);
}

void KwokCloud::find_by_id(const Command& command, const model::FindInstances& spec) {
  const auto name = node_name_of(spec.provider_id);
  if (!name)
    return finish(ports::refused(*command, RefusalCode::kInvalid,
                                 "not a kwok provider id: " + spec.provider_id.str()));
  send(command, call_to(http::Method::kGet, node_path(*name)),
       [this, command, &spec](const http::Response& response) {
         if (response.status == 404) return finish(ports::done(*command));  // proven absent
         if (!response.ok()) return finish(kube::failed(*command, response, Asked::kRead));
         auto found = read_instance(response.body);
         if (!found)
           return finish(ports::refused(*command, RefusalCode::kRetry, found.error().message));
         model::Outcome outcome = ports::done(*command);
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

void KwokCloud::list(std::function<void(List)> complete, std::function<void()> broken) {
  auto collection = std::make_shared<Collection>();
  collection->complete = [complete = std::move(complete)](const Collection& all) {
    List list{{}, all.version};
    for (const KwokInstance& one : all.instances) list.instances.push_back(one.instance);
    complete(std::move(list));
  };
  collection->broken = [broken = std::move(broken)](const http::Response& response,
                                                    const std::string&) {
    if (response.failure != http::Failure::kCancelled) broken();
  };
  collect(collection);
}

}  // namespace karst::cloud
