// The simulated world's cloud under the contract.
#include "sim/world.h"
#include "tests/cloud/cloud_case.h"
#include "tests/sim/fixture.h"

namespace karst::cloud {
namespace {

using sim::Fault;

class SimulatedCase final : public CloudCase {
 public:
  SimulatedCase() { bench_.world.faults().storm(true); }
  Remembers remembers() const override { return Remembers::kToken; }

  model::Launch order(std::size_t claims, const std::string& token) override {
    model::Launch launch = sim::order_for("uid-0", 1, token);
    launch.items = items_of(claims);
    launch.offers = {{"small", "zone-b", "on-demand", 30}, sim::spot_offer()};
    if (sold_out_) launch.offers.insert(launch.offers.begin(), sold_out_offer());
    return launch;
  }
  model::Offer sold_out_offer() const override { return {"small", "zone-z", "spot", 5}; }
  model::ProviderId unknown_machine() const override { return model::ProviderId("kwok://none"); }

  model::Outcome ask(const model::CommandSpec& spec, std::uint32_t) override {
    model::Outcome outcome = bench_.ask(spec);
    for (const Fault fault :
         {Fault::kAnswerLostAfterEffect, Fault::kAnswerLostBeforeEffect, Fault::kPartialFleet})
      bench_.world.faults().set(fault, 0);
    return outcome;
  }
  void lose_answer() override { strike(Fault::kAnswerLostAfterEffect); }
  void lose_request() override { strike(Fault::kAnswerLostBeforeEffect); }
  void fail_a_part() override { strike(Fault::kPartialFleet); }
  void sell_out() override { sold_out_ = true; }  // it has never sold anything there

  std::vector<std::string> running() const override {
    std::vector<std::string> all;
    for (const auto& [id, machine] : bench_.world.machines().machines())
      if (machine.alive()) all.push_back(id);
    return all;
  }

 private:
  void strike(Fault fault) { bench_.world.faults().set(fault, 10'000); }
  sim::Bench bench_;
  bool sold_out_ = false;
};

}  // namespace

std::unique_ptr<CloudCase> simulated_cloud() {
  return std::make_unique<SimulatedCase>();
}

}  // namespace karst::cloud
