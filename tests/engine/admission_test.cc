// What of the facts is news: lists that name what is known, and lists that cannot be read.
#include "tests/engine/kwok_machines.h"
#include "tests/engine/stage.h"

namespace karst::engine {
namespace {

using namespace testing;

TEST(Admission, ARelistOfKnownThingsCostsNoLog) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  const model::PodShape shape = shape_of(500);
  model::Pod bound = pending_pod("pod-0", shape);
  bound.unschedulable = false;
  story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
  story.fact(events::PodObserved{bound});
  story.step();
  const model::Position before = log.end();
  for (int i = 0; i < 3; ++i) {
    story.list("Pod",
               {events::ShapeRecorded{model::hash_of(shape), shape}, events::PodObserved{bound}});
    story.step();
  }
  EXPECT_EQ(log.end(), before);
  story.list("Pod", {});
  story.step();
  EXPECT_EQ(story.state().pods().size(), 0u)
      << "a closed list that does not name it tells that it is gone";
}

// Machines were launched for one claim, and others ended, while the list ran.
TEST(Admission, AListThatIsUnsureOfSomeMachinesConcludesNothingOfThem) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  const auto id = [](int i) { return model::ProviderId("aws:///a/i-" + std::to_string(i)); };
  for (int i = 0; i < 4; ++i) {
    model::Instance one;
    one.provider_id = id(i);
    one.claim = model::ClaimUid("uid-" + std::to_string(i));
    one.state = model::InstanceState::kRunning;
    story.fact(events::InstanceObserved{one});
  }
  story.step();
  story.step(60'000);
  const auto list = [&](std::vector<std::string> unsure) {
    story.fact(events::ListStarted{"Instance"});
    story.fact(events::ListEnded{"Instance", "2", std::move(unsure)});
    story.step();
    std::string missing;
    for (int i = 0; i < 4; ++i)
      if (story.state().instances().find(id(i))->missing) missing += std::to_string(i);
    return missing;
  };
  EXPECT_EQ(list({"uid-0", "aws:////i-1"}), "23");
  EXPECT_EQ(list({}), "0123");
}

// One event for each reading, and nothing is decided anew.
TEST(Admission, AReadingOfPricesIsNewsThoughNothingChanged) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  const auto row = [&] { return *story.state().catalogues().find("kwok"); };
  story.fact(events::PricesObserved{{"kwok", {}}, true, true});
  story.step();
  const projections::CatalogueRow before = row();
  const model::Position end = log.end();
  for (int reading = 0; reading < 3; ++reading) {
    story.fact(events::CatalogueObserved{before.catalogue});
    story.fact(events::PricesObserved{{"kwok", {}}, true, false});
    EXPECT_EQ(story.step().decisions, 0u);
  }
  EXPECT_EQ(log.end().value(), end.value() + 6) << "each reading, and the round that took it";
  EXPECT_EQ(row().position, before.position);
  EXPECT_EQ(row().read.on_demand_at.value(), story.now());
  EXPECT_EQ(row().read.spot_at, before.read.spot_at);
  EXPECT_FALSE(verified(log).difference);
}

// A cloud whose hands read what it sells.
class Account final : public KwokMachines {
 public:
  bool reads_catalogue() const override { return true; }
};

TEST(Admission, AStartKeepsWhatWasReadAndTakesNothingElseForRead) {
  const Account account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  const auto row = [&] { return *story.state().catalogues().find("kwok"); };
  const base::LogTime never;
  EXPECT_EQ(row().catalogue, account.embedded_catalogue());
  EXPECT_EQ(row().read.on_demand_at, never) << "it is embedded";
  EXPECT_EQ(row().read.spot_at, never);
  story.start();
  EXPECT_EQ(row().read.on_demand_at, never) << "likewise at the next start";
  model::Catalogue sold = account.embedded_catalogue();
  sold.types.pop_back();
  story.fact(events::CatalogueObserved{sold});
  story.fact(events::PricesObserved{{"kwok", {}}, false, true});
  story.step();
  const base::LogTime read = row().read.spot_at;
  EXPECT_EQ(read.value(), story.now());
  story.start();
  EXPECT_EQ(row().catalogue, sold) << "better than what is embedded";
  EXPECT_EQ(row().read.spot_at, read);
  EXPECT_FALSE(verified(log).difference);
}

// As the cloud tells it, and as karst may end between the two.
TEST(Admission, AChangedPriceIsAsOldAsTheReadingBehindIt) {
  const Account account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  const auto read = [&] { return story.state().catalogues().find("kwok")->read; };
  model::Catalogue sold = account.embedded_catalogue();
  story.fact(events::CatalogueObserved{sold});
  story.fact(events::PricesObserved{{"kwok", {}}, true, true});
  story.step();
  const base::LogTime first = read().spot_at;
  EXPECT_EQ(first.value(), story.now());
  const auto dearer = [&] {
    for (model::Offering& offering : sold.types.front().offerings)
      if (offering.capacity_type == "on-demand") ++offering.price_nanos_per_hour;
    return events::CatalogueObserved{sold};
  };
  story.fact(dearer());
  story.fact(events::PricesObserved{{"kwok", {}}, true, false});
  story.step();
  EXPECT_EQ(read().on_demand_at.value(), story.now());
  EXPECT_EQ(read().spot_at, first) << "not read, and not changed either";
  story.fact(dearer());
  story.step();
  story.start();
  EXPECT_EQ(read().on_demand_at, base::LogTime()) << "the reading never came";
  EXPECT_EQ(read().spot_at, first);
  EXPECT_FALSE(verified(log).difference);
}

