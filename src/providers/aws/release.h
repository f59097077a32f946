// What goes with a node class that is deleted: its launch templates, whoever of karst and Karpenter
// made them, by the tags of cluster and class, and the instance profiles that were made for its
// roles, by path and tags. As the questions of selectors.h: who sends the steps keeps the answers
// by the step's key, and comes again until there is no step left. Everything is idempotent; what is
// gone already is no error. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/cluster.h"
#include "providers/aws/selectors.h"

namespace karst::providers::aws {

struct ReleaseSubject {
  std::string name;
  std::string uid;
  bool has_role = false;  // profiles are made for it
};

std::string encode_release(const model::NodeClass& node_class);
// Errors: kInvalid when they are not what encode_release writes.
base::Result<ReleaseSubject> read_release(std::string_view bytes);

struct ReleaseStep {
  std::string key;
  Request request;
  bool reads = true;  // all pages of the answer are wanted; else it deletes, and they are not
};

// The next one; nullopt: everything is gone.
std::optional<ReleaseStep> next_release(const ReleaseSubject& subject, const Cluster& cluster,
                                        const Answers& answers);

// Whether this answer of a step lets the next one follow: a success that can be read, or nothing to
// do it to.
bool release_goes_on(const ReleaseSubject& subject, const ReleaseStep& step, const Answer& answer);

}  // namespace karst::providers::aws
