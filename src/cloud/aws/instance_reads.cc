#include "cloud/aws/instance_reads.h"

#include <utility>

#include "cloud/aws/outcome.h"

namespace karst::cloud::aws {
namespace {

namespace pure = providers::aws;
using Found = std::vector<pure::FoundInstance>;

CallError unreadable(std::string message) {
  CallError error;
  error.trouble = Trouble::kMalformed;
  error.message = std::move(message);
  return error;
}

// The instances of an answer, or what is wrong with it.
std::pair<CallError, Found> read(const Answer& answer) {
  if (!answer.ok()) return {answer.error, {}};
  auto found = pure::decode_instances({{answer.body}});
  if (!found) return {unreadable(found.error().message), {}};
  return {CallError(), std::move(*found)};
}

const pure::FoundInstance* find(const Found& found, const std::string& id) {
  for (const pure::FoundInstance& one : found)
    if (pure::instance_id(one.instance.provider_id) == id) return &one;
  return nullptr;
}

}  // namespace

void InstanceReads::ask(const std::string& id, Take take) {
  waiting_[id].push_back(std::move(take));
  pump();
}

void InstanceReads::pump() {
  while (under_way_ < kReadsAtOnceMax && !waiting_.empty()) {
    Asked asked;
    while (!waiting_.empty() && asked.size() < pure::kIdsPerFilterMax)
      asked.insert(waiting_.extract(waiting_.begin()));
    if (asked.size() > 1)
      ask_many(std::move(asked));
    else
      ask_one(asked.begin()->first, std::move(asked.begin()->second));
  }
}

void InstanceReads::ended() {
  --under_way_;
  pump();
}

void InstanceReads::ask_one(const std::string& id, std::vector<Take> takes) {
  ++under_way_;
  client_.send(call_of(pure::describe_instances({id}), Purpose::kRead),
               [this, id, takes = std::move(takes)](const Answer& answer) {
                 const auto [error, found] = read(answer);
                 const pure::FoundInstance* one = found.size() == 1 ? find(found, id) : nullptr;
                 const bool proves_nothing = one == nullptr && error.trouble == Trouble::kNone;
                 for (const Take& take : takes)
                   take(proves_nothing
                            ? unreadable("DescribeInstances: the instance is not in its answer")
                            : error,
                        one);
                 ended();
               });
}

// Through a filter, so that one unknown id does not fail all. What is missing from its answer is
// not proven absent: that is asked for by itself, at once, and the client's budget paces it.
void InstanceReads::ask_many(Asked asked) {
  ++under_way_;
  std::vector<std::string> ids;
  for (const auto& [id, takes] : asked) ids.push_back(id);
  client_.send(call_of(pure::filter_instances(ids), Purpose::kRead),
               [this, asked = std::move(asked)](const Answer& answer) {
                 const auto [error, found] = read(answer);
                 for (const auto& [id, takes] : asked) {
                   const pure::FoundInstance* one = find(found, id);
                   if (one == nullptr &&
                       (error.trouble == Trouble::kNone || error.trouble == Trouble::kNotFound))
                     ask_one(id, takes);
                   else
                     for (const Take& take : takes) take(error, one);
                 }
                 ended();
               });
}

}  // namespace karst::cloud::aws
