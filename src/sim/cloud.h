// The simulated cloud: sells instances, forgets nothing, and tells about them late or badly.
// Idempotent by launch token: the same token and bytes mean the same instances, the same token with
// other bytes is refused. One thread. Answers are the truth at the moment of the call; losing them
// is the hands' business.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "model/cloud.h"
#include "model/command.h"
#include "ports/command_port.h"
#include "sim/core.h"
#include "sim/scenario.h"

namespace karst::sim {

struct Machine {
  model::Instance instance;
  model::PoolName pool;
  std::int64_t terminated_at = -1;
  bool alive() const {
    return instance.state == model::InstanceState::kPending ||
           instance.state == model::InstanceState::kRunning;
  }
};

class Cloud {
 public:
  Cloud(Core& core, const Scenario& scenario) : core_(core), scenario_(scenario) {}

  // Who boots machines and notices that they die.
  std::function<void(const Machine&)> on_launched;
  std::function<void(const model::ProviderId&)> on_gone;

  // One attempt each. `late`: the answer had said "unclear" before this took effect.
  model::Outcome launch(const model::Launch& order, const model::CommandId& id, bool late);
  model::Outcome terminate(const model::Terminate& order);
  model::Outcome find(const model::FindInstances& search) const;

  // A process came up: it hears the catalogue, then a list of instances now and then.
  void connect();

  // The machine goes now, whoever wanted it.
  void lose(const model::ProviderId& id, const std::string& why);

  const std::map<std::string, Machine>& machines() const { return machines_; }
  // An offer sells nothing until then.
  void run_dry(const model::Offer& offer, std::int64_t until_millis) {
    dry_until_[key_of(offer)] = until_millis;
  }

 private:
  struct Order {
    std::string request;
    std::vector<std::string> instances;
  };
  static model::Offer key_of(model::Offer offer) {
    offer.price_nanos_per_hour = 0;
    return offer;
  }
  bool has_capacity(const model::Offer& offer);
  const model::InstanceType* type_of(const model::Offer& offer) const;
  Machine& start(const model::LaunchItem& item, const model::Launch& order,
                 const model::Offer& offer, const model::CommandId& id, bool late);
  void end(const std::string& provider_id, const std::string& why);
  void list(std::uint64_t connection);

  Core& core_;
  const Scenario& scenario_;
  std::map<std::string, Machine> machines_;  // by provider id; terminated ones stay
  std::map<std::string, Order> orders_;      // by token
  std::map<model::Offer, std::int64_t> dry_until_;
};

}  // namespace karst::sim
