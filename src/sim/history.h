// What really happened, kept for the checkers: every instance, claim, order, message and
// acknowledgement, with its time. Written by the world, read by tests; nothing in the world decides
// by it. Times are unix milliseconds, -1 is "not yet".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/cloud.h"
#include "model/ids.h"
#include "ports/command_port.h"

namespace karst::sim {

struct InstanceRecord {
  model::Instance instance;
  model::PoolName pool;
  model::Position command;
  std::int64_t launched_at = -1;
  std::int64_t gone_at = -1;  // no longer running: terminated, interrupted or killed
  std::string end;            // why
  bool late = false;          // came after the answer had said "unclear"
};

struct ClaimRecord {
  model::ClaimUid uid;
  model::ClaimName name;
  model::PoolName pool;
  std::int64_t created_at = -1;
  std::int64_t deleting_at = -1;  // deletionTimestamp was set
  std::int64_t removed_at = -1;
};

struct SubmissionRecord {
  ports::IssuedCommand command;
  std::int64_t at = 0;
  std::uint64_t durable_end =
      0;  // first log position that was not durable when the command reached the world
};

struct MessageRecord {
  std::string id;
  std::int64_t sent_at = 0;
  std::int64_t acknowledged_at = -1;
  std::uint64_t durable_end = 0;  // as above, when it was acknowledged
};

struct History {
  std::map<std::string, InstanceRecord> instances;  // by provider id
  std::map<std::string, ClaimRecord> claims;        // by uid
  std::vector<SubmissionRecord> submissions;
  std::map<std::string, MessageRecord> messages;  // by message id
};

}  // namespace karst::sim
