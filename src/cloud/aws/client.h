// Calls to one account and region: each is budgeted, signed, sent once, and its answer read. No
// retries: what came of the one attempt goes to the caller, with the class of trouble that says how
// to react, and whether it may have had its effect. Calls that the budget holds back wait here in
// the order of their purpose, for at most kBudgetWaitMillisMax. send() is for any thread; all else,
// `done` too, happens on the transport's thread. Destroy the transport before the client.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "cloud/aws/budget.h"
#include "cloud/aws/credentials.h"
#include "cloud/aws/endpoints.h"
#include "cloud/aws/request.h"
#include "cloud/aws/server_time.h"
#include "http/transport.h"

namespace karst::cloud::aws {

inline constexpr std::int64_t kBudgetWaitMillisMax = 10'000;
inline constexpr std::size_t kCallsWaitingMax = 10'000;  // per service and purpose

struct Answer {
  std::string body;  // of a success
  std::string request_id;
  CallError error;  // kNone: success
  bool ok() const { return error.trouble == Trouble::kNone; }
};

class Client {
 public:
  using Done = std::function<void(const Answer&)>;
  struct Parts {  // all outlive the client
    http::Transport* transport = nullptr;
    CredentialKeeper* keeper = nullptr;
    ServerTime* time = nullptr;
    const base::Clock* clock = nullptr;
  };
  // Errors: those of endpoint_of, for any service.
  static base::Result<std::unique_ptr<Client>> make(Parts parts, const Settings& settings,
                                                    const std::string& region,
                                                    const std::string& user_agent);

  void send(Call call, Done done);
  // Runs `action` on the transport's thread after so many milliseconds.
  void after(std::int64_t millis, std::function<void()> action);

  const std::string& region() const { return region_; }
  // Calls that left, by service and action; the transport's thread.
  const std::map<std::string, std::uint64_t>& sent() const { return sent_; }

 private:
  struct Waiting {
    Call call;
    Done done;
    std::int64_t until_monotonic_millis = 0;
  };
  struct Lane {  // one service
    Endpoint endpoint;
    Budget budget;
    std::array<std::deque<Waiting>, kPurposes> waiting{};
    std::uint64_t timer = 0;  // the one that counts
  };

  Client(Parts parts, std::string region, std::string user_agent);
  void enqueue(Call call, Done done);
  void pump(Lane& lane);
  void dispatch(Lane& lane, Call call, Done done);
  void send_signed(Lane& lane, const Call& call, Done done,
                   const CredentialKeeper::Current& credentials);
  Answer read(Lane& lane, const CredentialKeeper::Current& credentials, http::Response response);

  const Parts parts_;
  const std::string region_;
  const std::string user_agent_;
  std::deque<Lane> lanes_;  // by service
  std::map<std::string, std::uint64_t> sent_;
};

}  // namespace karst::cloud::aws
