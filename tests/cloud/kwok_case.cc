// The kwok cloud under the contract: its truth is an API server that holds Nodes.
#include <map>
#include <nlohmann/json.hpp>

#include "cloud/kwok/kwok_cloud.h"
#include "tests/cloud/cloud_case.h"
#include "tests/kube/fake_transport.h"

namespace karst::cloud {
namespace {

using nlohmann::json;

class NodeServer {
 public:
  http::Response answer(const http::Request& request) {
    const std::string path = request.url.substr(std::string("https://s/api/v1/nodes").size());
    switch (request.method) {
      case http::Method::kPost:
        return create(json::parse(request.body));
      case http::Method::kDelete:
        return with(path, [this](const std::string& name) {
          nodes.erase(name);
          return say(200, json::object());
        });
      case http::Method::kGet:
        if (path.starts_with('?')) return list();
        return with(path, [this](const std::string& name) { return say(200, nodes.at(name)); });
      default:
        return say(405, json::object());
    }
  }
  std::map<std::string, json> nodes;
  bool refuse_next = false;

 private:
  static http::Response say(int status, const json& body) {
    http::Response response;
    response.status = status;
    response.body = body.dump();
    return response;
  }
  http::Response create(json node) {
    const std::string name = node["metadata"]["name"];
    if (std::exchange(refuse_next, false)) return say(422, json::object());
    if (nodes.contains(name)) return say(409, json::object());
    node["metadata"]["uid"] = "uid-of-" + name;
    return say(201, nodes[name] = node);
  }
  http::Response list() {
    json items = json::array();
    for (const auto& [name, node] : nodes) items.push_back(node);
    return say(200, {{"metadata", {{"resourceVersion", "5"}}}, {"items", items}});
  }
  template <class Then>
  http::Response with(const std::string& path, Then then) {
    const std::string name = path.substr(1);
    return nodes.contains(name) ? then(name) : say(404, json::object());
  }
};

class KwokCase final : public CloudCase {
 public:
  Remembers remembers() const override { return Remembers::kName; }
  bool runs_out() const override { return false; }

  model::Launch order(std::size_t claims, const std::string& token) override {
    model::Launch launch;
    launch.items = items_of(claims);
    launch.token = model::LaunchToken(token);
    launch.offers = {{"c-1x", "z-a", "spot", 1, ""}, {"c-1x", "z-b", "spot", 2, ""}};
    json nodes = json::array();
    for (const model::LaunchItem& item : launch.items) {
      const std::string name = "kwok-" + item.name.str() + "-1";
      nodes.push_back({{"metadata",
                        {{"name", name},
                         {"annotations",
                          {{"karst.sh/claim-uid", item.claim.str()},
                           {"karst.sh/launch-token", token},
                           {"karst.sh/attempt", "1"}}}}},
                       {"spec", {{"providerID", "kwok://" + name}}},
                       {"status", {{"capacity", {{"cpu", "1"}}}}}});
    }
    launch.request = nodes.dump();
    return launch;
  }
  model::Offer sold_out_offer() const override { return {}; }
  model::ProviderId unknown_machine() const override { return model::ProviderId("kwok://none"); }

  model::Outcome ask(const model::CommandSpec& spec, std::uint32_t attempt) override {
    sink_.facts.clear();
    cloud_.submit({{model::LogId("log"), model::Position(7)}, attempt, spec});
    for (transport_.advance(0); !transport_.open.empty(); transport_.advance(0)) answer_one();
    const auto outcomes = sink_.all<model::Outcome>();
    return outcomes.size() == 1 ? outcomes.front() : model::Outcome();
  }
  void lose_answer() override { lose_answer_ = true; }
  void lose_request() override { lose_request_ = true; }
  void fail_a_part() override { server_.refuse_next = true; }
  void sell_out() override {}

  std::vector<std::string> running() const override {
    std::vector<std::string> all;
    for (const auto& [name, node] : server_.nodes) all.push_back("kwok://" + name);
    return all;
  }

 private:
  void answer_one() {
    const http::Request request = transport_.open.front().request;
    const bool write = request.method != http::Method::kGet;
    if (write && std::exchange(lose_request_, false)) {
      transport_.fail(http::Failure::kUnclear);
      return;
    }
    http::Response response = server_.answer(request);
    if (write && std::exchange(lose_answer_, false))
      transport_.fail(http::Failure::kUnclear);
    else
      transport_.answer(std::move(response));
  }

  testing_kube::FakeTransport transport_;
  testing_kube::FakeSink sink_;
  testing_kube::FakeClock clock_;
  kube::Client client_{transport_, kube::ServerAccess{"https://s", {}, "t", ""}, "karst/test"};
  KwokCloud cloud_{client_, sink_, clock_};
  NodeServer server_;
  bool lose_answer_ = false;
  bool lose_request_ = false;
};

}  // namespace

std::unique_ptr<CloudCase> kwok_cloud() {
  return std::make_unique<KwokCase>();
}

}  // namespace karst::cloud
