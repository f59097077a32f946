#include "cloud/aws/eks.h"

#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "cloud/aws/url.h"

namespace karst::cloud::aws {
namespace {

using nlohmann::json;
using nlohmann::literals::json_literals::operator""_json_pointer;

void fill(std::string& field, const json& answer, const char* pointer) {
  const json::json_pointer at(pointer);
  if (field.empty() && answer.contains(at) && answer[at].is_string())
    field = answer[at].get<std::string>();
}

// None: given up.
std::optional<Answer> ask_once(Client& client, const std::string& name,
                               const http::GiveUp& give_up) {
  Call call;
  call.service = Service::kEks;
  call.action = "DescribeCluster";
  call.path = "/clusters/" + uri_encode(name);
  const auto promise = std::make_shared<std::promise<Answer>>();
  auto coming = promise->get_future();
  client.send(std::move(call), [promise](const Answer& answer) { promise->set_value(answer); });
  if (!http::comes(coming, give_up)) return std::nullopt;
  return coming.get();
}

bool passing(Trouble trouble) {
  return trouble == Trouble::kThrottled || trouble == Trouble::kServer ||
         trouble == Trouble::kUnclear || trouble == Trouble::kNotSent;
}

// As EKS gives it to the cluster's DNS: the tenth address of a range of services of IPv4, the
// address a of one of IPv6. Empty: nothing is known of the range.
std::string dns_in(const std::string& cidr, bool ipv6) {
  const std::string first = cidr.substr(0, cidr.find('/'));
  if (ipv6) return first.ends_with("::") ? first + "a" : "";
  const std::size_t dot = first.rfind('.');
  return dot == std::string::npos ? "" : first.substr(0, dot) + ".10";
}

}  // namespace

base::Result<providers::aws::Cluster> with_eks(providers::aws::Cluster given,
                                               std::string_view answer) {
  const json body = json::parse(answer, nullptr, /*allow_exceptions=*/false);
  if (!body.is_object() || !body.contains("cluster"))
    return base::fail(base::Kind::kInvalid, "eks:DescribeCluster: its answer names no cluster");
  fill(given.endpoint, body, "/cluster/endpoint");
  fill(given.ca, body, "/cluster/certificateAuthority/data");
  if (given.version_of_eks && body.contains("/cluster/version"_json_pointer)) {
    given.version.clear();
    fill(given.version, body, "/cluster/version");
  }
  fill(given.arn, body, "/cluster/arn");
  std::string family;
  fill(family, body, "/cluster/kubernetesNetworkConfig/ipFamily");
  given.ipv6 = family == "ipv6";
  fill(given.service_cidr, body,
       given.ipv6 ? "/cluster/kubernetesNetworkConfig/serviceIpv6Cidr"
                  : "/cluster/kubernetesNetworkConfig/serviceIpv4Cidr");
  if (given.dns_ip.empty()) given.dns_ip = dns_in(given.service_cidr, given.ipv6);
  return given;
}

base::Result<providers::aws::Cluster> ask_eks(Client& client, const providers::aws::Cluster& given,
                                              const http::GiveUp& give_up) {
  const std::string what = "eks:DescribeCluster of " + given.name;
  for (int attempt = 1;; ++attempt) {
    const auto answer = ask_once(client, given.name, give_up);
    if (!answer) break;
    if (answer->ok()) return with_eks(given, answer->body);
    const bool again = passing(answer->error.trouble);
    if (!again || attempt == kEksTriesMax)
      return base::fail(again ? base::Kind::kRetry : base::Kind::kDenied,
                        told(answer->error, what));
    const auto paused = std::make_shared<std::promise<void>>();
    client.after(kEksPauseMillis, [paused] { paused->set_value(); });
    if (auto over = paused->get_future(); !http::comes(over, give_up)) break;
  }
  return base::fail(base::Kind::kRetry, what + ": given up");
}

}  // namespace karst::cloud::aws
