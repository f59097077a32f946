// Where each service answers and how it is spoken to. Hosts come from this table and from what the
// operator configured, never from a node class, a message or an answer. The rules are the vendor's
// ("AWS Regions and endpoints"; "Service-specific endpoints" of the SDK reference), which
// tests/aws/calls.sh holds against the vendor's own Python client for every partition. Pure.
//
// A configured URL goes first: AWS_ENDPOINT_URL_<SERVICE>, AWS_ENDPOINT_URL, `endpoint_url` of the
// profile, unless AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true. Then AWS_USE_FIPS_ENDPOINT and
// AWS_USE_DUALSTACK_ENDPOINT (or the profile's keys of these names) choose the host. STS is always
// asked in the own region, whatever AWS_STS_REGIONAL_ENDPOINTS says.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/aws/settings.h"

namespace karst::cloud::aws {

enum class Service { kEc2, kSts, kIam, kSqs, kSsm, kPricing, kEks, kZonalShift };
inline constexpr int kServices = 8;

enum class Protocol { kEc2Query, kQuery, kJson10, kJson11, kRestJson };

struct ServiceFacts {
  Service service;
  std::string_view name;      // in the host
  std::string_view variable;  // AWS_ENDPOINT_URL_…
  std::string_view signing_name;
  Protocol protocol;
  std::string_view version;  // Query: Version=…; JSON: what X-Amz-Target begins with
};
const ServiceFacts& facts_of(Service service);

// "aws", "aws-cn", …: the second part of an ARN.
std::string_view partition_of(std::string_view region);

struct Endpoint {
  Service service = Service::kEc2;
  std::string url;  // without a path
  std::string host;
  std::string signing_region;
};

// Errors: kInvalid: a region or a configured URL that is none, or a switch that this partition
// does not know.
base::Result<Endpoint> endpoint_of(Service service, const std::string& region,
                                   const Settings& settings);

}  // namespace karst::cloud::aws
