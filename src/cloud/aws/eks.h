// What EKS knows of the cluster and a machine must be told to join it: asked once, at the start.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cloud/aws/client.h"
#include "http/waiting.h"
#include "providers/aws/resolved.h"

namespace karst::cloud::aws {

inline constexpr int kEksTriesMax = 5;  // of a service that fails or is not reached
inline constexpr std::int64_t kEksPauseMillis = 1'000;

// `given` with what is empty in it filled from an answer of eks:DescribeCluster, and with EKS's
// version if it is to be that one. Errors: kInvalid:
// it is none. Pure.
base::Result<providers::aws::Cluster> with_eks(providers::aws::Cluster given,
                                               std::string_view answer);

// The same, asked of `given.name`; blocks the calling thread, which must not be the transport's,
// until `give_up`. Errors: kDenied: a person must grant or mend something; kRetry: no answer.
base::Result<providers::aws::Cluster> ask_eks(Client& client, const providers::aws::Cluster& given,
                                              const http::GiveUp& give_up);

}  // namespace karst::cloud::aws
