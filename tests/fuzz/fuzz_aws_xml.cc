// Any bytes as an answer of EC2 or IAM; the first one ('0' to '5' in the seeds) says who reads it.
// Refused, or read within its bounds; never a crash. A list whose pages come twice is the same
// list; no machine has two claims; what was found can be written down.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "cloud/aws/pages.h"
#include "providers/aws/fleet.h"
#include "providers/aws/images.h"
#include "providers/aws/instance_types.h"
#include "providers/aws/resolution.h"

namespace {

using namespace karst;
using namespace karst::providers::aws;

void require(bool condition) {
  if (!condition) std::abort();
}

// An order of three claims, as encode_launch writes it but for what its answer does not need.
const model::Launch& order() {
  static const model::Launch kOrder = [] {
    model::Launch launch;
    for (const char* uid : {"uid-0", "uid-1", "uid-2"})
      launch.items.push_back({model::ClaimUid(uid), model::ClaimName(uid), 1});
    launch.offers = {{"m5.large", "us-east-1a", "spot", 1, ""},
                     {"m5.large", "us-east-1b", "spot", 1, ""}};
    launch.request = R"({"templates": [{}], "capacityType": "spot", "commandTag": "log-7",
      "fleet": {"LaunchTemplateConfigs": [{"Overrides": [{"InstanceType": "m5.large",
      "SubnetId": "subnet-a", "AvailabilityZone": "us-east-1a"}]}]},
      "sizes": {"m5.large": {"capacity": {"cpu": 2000}, "allocatable": {"cpu": 1900}}}})";
    return launch;
  }();
  return kOrder;
}

void read_fleet(std::string_view text) {
  const auto answer = decode_fleet(text, order());
  if (!answer) return require(answer.error().kind == base::Kind::kUnclear);
  const bool all = answer->instances.size() >= order().items.size();
  require(all == (answer->code == model::RefusalCode::kNone));
  require(answer->message.size() <= model::kOutcomeMessageMax);
  require(std::is_sorted(answer->exhausted.begin(), answer->exhausted.end()));
  require(answer->exhausted.size() <= order().offers.size());
  for (std::size_t i = 0; i < answer->instances.size(); ++i) {
    require(!instance_id(answer->instances[i].provider_id).empty());
    require(i == 0 || answer->instances[i - 1].provider_id != answer->instances[i].provider_id);
  }
}

void read_instances(const std::string& text) {
  const std::vector<std::string> once = {text}, twice = {text, text};
  const auto first = decode_instances(once);
  const auto second = decode_instances(twice);
  require(first.has_value() == second.has_value());
  if (!first) return;
  require(first->size() == second->size());
  for (std::size_t i = 0; i < first->size(); ++i) {
    const model::Instance &one = (*first)[i].instance, &other = (*second)[i].instance;
    require(one.provider_id == other.provider_id && one.claim == other.claim);
    const std::string id = instance_id(one.provider_id);
    require(!id.empty() && (i == 0 || instance_id((*first)[i - 1].instance.provider_id) != id));
  }
}

void read_catalogue(std::string_view text) {
  DiscoveredTypes types;
  const bool has_types = types.add_types(text).has_value();
  const bool has_offerings = types.add_offerings(text).has_value();
  (void)types.add_spot_prices(text);
  require(types.facts().size() <= kTypesMax);
  if (has_types && has_offerings) (void)types.catalogue("us-east-1");
}

// `write_down`: which costs four times what reading does, so that it is done for one input of 16.
void read_selected(const std::string& text, bool write_down) {
  static const NodeClassSubject kSubject = [] {
    model::NodeClass node_class;
    node_class.ref = {"karpenter.k8s.aws", "EC2NodeClass", "default"};
    node_class.spec_json = R"({"amiFamily": "AL2023", "amiSelectorTerms": [{"id": "ami-1"}],
      "role": "nodes", "subnetSelectorTerms": [{"id": "subnet-1"}],
      "securityGroupSelectorTerms": [{"id": "sg-1"}]})";
    auto read = read_resolve(encode_resolve(node_class));
    require(read.has_value());
    return *read;
  }();
  const Cluster cluster;
  Answers answers;
  for (int round = 0; round < 10; ++round) {
    const auto open = questions(kSubject, cluster, answers);
    if (open.empty()) break;
    for (const Question& question : open) answers[question.key] = {{text}, "", ""};
  }
  const Resolution found = resolve(kSubject, cluster, answers, 1'000);
  if (!write_down) return;
  const std::string json = to_json(found, 1);
  require(read_resolved(json).has_value());
  require(!conditions_of(json).empty());
}

// Nearly every mutation changes the sum; a length, or one byte, stays as the corpus has it, and
// what writes more is kept more often.
bool one_of_16(std::string_view text) {
  return std::accumulate(text.begin(), text.end(), 0u) % 16 == 0;
}

void read_protocol(const std::string& text) {
  using namespace karst::cloud::aws;
  for (const Protocol protocol : {Protocol::kEc2Query, Protocol::kQuery})
    (void)next_token(text, protocol);
  for (const int status : {400, 500}) {
    http::Response response;
    response.status = status;
    response.body = text;
    const CallError error = read_error(response, 0);
    require(error.trouble != Trouble::kNone && error.message.size() <= kErrorTextMax);
    for (const unsigned char c : error.message) require(c >= ' ' && c != 0x7f);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 6) {
    case 0:
      read_fleet(text);
      break;
    case 1:
      read_instances(text);
      break;
    case 2:
      read_catalogue(text);
      break;
    case 3:
      read_selected(text, one_of_16(text));
      break;
    case 4:
      (void)read_images(text, 1'000);
      break;
    default:
      read_protocol(text);
  }
  return 0;
}
