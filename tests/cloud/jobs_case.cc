// A cloud of jobs under the contract: it answers a request for a machine with a node and a job, and
// only the job says later whether there is a machine. It takes no token, but keeps the name that a
// node was asked for under. So before its hands ask for a machine they look for one of that name,
// and a sold-out offer is known by the job's end. A fake: no such cloud is built yet, and this
// keeps the port fit for one.
#include <map>

#include "cloud/hands.h"
#include "ports/outcome.h"
#include "tests/cloud/cloud_case.h"
#include "tests/kube/fake_transport.h"

namespace karst::cloud {
namespace {

using model::RefusalCode;

constexpr std::int64_t kJobMillis = 5'000;
constexpr std::int64_t kPollMillis = 1'000;
constexpr int kPollsMax = 60;

enum class Job { kRunning, kSuccess, kSoldOut, kFailed };

// The service: one call each; no answer came when it says nothing.
class JobService {
 public:
  struct Node {
    std::string name;  // "claim uid-attempt"
    model::Offer offer;
    Job job = Job::kRunning;
    std::int64_t asked_millis = 0;
  };

  std::optional<std::string> create(const std::string& name, const model::Offer& offer,
                                    std::int64_t now) {
    if (std::exchange(lose_request, false)) return std::nullopt;
    const std::string id = "node-" + std::to_string(++last_);
    nodes[id] = {name, offer, std::exchange(refuse_next, false) ? Job::kFailed : Job::kRunning,
                 now};
    if (std::exchange(lose_answer, false)) return std::nullopt;
    return id;
  }
  // Whether it was heard.
  bool remove(const std::string& id) {
    if (std::exchange(lose_request, false)) return false;
    nodes.erase(id);
    return !std::exchange(lose_answer, false);
  }
  std::optional<Job> job_of(const std::string& id, std::int64_t now) {
    const auto at = nodes.find(id);
    if (at == nodes.end()) return std::nullopt;
    if (at->second.job == Job::kRunning && now - at->second.asked_millis >= kJobMillis)
      at->second.job = at->second.offer == sold_out ? Job::kSoldOut : Job::kSuccess;
    return at->second.job;
  }

  std::map<std::string, Node> nodes;
  model::Offer sold_out;
  bool lose_answer = false;
  bool lose_request = false;
  bool refuse_next = false;  // the next machine's job fails

 private:
  int last_ = 0;
};

class JobHands final : public Hands {
 public:
  JobHands(testing_kube::FakeTransport& transport, testing_kube::FakeSink& sink,
           testing_kube::FakeClock& clock, JobService& service)
      : Hands(
            [&transport](auto millis, auto action) { transport.after(millis, std::move(action)); },
            sink, clock),
        transport_(transport),
        service_(service) {}

 private:
  struct Order {
    Command command;
    const model::Launch* launch = nullptr;
    model::Outcome outcome;
    std::vector<std::string> waiting;  // nodes whose job has not ended
    bool unclear = false;
    int polls = 0;
  };

  std::function<void()> work_of(const Command& command) override {
    return [this, command] {
      if (const auto* order = std::get_if<model::Launch>(&command->spec))
        return launch(command, *order);
      if (const auto* end = std::get_if<model::Terminate>(&command->spec))
        return terminate(command, *end);
      find(command, std::get<model::FindInstances>(command->spec));
    };
  }
  void list(std::function<void(List)> complete, std::function<void()>) override { complete({}); }

  static std::string name_of(const model::LaunchItem& item) {
    return item.claim.str() + "-" + std::to_string(item.attempt);
  }
  std::optional<std::string> named(const std::string& name) const {
    for (const auto& [id, node] : service_.nodes)
      if (node.name == name) return id;
    return std::nullopt;
  }
  static model::Instance instance(const std::string& id, const JobService::Node& node) {
    model::Instance one;
    const std::size_t dash = node.name.rfind('-');
    one.provider_id = model::ProviderId("jobs://" + id);
    one.claim = model::ClaimUid(node.name.substr(0, dash));
    one.attempt = static_cast<std::uint32_t>(std::stoul(node.name.substr(dash + 1)));
    one.offer = node.offer;
    one.state =
        node.job == Job::kSuccess ? model::InstanceState::kRunning : model::InstanceState::kPending;
    return one;
  }

  void launch(const Command& command, const model::Launch& spec) {
    auto order = std::make_shared<Order>();
    order->command = command;
    order->launch = &spec;
    order->outcome = ports::done(*command);
    for (const model::LaunchItem& item : spec.items) {
      auto id = named(name_of(item));
      if (!id) id = service_.create(name_of(item), spec.offers.front(), clock_.monotonic_millis());
      if (id)
        order->waiting.push_back(*id);
      else
        order->unclear = true;
    }
    poll(order);
  }

