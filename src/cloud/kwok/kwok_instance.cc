#include "cloud/kwok/kwok_instance.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/time.h"
#include "model/labels.h"
#include "providers/kwok/launch.h"

namespace karst::cloud {
namespace {

using nlohmann::json;

constexpr std::size_t kRequestBytesMax = 16u << 20;
constexpr std::size_t kListBytesMax = 64u << 20;
constexpr std::int64_t kAmountMax = std::int64_t{1} << 48;
constexpr std::string_view kPriceLabel =
    "eks-node-viewer/instance-price";  // dollars per hour, up to nine decimals
constexpr std::size_t kPriceTextMax = 18;

// Dollars as nano-dollars, exactly; 0 when it is no such text.
std::int64_t price_nanos(std::string_view text) {
  const auto point = text.find('.');
  std::string digits(text.substr(0, point));
  std::string fraction(point == std::string_view::npos ? std::string_view()
                                                       : text.substr(point + 1));
  if (fraction.size() > 9) return 0;
  fraction.append(9 - fraction.size(), '0');
  digits += fraction;
  std::int64_t nanos = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), nanos);
  const bool whole = read.ec == std::errc() && read.ptr == digits.data() + digits.size();
  return whole && nanos >= 0 && digits.size() <= kPriceTextMax ? nanos : 0;
}

// The value at `key` of an object; null when absent.
const json& field(const json& object, std::string_view key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto at = object.find(std::string(key));
  return at == object.end() ? kNull : *at;
}

std::string text(const json& object, std::string_view key) {
  const json& value = field(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

base::Result<model::Resources> read_resources(const json& status, std::string_view key) {
  model::Resources resources;
  for (const auto& [name, value] : field(status, key).items()) {
    const std::string quantity = value.is_string() ? value.get<std::string>() : value.dump();
    if (auto read = model::set_from_quantity(resources, name, quantity, model::Rounding::kDown);
        !read)
      return base::fail(read.error().with_context("status." + std::string(key) + "." + name));
    if (resources.amount(name) > kAmountMax)
      return base::fail(base::Kind::kInvalid,
                        "status." + std::string(key) + "." + name + ": too large");
  }
  return resources;
}

bool has_finalizer(const json& metadata) {
  for (const json& finalizer : field(metadata, "finalizers"))
    if (finalizer == std::string(model::kTerminationFinalizer)) return true;
  return false;
}

base::Result<KwokInstance> read_node(const json& node) {
  const json& metadata = field(node, "metadata");
  const json& annotations = field(metadata, "annotations");
  const json& labels = field(metadata, "labels");
  KwokInstance read;
  read.node_name = text(metadata, "name");
  read.node_uid = text(metadata, "uid");
  read.launch_token = text(annotations, kLaunchTokenAnnotation);
  read.has_finalizer = has_finalizer(metadata);
  model::Instance& instance = read.instance;
  instance.provider_id = model::ProviderId(text(field(node, "spec"), "providerID"));
  instance.claim = model::ClaimUid(text(annotations, kClaimUidAnnotation));
  instance.command_tag = text(annotations, model::kCommandIdAnnotation);
  const std::string attempt = text(annotations, kAttemptAnnotation);
  (void)std::from_chars(attempt.data(), attempt.data() + attempt.size(), instance.attempt);
  instance.offer = {text(labels, model::kInstanceTypeLabel), text(labels, model::kZoneLabel),
                    text(labels, model::kCapacityTypeLabel),
                    price_nanos(text(labels, kPriceLabel))};
  // A node that is being deleted and still has our finalizer waits for us to end it: it runs.
  const bool leaving = !text(metadata, "deletionTimestamp").empty() && !read.has_finalizer;
  instance.state = leaving ? model::InstanceState::kShuttingDown : model::InstanceState::kRunning;
  const json& status = field(node, "status");
  auto capacity = read_resources(status, "capacity");
  if (!capacity) return base::fail(capacity.error());
  auto allocatable = read_resources(status, "allocatable");
  if (!allocatable) return base::fail(allocatable.error());
  instance.capacity = std::move(*capacity);
  instance.allocatable = std::move(*allocatable);
  const auto created = base::parse_rfc3339(text(metadata, "creationTimestamp"));
  instance.launch_millis = created.value_or(0);
  if (read.node_name.empty() || read.node_uid.empty())
    return base::fail(base::Kind::kInvalid, "metadata.name or metadata.uid is missing");
  return read;
}

base::Result<json> parse(std::string_view bytes) {
  if (bytes.size() > kListBytesMax)
    return base::fail(base::Kind::kInvalid, "more than 64 MiB of JSON");
  json value = json::parse(bytes, nullptr, false);
  if (value.is_discarded()) return base::fail(base::Kind::kInvalid, "not JSON");
  return value;
}

}  // namespace

base::Result<KwokInstance> read_instance(std::string_view node_json) {
  const auto node = parse(node_json);
  if (!node) return base::fail(node.error());
  return read_node(*node);
}

base::Result<InstancePage> read_instance_page(std::string_view list_json) {
  const auto list = parse(list_json);
  if (!list) return base::fail(list.error());
  InstancePage page;
  const json& metadata = field(*list, "metadata");
  page.more = text(metadata, "continue");
  page.version = text(metadata, "resourceVersion");
  const json& items = field(*list, "items");
  if (page.version.empty() || (!items.is_array() && !items.is_null()))
    return base::fail(base::Kind::kInvalid, "the answer is no list of nodes");
  for (const json& item : items) {
    auto read = read_node(item);
    if (!read)
      return base::fail(read.error().with_context("node " + text(field(item, "metadata"), "name")));
    if (!read->instance.claim.empty()) page.instances.push_back(std::move(*read));
  }
  return page;
}

base::Result<std::vector<NodeToCreate>> split_request(std::string_view request) {
  if (request.size() > kRequestBytesMax)
    return base::fail(base::Kind::kInvalid, "a launch request of more than 16 MiB");
  const json nodes = json::parse(request, nullptr, false);
  if (!nodes.is_array() || nodes.empty() || nodes.size() > model::kLaunchItemsMax)
    return base::fail(base::Kind::kInvalid, "a launch request is a JSON array of 1 to 100 nodes");
  std::vector<NodeToCreate> to_create;
  for (const json& node : nodes) {
    std::string name = text(field(node, "metadata"), "name");
    if (name.empty())
      return base::fail(base::Kind::kInvalid, "a node of the launch request has no metadata.name");
    const std::string delay = text(field(field(node, "metadata"), "annotations"),
                                   providers::kwok::kRegistrationDelayAnnotation);
    to_create.push_back(
        {std::move(name), node.dump(-1, ' ', false, json::error_handler_t::replace),
         std::min(base::parse_go_duration_millis(delay).value_or(0), kRegistrationDelayMax)});
  }
  return to_create;
}

std::optional<std::string> node_name_of(const model::ProviderId& id) {
  const std::string_view text = id.str();
  if (!text.starts_with(kKwokProviderPrefix) || text.size() == kKwokProviderPrefix.size())
    return std::nullopt;
  return std::string(text.substr(kKwokProviderPrefix.size()));
}

}  // namespace karst::cloud
