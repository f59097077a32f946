#include "cloud/aws/aws_cloud.h"

#include <algorithm>

#include "base/check.h"
#include "cloud/aws/outcome.h"
#include "cloud/aws/pages.h"
#include "providers/aws/late_user_data.h"
#include "providers/aws/launch.h"
#include "providers/aws/launch_errors.h"

namespace karst::cloud::aws {
namespace {

using model::RefusalCode;
namespace pure = providers::aws;

constexpr std::string_view kTemplateIsThere = "InvalidLaunchTemplateName.AlreadyExistsException";

bool is_gone(const model::Instance& instance) {
  return instance.state == model::InstanceState::kTerminated;
}

// What a look at one instance came to, when it found none.
model::Outcome unread(const ports::IssuedCommand& command, const CallError& error) {
  if (error.trouble == Trouble::kMalformed)
    return ports::refused(command, RefusalCode::kRetry, error.message);
  return failed(command, error, "DescribeInstances", Asked::kRead);
}

// EC2 has never heard of the id, or no more; of a machine that it has just launched, not yet.
model::Outcome not_known(model::Outcome outcome) {
  outcome.code = RefusalCode::kGone;
  return outcome;
}

// Whether the claim is of the order that made the instance.
bool carries(const pure::FoundInstance& found, const model::ClaimUid& claim) {
  return std::any_of(found.items.begin(), found.items.end(),
                     [&](const model::LaunchItem& item) { return item.claim == claim; });
}

// The claim that a machine is Karpenter's for, in this cluster. Empty: it is none of Karpenter's,
// not this cluster's, or has no such tag yet.
std::string karpenters_claim(const pure::FoundInstance& found, const std::string& cluster) {
  const bool ours = !found.token.empty() || !found.items.empty();
  return ours || cluster.empty() || found.cluster != cluster ? std::string() : found.node_claim;
}

bool may_end(const pure::FoundInstance& found, const model::Terminate& spec,
             const std::string& cluster) {
  if (carries(found, spec.claim)) return true;
  return !spec.claim_name.empty() && karpenters_claim(found, cluster) == spec.claim_name.str() &&
         (spec.pool.empty() || found.pool == spec.pool.str());
}

model::Outcome refused_as(const ports::IssuedCommand& command, RefusalCode code,
                          const std::string& reason, const std::string& message) {
  model::Outcome outcome = ports::refused(command, code, message);
  outcome.reason = reason;
  return outcome;
}

// Credentials and clocks are fixed where karst runs, often by themselves.
bool says_nothing_of_the_order(Trouble trouble) {
  return trouble == Trouble::kCredentials || trouble == Trouble::kSkew;
}

// A call of an order that had no effect.
model::Outcome not_launched(const ports::IssuedCommand& command, const CallError& error,
                            const std::string& action) {
  model::Outcome outcome = failed(command, error, action, Asked::kRead);
  outcome.reason = pure::launch_reason(error.code + ": " + error.message);
  return outcome;
}

// What another claim, made anew for the same pods, may get: as Karpenter, this one is dropped. The
// rest stays and is tried again.
RefusalCode refusal_code_of(const pure::LaunchOrder& order) {
  const bool drops =
      order.refusal == pure::kNoCapacity || order.refusal == pure::kNodeClassNotReady;
  return drops ? RefusalCode::kCapacity : RefusalCode::kInvalid;
}

}  // namespace

struct AwsCloud::Order {
  Command command;
  const model::Launch* launch = nullptr;
  pure::LaunchOrder order;
};

AwsCloud::AwsCloud(Client& client, ports::FactSink& sink, const ports::WithheldTexts& withheld,
                   const base::Clock& clock, pure::Cluster cluster)
    : Hands([&client](auto millis, auto action) { client.after(millis, std::move(action)); }, sink,
            clock),
      client_(client),
      instances_(client),
      withheld_(withheld),
      cluster_(std::move(cluster)) {}
AwsCloud::~AwsCloud() = default;

std::function<void()> AwsCloud::work_of(const Command& command) {
  return [this, command] {
    if (const auto* order = std::get_if<model::Launch>(&command->spec))
      return launch(command, *order);
    if (const auto* end = std::get_if<model::Terminate>(&command->spec))
      return terminate(command, *end);
    if (const auto* search = std::get_if<model::FindInstances>(&command->spec))
      return find(command, *search);
    if (const auto* end = std::get_if<model::ReleaseNodeClass>(&command->spec))
      return release(command, *end);
    resolve(command, std::get<model::ResolveNodeClass>(command->spec));
  };
}

// ---- launch ----

void AwsCloud::launch(const Command& command, const model::Launch& spec) {
  auto read = pure::read_launch(spec.request);
  if (!read) return settle(ports::refused(*command, RefusalCode::kInvalid, read.error().message));
  if (!read->refusal.empty())
    return settle(refused_as(*command, refusal_code_of(*read), read->refusal, read->message));
  auto order = std::make_shared<Order>();
  order->command = command;
  order->launch = &spec;
  order->order = std::move(*read);
  make_template(order, 0);
}

// A template is named by its content: one that is there already is this one. One whose user data
// nobody has any more (the class was changed, and karst started since) cannot be made; CreateFleet
// says whether it is there.
void AwsCloud::make_template(const std::shared_ptr<Order>& order, std::size_t index) {
  if (index == order->order.templates.size()) return make_fleet(order);
  pure::Request request = order->order.templates[index];
  if (const std::string lacking = pure::lacking_text(request); !lacking.empty()) {
    const auto text = withheld_.find(lacking);
    if (!text) return make_template(order, index + 1);
    if (const auto made = pure::complete(request, *text); !made)
      return settle(ports::refused(*order->command, RefusalCode::kInvalid, made.error().message));
  }
  Call call = call_of(std::move(request), Purpose::kMake);
  call.may_leave = order->command->may_leave;
  client_.send(std::move(call), [this, order, index](const Answer& answer) {
    if (answer.ok() || answer.error.code == kTemplateIsThere)
      return make_template(order, index + 1);
    // This attempt launched nothing, whatever became of the template: it may be sent again.
    settle(not_launched(*order->command, answer.error, "CreateLaunchTemplate"));
  });
}

void AwsCloud::make_fleet(const std::shared_ptr<Order>& order) {
  Call call = call_of(order->order.fleet, Purpose::kMake);
  call.may_leave = order->command->may_leave;
  client_.send(std::move(call), [this, order](const Answer& answer) { read_fleet(order, answer); });
}

void AwsCloud::read_fleet(const std::shared_ptr<Order>& order, const Answer& answer) {
  const ports::IssuedCommand& command = *order->command;
  pure::FleetAnswer fleet;
  if (answer.ok()) {
    auto read = pure::decode_fleet(answer.body, *order->launch);
    if (!read) {
      CallError error;
      error.trouble = Trouble::kMalformed;
      error.message = read.error().message;
      return settle(failed(command, error, "CreateFleet", Asked::kWrite));
    }
    fleet = std::move(*read);
  } else if (answer.error.code.empty() || may_have_happened(answer.error.trouble)) {
    return settle(failed(command, answer.error, "CreateFleet", Asked::kWrite));
  } else if (says_nothing_of_the_order(answer.error.trouble)) {
    return settle(not_launched(command, answer.error, "CreateFleet"));
  } else {
    fleet = pure::decode_fleet_error(answer.error.code, answer.error.message);
    if (fleet.code == RefusalCode::kConflict) return find_by_token(order);
  }
  model::Outcome outcome = ports::done(command);
  if (fleet.instances.empty())
    outcome = refused_as(command, fleet.code, fleet.reason, fleet.message);
  else if (fleet.code != RefusalCode::kNone)
    outcome.message = model::outcome_message("in part: " + fleet.message);
  outcome.instances = std::move(fleet.instances);
  outcome.exhausted = std::move(fleet.exhausted);
  // The next count is to be one that was made after this.
  if (!fleet.full_subnets.empty()) kept_.forget_action("DescribeSubnets");
  outcome.full_subnets = std::move(fleet.full_subnets);
  settle(std::move(outcome));
}

// The token was used with other parameters: what it launched is there, and is found by its tag.
void AwsCloud::find_by_token(const std::shared_ptr<Order>& order) {
  collect(
      [this, order](Instances all) {
        model::Outcome outcome = ports::done(*order->command);
        for (pure::FoundInstance& one : all)
          if (one.token == order->launch->token.str() && !is_gone(one.instance))
            outcome.instances.push_back(std::move(one.instance));
        if (outcome.instances.empty()) {
          outcome.kind = model::OutcomeKind::kUnclear;
          outcome.message = "the launch token was used with other parameters, and nothing is found";
        }
        settle(std::move(outcome));
      },
      [this, order](const CallError& error) {
        model::Outcome outcome = failed(*order->command, error, "DescribeInstances", Asked::kRead);
        outcome.kind = model::OutcomeKind::kUnclear;
        outcome.code = RefusalCode::kNone;
        settle(std::move(outcome));
      });
}

// ---- terminate ----

void AwsCloud::terminate(const Command& command, const model::Terminate& spec) {
  const std::string id = pure::instance_id(spec.provider_id);
  if (id.empty())
    return settle(ports::refused(*command, RefusalCode::kInvalid,
                                 "not an AWS provider id: " + spec.provider_id.str()));
  instances_.ask(
      id, [this, command, &spec](const CallError& error, const pure::FoundInstance* one) {
        model::Outcome gone = ports::done(*command);
        gone.instances.push_back(gone_instance(spec));
        if (error.trouble == Trouble::kNotFound) return settle(not_known(std::move(gone)));
        if (one == nullptr) return settle(unread(*command, error));
        if (is_gone(one->instance)) return settle(std::move(gone));
        if (!may_end(*one, spec, cluster_.name))
          return settle(ports::refused(*command, RefusalCode::kConflict,
                                       "the instance does not carry this claim's tag: left alone"));
        model::Instance ending = one->instance;
        if (carries(*one, spec.claim))
          ending.claim = spec.claim;
        else
          ending.claim_name = spec.claim_name;
        end_instance(command, spec, std::move(ending));
      });
}

void AwsCloud::end_instance(const Command& command, const model::Terminate& spec,
                            model::Instance instance) {
  const auto ended = [this, command](model::Instance one) {
    one.state = model::InstanceState::kShuttingDown;
    model::Outcome outcome = ports::done(*command);
    outcome.instances.push_back(std::move(one));
    settle(std::move(outcome));
  };
  if (instance.state == model::InstanceState::kShuttingDown) return ended(std::move(instance));
  Call call =
      call_of(pure::terminate_instances({pure::instance_id(spec.provider_id)}), Purpose::kRemove);
  call.may_leave = command->may_leave;
  client_.send(std::move(call), [this, command, &spec, ended,
                                 instance = std::move(instance)](const Answer& answer) {
    if (answer.ok()) return ended(instance);
    if (answer.error.trouble != Trouble::kNotFound)
      return settle(failed(*command, answer.error, "TerminateInstances", Asked::kWrite));
    model::Outcome outcome = ports::done(*command);
    outcome.instances.push_back(gone_instance(spec));
    settle(not_known(std::move(outcome)));
  });
}

// ---- find ----

void AwsCloud::find(const Command& command, const model::FindInstances& spec) {
  if (!spec.provider_id.empty()) return find_by_id(command, spec);
  collect(
      [this, command, &spec](Instances all) {
        model::Outcome outcome = ports::done(*command);
        for (pure::FoundInstance& one : all)
          if (one.instance.claim == spec.claim && !is_gone(one.instance))
            outcome.instances.push_back(std::move(one.instance));
        finish(std::move(outcome));
      },
      [this, command](const CallError& error) {
        finish(failed(*command, error, "DescribeInstances", Asked::kRead));
      });
}

void AwsCloud::find_by_id(const Command& command, const model::FindInstances& spec) {
  const std::string id = pure::instance_id(spec.provider_id);
  if (id.empty())
    return finish(ports::refused(*command, RefusalCode::kInvalid,
                                 "not an AWS provider id: " + spec.provider_id.str()));
  instances_.ask(id, [this, command, &spec](const CallError& error,
                                            const pure::FoundInstance* one) {
    model::Outcome outcome = ports::done(*command);  // without instances: absent
    if (error.trouble == Trouble::kNotFound) return finish(not_known(std::move(outcome)));
    if (one == nullptr) return finish(unread(*command, error));
    if (!is_gone(one->instance)) {
      outcome.instances.push_back(one->instance);
      // Alone it does not tell its place in the order: the state knows whose it is.
      if (carries(*one, spec.claim)) outcome.instances.back().claim = spec.claim;
      outcome.instances.back().claim_name = model::ClaimName(karpenters_claim(*one, cluster_.name));
    }
    finish(std::move(outcome));
  });
}

// ---- the periodic list ----

void AwsCloud::collect(std::function<void(Instances)> complete,
                       std::function<void(CallError)> broken) {
  auto pages = std::make_shared<std::vector<std::string>>();
  send_pages(
      client_, call_of(pure::list_instances(cluster_.name), Purpose::kRead),
      [pages](const std::string& body) {
        pages->push_back(body);
        return true;
      },
      [pages, complete = std::move(complete), broken = std::move(broken)](const CallError& error) {
        if (error.trouble != Trouble::kNone) return broken(error);
        auto all = pure::decode_instances(*pages);
        if (all) return complete(std::move(*all));
        CallError unreadable;
        unreadable.trouble = Trouble::kMalformed;
        unreadable.message = all.error().message;
        broken(unreadable);
      });
}

void AwsCloud::list(std::function<void(List)> complete, std::function<void()> broken) {
  collect(
      [this, complete = std::move(complete)](Instances all) {
        List list;
        for (pure::FoundInstance& one : all) {
          one.instance.claim_name = model::ClaimName(karpenters_claim(one, cluster_.name));
          const bool somebodys = !one.instance.claim.empty() || !one.instance.claim_name.empty();
          if (!is_gone(one.instance) && somebodys)
            list.instances.push_back(std::move(one.instance));
        }
        complete(std::move(list));
      },
      [broken = std::move(broken)](const CallError&) { broken(); });
}

}  // namespace karst::cloud::aws
