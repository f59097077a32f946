#include "cloud/aws/queue.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "providers/aws/messages.h"

namespace karst::cloud::aws {
namespace {

using nlohmann::json;

constexpr std::size_t kCodeMax = 80;

std::string text_of(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_string()) return "";
  return object[key].get<std::string>();
}

std::size_t size_of(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_array() ? object[key].size()
                                                                              : 0;
}

// "ReceiptHandleIsInvalid"; of anything else that stands there only what a code may be made of.
std::string code_in(const json& failed) {
  std::string code = text_of(failed, "Code").substr(0, kCodeMax);
  std::erase_if(code, [](unsigned char c) { return std::isalnum(c) == 0 && c != '.'; });
  return code;
}

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

SqsQueue::SqsQueue(Client& client, ports::FactSink& sink, const base::Clock& clock,
                   std::string name, int receivers, Notice notice)
    : client_(client),
      sink_(sink),
      clock_(clock),
      name_(std::move(name)),
      receivers_(receivers),
      notice_(std::move(notice)) {
  KARST_CHECK(receivers >= 1 && receivers <= kReceiversMax, "1 to 16 receivers of the queue");
}

void SqsQueue::start() {
  client_.after(0, [this] { find_url(); });
}

void SqsQueue::find_url() {
  client_.send(Call{Service::kSqs, "GetQueueUrl", {{"QueueName", name_}}},
               [this](const Answer& answer) {
                 url_ = text_of(json::parse(answer.body, nullptr, false), "QueueUrl");
                 if (url_.empty())
                   return try_later(answer.ok() ? "GetQueueUrl: its answer names no queue"
                                                : told(answer.error, "GetQueueUrl"),
                                    [this] { find_url(); });
                 works();
                 for (int i = 0; i < receivers_; ++i) receive();
               });
}

void SqsQueue::receive() {
  if (stopped_) return;
  if (!leads()) return client_.after(kQueueGapMillis, [this] { receive(); });
  Call call{Service::kSqs,
            "ReceiveMessage",
            {{"QueueUrl", url_},
             {"MaxNumberOfMessages", kReceiveMessagesMax},
             {"WaitTimeSeconds", kReceiveWaitSeconds},
             {"VisibilityTimeout", kVisibilitySeconds},
             {"AttributeNames", {"SentTimestamp"}}}};
  call.timeout_millis = (kReceiveWaitSeconds + 15) * 1000;
  call.answer_bytes_max = 32u << 20;  // ten messages of 1 MiB, with their escapes
  client_.send(std::move(call), [this](const Answer& answer) { take(answer); });
}

void SqsQueue::take(const Answer& answer) {
  const json body = json::parse(answer.body, nullptr, false);
  if (!answer.ok() || !body.is_object())
    return try_later(answer.ok() ? "ReceiveMessage: its answer is no JSON object"
                                 : told(answer.error, "ReceiveMessage"),
                     [this] { receive(); });
  works();
  // What came for a leader that is none any more comes again, to the next one.
  if (leads() && body.contains("Messages") && body["Messages"].is_array())
    for (const json& message : body["Messages"]) {
      const json attributes = message.is_object() ? message.value("Attributes", json()) : json();
      const std::string receipt = text_of(message, "ReceiptHandle");
      // Without a receipt it could not be deleted; it comes again, whole.
      if (!receipt.empty())
        offer_message(text_of(message, "MessageId"), text_of(message, "Body"),
                      number_of(text_of(attributes, "SentTimestamp")), receipt);
    }
  receive();
}

void SqsQueue::offer_message(const std::string& id, const std::string& body,
                             std::int64_t sent_millis, const std::string& receipt) {
  providers::aws::QueueMessage message;
  message.id = id;
  message.body = body;
  message.received_millis = sent_millis;
  std::vector<model::Interruption> told = providers::aws::read_message(message);
  for (std::size_t i = 0; i < told.size() && !stopped_; ++i) {
    const bool last = i + 1 == told.size();
    stopped_ = !sink_.offer({events::InterruptionReceived{std::move(told[i])}, clock_.wall(),
                             last ? receipt : std::string()});
  }
}

void SqsQueue::try_later(const std::string& why, std::function<void()> again) {
  if (gap_millis_ == 0 && notice_)
    notice_(false, "the interruption queue " + name_ +
                       " cannot be asked, interruptions are not "
                       "heard of: " +
                       why);
  gap_millis_ = std::clamp(gap_millis_ * 2, kQueueGapMillis, kQueueGapMillisMax);
  client_.after(gap_millis_, std::move(again));
}

void SqsQueue::works() {
  if (gap_millis_ > 0 && notice_)
    notice_(true, "the interruption queue " + name_ + " can be asked again");
  gap_millis_ = 0;
}

void SqsQueue::acknowledge(const std::string& receipt) {
  const std::lock_guard lock(mutex_);
  if (receipts_.size() >= kReceiptsWaitingMax) return;  // its message comes again
  receipts_.push_back(receipt);
  if (std::exchange(flush_planned_, true)) return;
  client_.after(kDeleteGatherMillis, [this] { flush(); });
}

void SqsQueue::flush() {
  std::vector<std::string> receipts;
  {
    const std::lock_guard lock(mutex_);
    receipts.swap(receipts_);
    flush_planned_ = false;
  }
  if (!leads()) return;
  for (std::size_t first = 0; first < receipts.size(); first += kDeleteBatchMax) {
    const std::size_t end = std::min(first + kDeleteBatchMax, receipts.size());
    Tree entries = Tree::array();
    for (std::size_t i = first; i < end; ++i)
      entries.push_back({{"Id", std::to_string(i - first)}, {"ReceiptHandle", receipts[i]}});
    client_.send(
        Call{Service::kSqs, "DeleteMessageBatch", {{"QueueUrl", url_}, {"Entries", entries}}},
        [this](const Answer& answer) { take_deletions(answer); });
  }
}

// A receipt alone may be too old; nothing of a batch means that none will be.
void SqsQueue::take_deletions(const Answer& answer) {
  const json body = json::parse(answer.body, nullptr, false);
  const std::size_t gone = answer.ok() ? size_of(body, "Successful") : 0;
  deleted_ += gone;
  if (std::exchange(deletes_fail_, gone == 0) == (gone == 0) || !notice_) return;
  if (gone > 0) return notice_(true, "the interruption queue " + name_ + " deletes messages again");
  std::string why = "nothing was deleted";
  if (!answer.ok())
    why = told(answer.error, "DeleteMessageBatch");
  else if (size_of(body, "Failed") > 0)
    why = "DeleteMessageBatch: " + code_in(body["Failed"][0]);
  notice_(false,
          "the interruption queue " + name_ +
              " deletes no messages, each comes again and again until it is too old: " + why);
}

}  // namespace karst::cloud::aws
