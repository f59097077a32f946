// A cloud as the contract of all clouds sees it (contract_test.cc): orders for it, what becomes of
// one command, what can go wrong with it, and what really runs there. Each implementation is a
// driver with a small truth behind it, on virtual time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/command.h"
#include "model/outcome.h"

namespace karst::cloud {

// What keeps a second sending of an order from making a second machine.
enum class Remembers {
  kToken,      // the cloud itself, by the order's token
  kName,       // the machine's name can be had only once
  kByFinding,  // nothing: the driver finds what is there before it asks for more
};

class CloudCase {
 public:
  virtual ~CloudCase() = default;
  virtual Remembers remembers() const = 0;
  // An offer of it can be sold out.
  virtual bool runs_out() const { return true; }

  // For claims "uid-0", "uid-1" …, first attempts, with sold_out_offer() before an offer that is
  // there.
  virtual model::Launch order(std::size_t claims, const std::string& token) = 0;
  virtual model::Offer sold_out_offer() const = 0;
  virtual model::ProviderId unknown_machine() const = 0;

  // One attempt at it: its outcome.
  virtual model::Outcome ask(const model::CommandSpec& spec, std::uint32_t attempt = 1) = 0;

  // Of the next launch or termination: it is carried out and nobody hears of it; it never arrives.
  virtual void lose_answer() = 0;
  virtual void lose_request() = 0;
  // Of the next order of several claims one part fails.
  virtual void fail_a_part() = 0;
  // sold_out_offer() is.
  virtual void sell_out() = 0;

  // Machines that run, or will: their provider ids.
  virtual std::vector<std::string> running() const = 0;
};

std::unique_ptr<CloudCase> simulated_cloud();
std::unique_ptr<CloudCase> kwok_cloud();
std::unique_ptr<CloudCase> ec2_cloud();
std::unique_ptr<CloudCase> cloud_of_jobs();

// An order's items.
inline std::vector<model::LaunchItem> items_of(std::size_t claims) {
  std::vector<model::LaunchItem> items;
  for (std::size_t i = 0; i < claims; ++i) {
    const std::string number = std::to_string(i);
    items.push_back({model::ClaimUid("uid-" + number), model::ClaimName("pool-" + number), 1});
  }
  return items;
}

}  // namespace karst::cloud
