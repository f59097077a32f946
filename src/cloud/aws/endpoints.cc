#include "cloud/aws/endpoints.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "cloud/aws/url.h"

namespace karst::cloud::aws {
namespace {

using base::Kind;

constexpr ServiceFacts kFacts[] = {
    {Service::kEc2, "ec2", "EC2", "ec2", Protocol::kEc2Query, "2016-11-15"},
    {Service::kSts, "sts", "STS", "sts", Protocol::kQuery, "2011-06-15"},
    {Service::kIam, "iam", "IAM", "iam", Protocol::kQuery, "2010-05-08"},
    {Service::kSqs, "sqs", "SQS", "sqs", Protocol::kJson10, "AmazonSQS"},
    {Service::kSsm, "ssm", "SSM", "ssm", Protocol::kJson11, "AmazonSSM"},
    {Service::kPricing, "api.pricing", "PRICING", "pricing", Protocol::kJson11,
     "AWSPriceListService"},
    {Service::kEks, "eks", "EKS", "eks", Protocol::kRestJson, ""},
    {Service::kZonalShift, "arc-zonal-shift", "ARC_ZONAL_SHIFT", "arc-zonal-shift",
     Protocol::kRestJson, ""},
};
static_assert(std::size(kFacts) == kServices);

struct Partition {
  std::string_view prefix;  // of its regions
  std::string_view name;
  std::string_view suffix;
  std::string_view dual_suffix;    // empty: it has none
  std::string_view global_region;  // where IAM is signed for
};
// Sorted so that the first prefix that fits is the right one.
constexpr Partition kPartitions[] = {
    {"cn-", "aws-cn", "amazonaws.com.cn", "api.amazonwebservices.com.cn", "cn-north-1"},
    {"us-gov-", "aws-us-gov", "amazonaws.com", "api.aws", "us-gov-west-1"},
    {"us-isob-", "aws-iso-b", "sc2s.sgov.gov", "api.aws.scloud", "us-isob-east-1"},
    {"us-isof-", "aws-iso-f", "csp.hci.ic.gov", "", "us-isof-south-1"},
    {"eu-isoe-", "aws-iso-e", "cloud.adc-e.uk", "", "eu-isoe-west-1"},
    {"us-iso-", "aws-iso", "c2s.ic.gov", "api.aws.ic.gov", "us-iso-east-1"},
    {"eusc-", "aws-eusc", "amazonaws.eu", "api.amazonwebservices.eu", "eusc-de-east-1"},
    {"", "aws", "amazonaws.com", "api.aws", "us-east-1"},
};

const Partition& find_partition(std::string_view region) {
  for (const Partition& partition : kPartitions)
    if (region.starts_with(partition.prefix)) return partition;
  KARST_CHECK(false, "the last prefix fits every region");
  return kPartitions[0];
}

bool is_region(std::string_view text) {
  return !text.empty() && text.size() <= 63 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '-';
         });
}

bool switched(const Settings& settings, const std::string& variable, std::string_view key) {
  if (settings.variable(variable)) return settings.switched_on(variable);
  const auto value = settings.profile_value(key);
  return value && (*value == "true" || *value == "True");
}

// GovCloud's ordinary hosts of these services are its FIPS ones.
bool plain_is_fips(Service service, const Partition& partition) {
  return partition.name == "aws-us-gov" && service != Service::kPricing &&
         service != Service::kZonalShift;
}

std::string iam_host(const Partition& partition, bool fips, bool dual) {
  if (partition.name == "aws-us-gov")
    return dual ? "iam.us-gov.api.aws" : "iam.us-gov.amazonaws.com";
  if (partition.name == "aws")
    return std::string(fips ? "iam-fips" : "iam") + (dual ? ".global.api.aws" : ".amazonaws.com");
  return "iam." + std::string(partition.global_region) + "." + std::string(partition.suffix);
}

std::string pricing_region(std::string_view region) {
  if (region.starts_with("ap-")) return "ap-south-1";
  if (region.starts_with("cn-")) return "cn-northwest-1";
  if (region.starts_with("eu-")) return "eu-central-1";
  return "us-east-1";
}

std::string host_of(Service service, const std::string& region, bool fips, bool dual) {
  const Partition& partition = find_partition(region);
  if (service == Service::kIam) return iam_host(partition, fips, dual);
  const std::string tail =
      "." + region + "." + std::string(dual ? partition.dual_suffix : partition.suffix);
  const std::string name(facts_of(service).name);
  if (!fips || (!dual && plain_is_fips(service, partition))) return name + tail;
  if (service == Service::kEks && !dual && partition.name == "aws") return "fips.eks" + tail;
  return name + "-fips" + tail;
}

base::Result<Endpoint> configured(Endpoint endpoint, const std::string& text,
                                  const std::string& place) {
  const auto url = split_url(text);
  if (!url || !url->query.empty() || url->path != "/")
    return base::fail(Kind::kInvalid, place +
                                          ": expected http://HOST[:PORT] or https://HOST[:PORT]"
                                          " without path, user or query");
  endpoint.url = url->scheme + "://" + url->authority;
  endpoint.host = url->authority;
  return endpoint;
}

}  // namespace

const ServiceFacts& facts_of(Service service) {
  const ServiceFacts& facts = kFacts[static_cast<int>(service)];
  KARST_CHECK(facts.service == service, "the table of services is in their order");
  return facts;
}

std::string_view partition_of(std::string_view region) {
  return find_partition(region).name;
}

base::Result<Endpoint> endpoint_of(Service service, const std::string& region,
                                   const Settings& settings) {
  if (!is_region(region))
    return base::fail(Kind::kInvalid, "\"" + region.substr(0, 64) +
                                          "\" is no AWS region; expected one like eu-central-1 in "
                                          "AWS_REGION or in the profile's `region`");
  const Partition& partition = find_partition(region);
  Endpoint endpoint;
  endpoint.service = service;
  endpoint.signing_region = service == Service::kIam       ? std::string(partition.global_region)
                            : service == Service::kPricing ? pricing_region(region)
                                                           : region;
  if (!settings.switched_on("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")) {
    const std::string own = "AWS_ENDPOINT_URL_" + std::string(facts_of(service).variable);
    for (const std::string& name : {own, std::string("AWS_ENDPOINT_URL")})
      if (const auto url = settings.variable(name)) return configured(endpoint, *url, name);
    if (const auto url = settings.profile_value("endpoint_url"))
      return configured(endpoint, *url,
                        settings.files + ": endpoint_url of " + settings.profile_name);
  }
  const bool fips = switched(settings, "AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint");
  const bool dual = switched(settings, "AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint");
  if (dual && partition.dual_suffix.empty())
    return base::fail(Kind::kInvalid, "AWS_USE_DUALSTACK_ENDPOINT: the partition " +
                                          std::string(partition.name) + " of " + region +
                                          " has no such endpoints; unset it");
  const std::string& in = service == Service::kPricing ? endpoint.signing_region : region;
  endpoint.host = host_of(service, in, fips, dual);
  endpoint.url = "https://" + endpoint.host;
  return endpoint;
}

}  // namespace karst::cloud::aws
