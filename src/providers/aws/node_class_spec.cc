#include "providers/aws/node_class_spec.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/sha256.h"
#include "model/quantity.h"

namespace karst::providers::aws {
namespace {

using nlohmann::json;

constexpr std::int64_t kBytesPerGib = std::int64_t{1} << 30;
constexpr std::string_view kOwnTags[] = {"eks:eks-cluster-name", "karpenter.sh/nodepool",
                                         "karpenter.sh/nodeclaim",
                                         "karpenter.k8s.aws/ec2nodeclass"};
// What the hash covers, beside the image family and the CA.
constexpr const char* kHashed[] = {"placementGroupSelector",
                                   "associatePublicIPAddress",
                                   "userData",
                                   "role",
                                   "instanceProfile",
                                   "tags",
                                   "kubelet",
                                   "blockDeviceMappings",
                                   "instanceStorePolicy",
                                   "networkInterfaces",
                                   "detailedMonitoring",
                                   "metadataOptions",
                                   "connectionTracking",
                                   "cpuOptions",
                                   "context"};
constexpr const char* kHashedAsSets[] = {"blockDeviceMappings", "networkInterfaces"};

// Reads one object's fields; the first that is of another type than expected is kept as an error.
class Reader {
 public:
  Reader(const json& object, std::string where, base::Status& status)
      : object_(object), where_(std::move(where)), status_(status) {}

  std::string text(const char* key) const {
    const json* value = find(key);
    if (value != nullptr && !value->is_string()) return wrong(key, "text"), std::string();
    return value == nullptr ? std::string() : value->get<std::string>();
  }
  std::optional<bool> boolean(const char* key) const {
    const json* value = find(key);
    if (value != nullptr && !value->is_boolean()) return wrong(key, "a boolean"), std::nullopt;
    return value == nullptr ? std::nullopt : std::optional<bool>(value->get<bool>());
  }
  std::optional<std::int64_t> number(const char* key) const {
    const json* value = find(key);
    if (value != nullptr && !value->is_number_integer())
      return wrong(key, "a whole number"), std::nullopt;
    return value == nullptr ? std::nullopt : std::optional(value->get<std::int64_t>());
  }
  model::Labels map(const char* key) const {
    model::Labels labels;
    for (const auto& [name, value] : object(key).items()) {
      if (!value.is_string()) wrong(key, "a map to text");
      model::set_label(labels, name, value.is_string() ? value.get<std::string>() : "");
    }
    return labels;
  }
  const json& object(const char* key) const {
    static const json kNone = json::object();
    const json* value = find(key);
    if (value != nullptr && !value->is_object()) wrong(key, "an object");
    return value != nullptr && value->is_object() ? *value : kNone;
  }
  bool is_object(const char* key) const {
    const json* value = find(key);
    return value != nullptr && value->is_object();
  }
  bool has(const char* key) const { return find(key) != nullptr; }
  Reader child(const char* key) const { return {object(key), where_ + key + ".", status_}; }

  // Calls `read` with a Reader for each element.
  template <class Read>
  void each(const char* key, std::size_t most, Read read) const {
    const json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() > most)
      return wrong(key, "a list of at most " + std::to_string(most) + " elements");
    for (std::size_t i = 0; i < value->size(); ++i) {
      const std::string at = std::string(key) + "[" + std::to_string(i) + "]";
      if (!(*value)[i].is_object()) return wrong(at, "an object");
      read(Reader((*value)[i], where_ + at + ".", status_));
    }
  }
  void wrong(const std::string& key, const std::string& expected) const {
    if (status_)
      status_ = base::fail(base::Kind::kInvalid, where_ + key + ": expected " + expected);
  }

 private:
  const json* find(const char* key) const {
    const auto at = object_.find(key);
    return at == object_.end() || at->is_null() ? nullptr : &*at;
  }