// Types and zones are the account's though its prices could not be read.
TEST(Admission, AStartKeepsWhatTheAccountSellsThoughNoPriceOfItIsKnown) {
  const Account account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  model::Catalogue sold = account.embedded_catalogue();
  sold.types.pop_back();
  story.fact(events::CatalogueObserved{sold});
  story.fact(events::PricesObserved{{"kwok", {}}, false, false});
  story.step();
  story.start();
  const auto& row = *story.state().catalogues().find("kwok");
  EXPECT_EQ(row.catalogue, sold);
  EXPECT_EQ(row.read.on_demand_at, base::LogTime());
  EXPECT_EQ(row.read.spot_at, base::LogTime());
  EXPECT_FALSE(verified(log).difference);
}

// The engine may be held up, by a full disk or a long start; the cloud goes on.
TEST(Admission, AReadingThatWaitedIsNotOneOfNow) {
  const Account account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  const auto read = [&](std::int64_t waits) {
    story.fact(events::CatalogueObserved{account.embedded_catalogue()});
    story.fact(events::PricesObserved{{"kwok", {}}, true, true});
    story.step(waits);
    return story.state().catalogues().find("kwok")->read.on_demand_at;
  };
  const base::LogTime then = read(kReadingWaitMillis);
  EXPECT_EQ(then.value(), story.now());
  EXPECT_EQ(read(kReadingWaitMillis + 1), then);
  const base::LogTime again = read(100);
  EXPECT_EQ(again.value(), story.now());
  EXPECT_FALSE(verified(log).difference);
}

// The log has the old one still: its prices are no newer for that.
TEST(Admission, AReadingOfACatalogueThatTheLogCannotTakeReadsNothing) {
  const Account account;
  events::MemoryLog log(model::LogId("log"));
  Story story(log, {}, &account);
  const auto read = [&](const model::Catalogue& catalogue) {
    story.fact(events::CatalogueObserved{catalogue});
    story.fact(events::PricesObserved{{"kwok", {}}, true, true});
    story.step();
    const auto& row = *story.state().catalogues().find("kwok");
    EXPECT_NE(row.catalogue.types.front().facts.size(), events::kPayloadMax);
    EXPECT_EQ(row.read.on_demand_at, row.read.spot_at);
    return row.read.spot_at;
  };
  const model::Catalogue sold = account.embedded_catalogue();
  model::Catalogue too_large = sold;
  too_large.types.front().facts.assign(events::kPayloadMax, 'x');
  const base::LogTime then = read(sold);
  EXPECT_EQ(then.value(), story.now());
  EXPECT_EQ(read(too_large), then);
  EXPECT_EQ(read(too_large), then) << "and the next time";
  const base::LogTime again = read(sold);
  EXPECT_EQ(again.value(), story.now()) << "no news, and taken all the same";
  EXPECT_FALSE(verified(log).difference);
}

TEST(Admission, WhatALogDoesNotTellToBeReadIsNotKeptAtAStart) {
  const Account account;
  events::MemoryLog log(model::LogId("log"));
  model::Catalogue sold = account.embedded_catalogue();
  sold.types.pop_back();
  {
    Story story(log);  // as of before readings were told
    story.fact(events::CatalogueObserved{sold});
    story.step();
    ASSERT_NE(story.state().catalogues().find("kwok")->read.spot_at, base::LogTime());
  }
  const Story story(log, {}, &account);
  EXPECT_EQ(story.state().catalogues().find("kwok")->catalogue, account.embedded_catalogue());
  EXPECT_EQ(story.state().catalogues().find("kwok")->read.spot_at, base::LogTime());
}

// A list with an object that cannot be read names it all the same: it is there.
TEST(Admission, WhatAListCannotReadIsNotGone) {
  events::MemoryLog log(model::LogId("log"));
  Story story(log);
  set_the_stage(story);
  const model::PodShape shape = shape_of(500);
  model::Pod pod = pending_pod("pod-0", shape);
  pod.unschedulable = false;
  model::Node node;
  node.name = model::NodeName("node-0");
  node.uid = model::NodeUid("n0");
  story.fact(events::ShapeRecorded{model::hash_of(shape), shape});
  story.fact(events::PodObserved{pod});
  story.fact(events::NodeObserved{node});
  story.step();
  const auto unread = [](const std::string& kind, const std::string& place) {
    return std::vector<events::Body>{
        events::InputRefused{"kube/" + kind, place, "spec: is wrong", ""}};
  };
  for (int i = 0; i < 2; ++i) {  // the second time nothing is logged, and it holds
    story.list("Pod", unread("Pod", "default/pod-0"));
    story.list("Node", unread("Node", "node-0"));
    story.list("NodePool", unread("NodePool", "default"));
    story.list("NodeClass", unread("NodeClass", "default"));
    story.step();
  }
  EXPECT_EQ(story.state().pods().size(), 1u);
  EXPECT_EQ(story.state().nodes().size(), 1u);
  EXPECT_EQ(story.state().pools().size(), 1u);
  EXPECT_EQ(story.state().node_classes().size(), 1u);
  story.list("Pod", unread("Pod", "default/another"));
  story.list("NodePool", {});
  story.step();
  EXPECT_EQ(story.state().pods().size(), 0u);
  EXPECT_EQ(story.state().pools().size(), 0u);
  EXPECT_FALSE(verified(log).difference);
}

}  // namespace
}  // namespace karst::engine
