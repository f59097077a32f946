// Looks at instances by their ids. While kReadsAtOnceMax calls are under way, further ids wait, and
// go together in the next call: hundreds of machines that are watched going away cost few calls.
// Everything happens on the transport's thread. Destroy the transport before the reads.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cloud/aws/client.h"
#include "providers/aws/fleet.h"

namespace karst::cloud::aws {

inline constexpr std::size_t kReadsAtOnceMax = 4;

class InstanceReads {
 public:
  explicit InstanceReads(Client& client) : client_(client) {}

  // `found` is the instance; nullptr: the error says why. kNotFound proves it absent, unless it is
  // young; of an answer that does not have it, which proves nothing, the trouble is kMalformed.
  using Take =
      std::function<void(const CallError& error, const providers::aws::FoundInstance* found)>;
  void ask(const std::string& id, Take take);

 private:
  using Asked = std::map<std::string, std::vector<Take>>;  // by id
  void pump();
  void ask_one(const std::string& id, std::vector<Take> takes);
  void ask_many(Asked asked);
  void ended();

  Client& client_;
  Asked waiting_;
  std::size_t under_way_ = 0;
};

}  // namespace karst::cloud::aws