  const json& object_;
  std::string where_;
  base::Status& status_;
};

std::vector<SelectorTerm> read_terms(const Reader& spec, const char* key) {
  std::vector<SelectorTerm> terms;
  spec.each(key, kTermsMax, [&](const Reader& term) {
    if (term.has("alias")) return;
    const std::string owner = term.text("owner");
    terms.push_back({term.map("tags"), term.text("id"), term.text("name"),
                     owner.empty() ? term.text("ownerID") : owner, term.text("ssmParameter"),
                     term.text("instanceMatchCriteria")});
  });
  return terms;
}

ImageAlias read_alias(const Reader& spec) {
  ImageAlias alias;
  spec.each("amiSelectorTerms", kTermsMax, [&](const Reader& term) {
    const std::string text = term.text("alias");
    const std::size_t at = text.find('@');
    if (text.empty()) return;
    if (at == std::string::npos || at == 0 || at + 1 == text.size())
      return term.wrong("alias", "FAMILY@VERSION such as al2023@latest");
    alias.family = text.substr(0, at);
    for (char& c : alias.family)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
    alias.version = text.substr(at + 1);
  });
  return alias;
}

std::vector<Disk> read_disks(const Reader& spec) {
  std::vector<Disk> disks;
  spec.each("blockDeviceMappings", kDisksMax, [&](const Reader& mapping) {
    Disk disk;
    disk.device = mapping.text("deviceName");
    disk.root = mapping.boolean("rootVolume").value_or(false);
    const Reader ebs = mapping.child("ebs");
    if (const std::string size = ebs.text("volumeSize"); !size.empty()) {
      const auto bytes = model::parse_quantity_units(size, model::Rounding::kUp);
      if (!bytes) ebs.wrong("volumeSize", "an amount such as 50Gi");
      if (bytes) disk.size_gib = *bytes / kBytesPerGib + (*bytes % kBytesPerGib == 0 ? 0 : 1);
    }
    disk.snapshot = ebs.text("snapshotID");
    disk.type = ebs.text("volumeType");
    disk.kms_key = ebs.text("kmsKeyID");
    disk.encrypted = ebs.boolean("encrypted");
    disk.delete_on_termination = ebs.boolean("deleteOnTermination");
    disk.iops = ebs.number("iops");
    disk.throughput = ebs.number("throughput");
    disk.initialization_rate = ebs.number("volumeInitializationRate");
    disks.push_back(std::move(disk));
  });
  return disks;
}

std::vector<NetworkInterface> read_interfaces(const Reader& spec) {
  std::vector<NetworkInterface> interfaces;
  spec.each("networkInterfaces", kNetworkInterfacesMax, [&](const Reader& one) {
    interfaces.push_back({one.number("networkCardIndex").value_or(0),
                          one.number("deviceIndex").value_or(0),
                          one.text("interfaceType") == "efa-only"});
  });
  std::sort(interfaces.begin(), interfaces.end(), [](const auto& a, const auto& b) {
    return std::pair(a.card, a.device) < std::pair(b.card, b.device);
  });
  return interfaces;
}

MetadataOptions read_metadata(const Reader& options) {
  MetadataOptions out;
  const auto set = [&](const char* key, std::string& field) {
    if (std::string text = options.text(key); !text.empty()) field = std::move(text);
  };
  set("httpEndpoint", out.endpoint);
  set("httpProtocolIPv6", out.ipv6);
  set("httpTokens", out.tokens);
  out.hop_limit = options.number("httpPutResponseHopLimit").value_or(out.hop_limit);
  return out;
}

void read_user_data(const Reader& spec, NodeClassSpec& out) {
  if (!spec.is_object("userData")) {
    out.user_data = spec.text("userData");
    return;
  }
  const Reader withheld = spec.child("userData");
  out.withheld_user_data = {withheld.text("sha256"), withheld.number("bytes").value_or(0)};
}

void read_rest(const Reader& spec, NodeClassSpec& out) {
  const Reader group = spec.child("placementGroupSelector");
  out.placement_group_name = group.text("name");
  out.placement_group_id = group.text("id");
  out.associate_public_ip = spec.boolean("associatePublicIPAddress");
  out.ip_prefixes = spec.number("ipPrefixCount");
  read_user_data(spec, out);
  out.role = spec.text("role");
  out.instance_profile = spec.text("instanceProfile");
  out.tags = spec.map("tags");
  if (spec.has("kubelet")) out.kubelet_json = spec.object("kubelet").dump();
  out.detailed_monitoring = spec.boolean("detailedMonitoring").value_or(false);
  out.metadata = read_metadata(spec.child("metadataOptions"));
  if (spec.has("connectionTracking")) {
    const Reader tracking = spec.child("connectionTracking");
    out.tracking = {tracking.number("tcpEstablishedTimeout"), tracking.number("udpStreamTimeout"),
                    tracking.number("udpTimeout")};
  }
  out.nested_virtualization = spec.child("cpuOptions").text("nestedVirtualization");
  out.context = spec.text("context");
}

}  // namespace

base::Result<NodeClassSpec> read_node_class_spec(std::string_view spec_json) {
  auto settings = read_node_class(spec_json);
  if (!settings) return base::fail(std::move(settings.error()));
  const json object = json::parse(spec_json, nullptr, /*allow_exceptions=*/false);
  NodeClassSpec out;
  out.settings = *settings;
  base::Status status;
  const Reader spec(object, "", status);
  out.subnets = read_terms(spec, "subnetSelectorTerms");
  out.security_groups = read_terms(spec, "securityGroupSelectorTerms");
  out.images = read_terms(spec, "amiSelectorTerms");
  out.reservations = read_terms(spec, "capacityReservationSelectorTerms");
  out.alias = read_alias(spec);
  out.disks = read_disks(spec);
  out.interfaces = read_interfaces(spec);
  read_rest(spec, out);
  KARST_TRY(std::move(status));
  return out;
}

std::optional<Finding> check_node_class(const NodeClassSpec& spec) {
  for (const auto& [key, value] : spec.tags) {
    const bool own = std::find(std::begin(kOwnTags), std::end(kOwnTags), key) != std::end(kOwnTags);
    if (key.empty()) return Finding{"TagValidationFailed", "tags: a key is empty"};
    if (own || key.starts_with("kubernetes.io/cluster"))
      return Finding{"TagValidationFailed", "tags." + key + ": the controller sets this tag"};
  }
  if (spec.tags.size() > kClassTagsMax)
    return Finding{"TagValidationFailed",
                   "tags: " + std::to_string(spec.tags.size()) + " tags; expected at most " +
                       std::to_string(kClassTagsMax) +
                       ", since a machine carries 50 and the others say whose it is"};
  return check_kubelet(spec.kubelet_json, spec.settings.family);
}

base::Result<std::string> node_class_hash(std::string_view spec_json, std::string_view cluster_ca) {
  const auto settings = read_node_class(spec_json);
  if (!settings) return base::fail(settings.error());
  const json spec = json::parse(spec_json, nullptr, /*allow_exceptions=*/false);
  json hashed = {{"family", static_cast<int>(settings->family)}, {"ca", cluster_ca}};
  for (const char* key : kHashed)
    if (spec.contains(key) && !spec[key].is_null()) hashed[key] = spec[key];
  for (const char* key : kHashedAsSets)
    if (hashed.contains(key) && hashed[key].is_array())
      std::sort(hashed[key].begin(), hashed[key].end());
  const base::Sha256Digest digest =
      base::sha256(hashed.dump(-1, ' ', false, json::error_handler_t::replace));
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number = number << 8 | digest[i];
  return std::to_string(number);
}

}  // namespace karst::providers::aws
