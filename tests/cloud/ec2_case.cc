// EC2 under the contract.
#include "cloud/aws/aws_cloud.h"
#include "tests/cloud/aws_account.h"
#include "tests/cloud/cloud_case.h"
#include "tests/cloud/ec2_server.h"
#include "tests/providers/aws_launch_case.h"

namespace karst::cloud {
namespace {

class Ec2Case final : public CloudCase, private aws::AwsAccount {
 public:
  Ec2Case()
      : cloud_(*client, sink, withheld, clock, providers::aws::LaunchCase().resolved.cluster) {}
  Remembers remembers() const override { return Remembers::kToken; }

  model::Launch order(std::size_t claims, const std::string& token) override {
    providers::aws::LaunchCase made;
    made.token = token;
    made.claims.resize(claims, made.claims.front());
    const auto items = items_of(claims);
    for (std::size_t i = 0; i < claims; ++i) {
      made.claims[i].uid = items[i].claim;
      made.claims[i].name = items[i].name;
    }
    return made.command();
  }
  model::Offer sold_out_offer() const override {
    return providers::aws::LaunchCase().offers.front();
  }
  model::ProviderId unknown_machine() const override {
    return model::ProviderId("aws:///us-east-1a/i-0");
  }

  model::Outcome ask(const model::CommandSpec& spec, std::uint32_t attempt) override {
    sink.facts.clear();
    cloud_.submit({{model::LogId("log"), model::Position(7)}, attempt, spec});
    for (settle(); !transport.open.empty(); settle()) answer_one();
    const auto outcomes = sink.all<model::Outcome>();
    return outcomes.size() == 1 ? outcomes.front() : model::Outcome();
  }
  void lose_answer() override { lose_answer_ = true; }
  void lose_request() override { lose_request_ = true; }
  void fail_a_part() override { server_.one_short = true; }
  void sell_out() override {
    server_.sold_out.insert({sold_out_offer().instance_type, sold_out_offer().zone});
  }

  std::vector<std::string> running() const override {
    std::vector<std::string> all;
    for (const auto& [id, machine] : server_.machines)
      if (machine.alive) all.push_back("aws:///" + machine.zone + "/" + id);
    return all;
  }

 private:
  void settle() {
    for (int i = 0; i < 4; ++i) transport.advance(0);
  }
  void answer_one() {
    const std::string body = transport.open.front().request.body;
    const bool write = body.find("Action=CreateFleet") != std::string::npos ||
                       body.find("Action=TerminateInstances") != std::string::npos;
    if (write && std::exchange(lose_request_, false)) {
      transport.fail(http::Failure::kUnclear);
      return;
    }
    http::Response response = server_.answer(body);
    if (write && std::exchange(lose_answer_, false))
      transport.fail(http::Failure::kUnclear);
    else
      transport.answer(std::move(response));
  }

  aws::AwsCloud cloud_;
  aws::Ec2Server server_;
  bool lose_answer_ = false;
  bool lose_request_ = false;
};

}  // namespace

std::unique_ptr<CloudCase> ec2_cloud() {
  return std::make_unique<Ec2Case>();
}

}  // namespace karst::cloud