  // A job that has failed leaves a node in error behind: it is taken away.
  void poll(const std::shared_ptr<Order>& order) {
    std::erase_if(order->waiting, [&](const std::string& id) {
      const auto job = service_.job_of(id, clock_.monotonic_millis());
      if (job == Job::kRunning) return false;
      if (job == Job::kSuccess) {
        order->outcome.instances.push_back(instance(id, service_.nodes.at(id)));
        return true;
      }
      if (job == Job::kSoldOut) order->outcome.exhausted = {order->launch->offers.front()};
      (void)service_.remove(id);
      return true;
    });
    if (!order->waiting.empty() && ++order->polls < kPollsMax)
      return transport_.after(kPollMillis, [this, order] { poll(order); });
    model::Outcome& outcome = order->outcome;
    if (order->unclear || !order->waiting.empty()) {
      outcome.kind = model::OutcomeKind::kUnclear;
    } else if (outcome.instances.empty()) {
      outcome.kind = model::OutcomeKind::kRefused;
      outcome.code = RefusalCode::kCapacity;
    }
    settle(std::move(outcome));
  }

  void terminate(const Command& command, const model::Terminate& spec) {
    const std::string id = spec.provider_id.str().substr(std::string("jobs://").size());
    model::Outcome outcome = ports::done(*command);
    if (const auto at = service_.nodes.find(id); at != service_.nodes.end()) {
      if (instance(id, at->second).claim != spec.claim)
        return settle(ports::refused(*command, RefusalCode::kConflict, "another claim's"));
      if (!service_.remove(id)) outcome.kind = model::OutcomeKind::kUnclear;
    }
    if (outcome.kind == model::OutcomeKind::kDone) outcome.instances = {gone_instance(spec)};
    settle(std::move(outcome));
  }

  void find(const Command& command, const model::FindInstances& spec) {
    model::Outcome outcome = ports::done(*command);
    for (const auto& [id, node] : service_.nodes) {
      const model::Instance one = instance(id, node);
      const bool wanted =
          spec.provider_id.empty() ? one.claim == spec.claim : one.provider_id == spec.provider_id;
      if (wanted) outcome.instances.push_back(one);
    }
    finish(std::move(outcome));
  }

  testing_kube::FakeTransport& transport_;
  JobService& service_;
};

class JobsCase final : public CloudCase {
 public:
  Remembers remembers() const override { return Remembers::kByFinding; }

  model::Launch order(std::size_t claims, const std::string& token) override {
    model::Launch launch;
    launch.items = items_of(claims);
    launch.token = model::LaunchToken(token);
    launch.offers = {sold_out_offer(), {"s6.large", "z-b", "on-demand", 2, ""}};
    return launch;
  }
  model::Offer sold_out_offer() const override { return {"s6.large", "z-a", "on-demand", 1, ""}; }
  model::ProviderId unknown_machine() const override { return model::ProviderId("jobs://none"); }

  model::Outcome ask(const model::CommandSpec& spec, std::uint32_t attempt) override {
    sink_.facts.clear();
    hands_.submit({{model::LogId("log"), model::Position(7)}, attempt, spec});
    for (int i = 0; i <= kPollsMax && sink_.facts.empty(); ++i) {
      transport_.advance(i == 0 ? 0 : kPollMillis);
      clock_.now_millis += kPollMillis;
    }
    const auto outcomes = sink_.all<model::Outcome>();
    return outcomes.size() == 1 ? outcomes.front() : model::Outcome();
  }
  void lose_answer() override { service_.lose_answer = true; }
  void lose_request() override { service_.lose_request = true; }
  void fail_a_part() override { service_.refuse_next = true; }
  void sell_out() override { service_.sold_out = sold_out_offer(); }

  std::vector<std::string> running() const override {
    std::vector<std::string> all;
    for (const auto& [id, node] : service_.nodes) all.push_back("jobs://" + id);
    return all;
  }

 private:
  testing_kube::FakeTransport transport_;
  testing_kube::FakeSink sink_;
  testing_kube::FakeClock clock_;
  JobService service_;
  JobHands hands_{transport_, sink_, clock_, service_};
};

}  // namespace

std::unique_ptr<CloudCase> cloud_of_jobs() {
  return std::make_unique<JobsCase>();
}

}  // namespace karst::cloud
