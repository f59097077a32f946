// Orders of one pass know what those before them may take of a subnet's addresses.
#include "tests/engine/kwok_machines.h"
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

// kwok's machines, ten addresses each, of one subnet. A request is what was promised before it.
class OneSubnet final : public KwokMachines {
 public:
  std::string encode_launch(const model::Catalogue&,
                            std::span<const providers::LaunchSubject> subjects,
                            const model::LaunchToken&, std::span<const model::Offer>,
                            const std::string&) const override {
    std::int64_t promised = 0;
    for (const model::AddressUse& use : subjects.front().promised) promised += use.each;
    return std::to_string(promised);
  }
  std::vector<model::AddressUse> addresses_of(std::string_view) const override {
    return {{"subnet", "zone", 10}};
  }
};

TEST(PromisedAddresses, AddUpFromOrderToOrder) {
  OneSubnet provider;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &provider);
  set_the_stage(story);
  ports::IssuedCommand last;
  const auto order = [&](const std::vector<std::int64_t>& sizes) {
    for (const std::int64_t cpu : sizes)
      story.fact(events::NodeClaimObserved{unlaunched_claim(story, std::to_string(cpu), cpu)});
    story.step();
    std::string promised;
    for (const auto& command : story.take<model::Launch>()) {
      promised += std::get<model::Launch>(command.spec).request + " ";
      last = command;
    }
    return promised;
  };
  EXPECT_EQ(order({100, 200}), "0 10 ") << "two orders of one pass";
  EXPECT_EQ(order({300}), "20 ") << "and of another";
  model::Outcome full;
  full.command = last.id.position;
  full.attempt = last.attempt;
  full.kind = model::OutcomeKind::kRefused;
  full.code = model::RefusalCode::kCapacity;
  full.full_subnets = {"subnet"};
  story.fact(full);
  EXPECT_EQ(order({400}), std::to_string(20 + projections::kAllAddresses) + " ");
}

}  // namespace
}  // namespace karst::engine
