#include "kube/lease_holder.h"

#include <chrono>
#include <utility>

namespace karst::kube {

LeaseHolder::LeaseHolder(Client& client, LeaseName name, ports::FactSink& sink,
                         const base::Clock& clock, Told told)
    : client_(client), name_(std::move(name)), sink_(sink), clock_(clock), told_(std::move(told)) {}

LeaseProtocol::Now LeaseHolder::moment() const {
  return {clock_.monotonic_millis(), clock_.wall().value()};
}

void LeaseHolder::start(std::uint64_t epoch_floor) {
  client_.after(0, [this, epoch_floor] {
    protocol_ = std::make_unique<LeaseProtocol>(name_, epoch_floor);
    carry_out(protocol_->start(moment()));
  });
}

void LeaseHolder::carry_out(const LeaseProtocol::Step& step) {
  note();
  if (standing_down_) return;
  if (!step.request) {
    client_.after(step.wait_millis, [this] {
      if (!standing_down_) carry_out(protocol_->timer(moment()));
    });
    return;
  }
  asking_ = true;
  send(*step.request, [this](const http::Response& response) {
    asking_ = false;
    if (released_ || response.failure == http::Failure::kCancelled) return;
    const bool answered = response.failure == http::Failure::kNone;
    LeaseProtocol::Answer answer{answered ? response.status : 0, response.body, {}};
    if (!response.ok()) answer.error = failure_text(response);
    carry_out(protocol_->answered(moment(), answer));
    if (standing_down_) standing_down_->set_value();
  });
}

void LeaseHolder::send(const LeaseProtocol::Request& request, http::Transport::Done done) {
  const std::string all =
      "/apis/coordination.k8s.io/v1/namespaces/" + escaped(name_.namespace_name) + "/leases";
  const std::string one = all + "/" + escaped(name_.name);
  Call call;
  call.path = request.kind == LeaseProtocol::Request::Kind::kCreate ? all : one;
  if (request.kind == LeaseProtocol::Request::Kind::kCreate) call.method = http::Method::kPost;
  if (request.kind == LeaseProtocol::Request::Kind::kUpdate) call.method = http::Method::kPut;
  call.body = request.body;
  call.timeout_millis = request.timeout_millis;
  call.urgent = true;
  client_.send(std::move(call), std::move(done));
}

// Tells what has changed since it was last told.
void LeaseHolder::note() {
  const std::uint64_t epoch = protocol_->epoch();
  {
    std::lock_guard lock(mutex_);
    epoch_ = epoch;
    deadline_millis_ = protocol_->deadline();
  }
  if (epoch != noted_epoch_) {
    const std::uint64_t before = std::exchange(noted_epoch_, epoch);
    if (before != 0) {
      sink_.offer({events::LeadershipLost{before}, clock_.wall(), ""});
      told_.notice(false, "the lease " + name_.namespace_name + "/" + name_.name +
                              " was lost: nothing of epoch " + std::to_string(before) +
                              " is sent any more, this replica stands by");
    }
    if (epoch != 0 && !standing_down_) {
      sink_.offer({events::EpochOpened{epoch, name_.identity}, clock_.wall(), ""});
      told_.won();
      told_.notice(true, "this replica leads: epoch " + std::to_string(epoch) + " of the lease " +
                             name_.namespace_name + "/" + name_.name);
    }
  }
  const std::string& holder = protocol_->holder();
  if (holder != noted_holder_ && !holder.empty() && holder != name_.identity)
    told_.notice(true, "this replica stands by: " + holder + " holds the lease " +
                           name_.namespace_name + "/" + name_.name);
  noted_holder_ = holder;
  const std::string& trouble = protocol_->trouble();
  if (trouble == noted_trouble_) return;
  noted_trouble_ = trouble;
  if (!trouble.empty())
    told_.notice(false, "the lease " + name_.namespace_name + "/" + name_.name +
                            " cannot be read or written at the moment: " + trouble);
}

void LeaseHolder::stand_down() {
  const auto none_under_way = std::make_shared<std::promise<void>>();
  auto waiting = none_under_way->get_future();
  const auto taken_in = std::make_shared<std::promise<void>>();
  client_.after(0, [this, none_under_way, taken_in] {
    standing_down_ = none_under_way;
    if (!asking_) standing_down_->set_value();
    taken_in->set_value();
  });
  taken_in->get_future().wait();  // or the next answer would still be told
  waiting.wait_for(std::chrono::milliseconds(kReleaseMillis));
}

void LeaseHolder::release() {
  auto given_back = std::make_shared<std::promise<void>>();
  auto waiting = given_back->get_future();
  client_.after(0, [this, given_back] {
    released_ = true;
    const auto request = protocol_ ? protocol_->release(moment()) : std::nullopt;
    {
      std::lock_guard lock(mutex_);
      epoch_ = 0;
    }
    if (!request) return given_back->set_value();
    send(*request, [given_back](const http::Response&) { given_back->set_value(); });
  });
  waiting.wait_for(std::chrono::milliseconds(kReleaseMillis));
}

std::int64_t LeaseHolder::send_deadline_monotonic_millis(std::uint64_t epoch) const {
  std::lock_guard lock(mutex_);
  return epoch != 0 && epoch == epoch_ ? deadline_millis_ : INT64_MIN;
}

std::function<bool()> LeaseHolder::guard() const {
  std::lock_guard lock(mutex_);
  return [this, epoch = epoch_] {
    return clock_.monotonic_millis() < send_deadline_monotonic_millis(epoch);
  };
}

}  // namespace karst::kube
