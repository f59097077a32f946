// The lease protocol under any answers at any times: bytes choose the status, the body (a lease as
// the server has it, or what comes) and how much time passes. A term is only ever won by an
// accepted write, is over at its deadline, never lasts longer than the write allows, and its number
// only grows; each step is one request or one wait; what is written is a lease with our name.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <source_location>
#include <string>

#include "kube/lease_protocol.h"

namespace {

using karst::kube::LeaseProtocol;
using Kind = LeaseProtocol::Request::Kind;

constexpr std::uint64_t kFloor = 5;

void require(bool condition, std::source_location at = std::source_location::current()) {
  if (condition) return;
  std::fprintf(stderr, "fuzz_lease.cc:%u: this does not hold\n", static_cast<unsigned>(at.line()));
  std::abort();
}

std::string lease_of(const char* holder, int transitions, int version, int seconds) {
  return nlohmann::json{{"metadata", {{"resourceVersion", std::to_string(version)}}},
                        {"spec",
                         {{"holderIdentity", holder},
                          {"leaseTransitions", transitions},
                          {"leaseDurationSeconds", seconds},
                          {"renewTime", std::to_string(version)}}}}
      .dump();
}

class Run {
 public:
  Run(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  void go() {
    follow(protocol_.start({now_, now_}));
    while (at_ + 4 < size_) {
      now_ +=
          next() * (next() % 8 == 0 ? 1'000 : 10);  // up to four minutes, or stopped for as long
      if (!asked_) {
        follow(protocol_.timer({now_, now_}));
      } else if (next() % 64 == 0) {
        const auto released = protocol_.release({now_, now_});
        if (released) require_lease(released->body, "");
        return require(protocol_.epoch() == 0);  // nothing is asked of it after that
      } else {
        answer();
      }
      check_term();
    }
  }

 private:
  int next() { return at_ < size_ ? data_[at_++] : 0; }

  void answer() {
    const int choice = next();
    static constexpr int kStatuses[] = {200, 200, 201, 404, 409, 403, 500, 0};
    const int status = kStatuses[choice % 8];
    std::string body;
    if (choice % 32 < 24) {
      static constexpr const char* kHolders[] = {"me", "other", "", "me_too"};
      body = lease_of(kHolders[next() % 4], next(), next() % 8, next() % 32);
    } else {
      const std::size_t length = std::min<std::size_t>(next(), size_ - at_);
      body.assign(reinterpret_cast<const char*>(data_) + at_, length);
      at_ += length;
    }
    const bool write = *asked_ != Kind::kGet;
    const std::uint64_t before = protocol_.epoch();
    follow(protocol_.answered({now_, now_}, {status, body, "error"}));
    const std::uint64_t after = protocol_.epoch();
    if (after != before && after != 0) {
      require(write && (status == 200 || status == 201));
      require(after > kFloor && after > last_);
      last_ = after;
    }
    if (after != 0 && write) require(protocol_.deadline() >= before_deadline_);
    before_deadline_ = after == 0 ? 0 : protocol_.deadline();
  }

  void follow(const LeaseProtocol::Step& step) {
    require(step.request.has_value() == (step.wait_millis == 0));
    require(step.wait_millis >= 0 && step.wait_millis <= karst::kube::kLeaseRetryMillis);
    asked_.reset();
    if (!step.request) return;
    asked_ = step.request->kind;
    require(step.request->timeout_millis > 0 &&
            step.request->timeout_millis <= karst::kube::kLeaseRequestMillis);
    if (*asked_ == Kind::kGet) return require(step.request->body.empty());
    require_lease(step.request->body, "me");
    written_at_ = now_;
  }

  void require_lease(const std::string& body, const char* holder) {
    const auto object = nlohmann::json::parse(body, nullptr, false);
    require(object.is_object() && object["spec"].is_object() && object["metadata"].is_object());
    require(object["spec"]["holderIdentity"] == holder);
  }

  // A term that counts has time left, and no more than the last write that was sent gives it.
  void check_term() const {
    if (protocol_.epoch() == 0) return;
    require(protocol_.deadline() > now_ || asked_);
    require(protocol_.deadline() <= written_at_ + karst::kube::kLeaseRenewDeadlineMillis);
  }

  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
  std::int64_t now_ = 0;
  std::int64_t written_at_ = 0;
  std::int64_t before_deadline_ = 0;
  std::uint64_t last_ = 0;
  std::optional<Kind> asked_;
  LeaseProtocol protocol_{{"n", "l", "me"}, kFloor};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Run(data, size).go();
  return 0;
}
