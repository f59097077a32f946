// What a message of the interruption queue says: EventBridge events of EC2 and AWS Health as
// model::Interruptions. Input is hostile and comes from outside the account's control: any bytes
// give an answer, never a failure, and the work is bounded. What is nothing for us (another event,
// another shape, too large) is one interruption of kind kOther with a reason, so that it is logged
// once and deleted. Pure: `received_millis` is data. Shapes:
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/spot-instance-termination-notices.html
// https://docs.aws.amazon.com/health/latest/ug/aws-health-events-eventbridge-schema.html
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/cloud.h"

namespace karst::providers::aws {

inline constexpr std::size_t kMessageBytesMax = 1u << 20;  // SQS takes no more
// Machines of one AWS Health event; further ones are left out. The size of a message lets in three
// times as many, which would push all other messages out of what the state remembers.
inline constexpr std::size_t kEntitiesMax = 10'000;
inline constexpr std::int64_t kSpotWarningMillis = 120'000;

struct QueueMessage {
  std::string_view id;               // SQS's MessageId
  std::string_view body;             // as received
  std::int64_t received_millis = 0;  // SQS's SentTimestamp, unix; stands in for a missing `time`
};

// At least one. Ids: EventBridge's `id`, so that its second delivery is old news; with "/" and the
// instance where an event names several. SQS's where there is none.
std::vector<model::Interruption> read_message(const QueueMessage& message);

// The instance of a message, whose zone is not known: "aws:////i-0123", what model::machine_of()
// says of a node's provider id.
model::ProviderId provider_id_of(std::string_view instance);

// "i-" and 8 or 17 hexadecimal digits.
bool is_instance_id(std::string_view text);

}  // namespace karst::providers::aws
