#include "providers/aws/launch_template.h"

#include <algorithm>

#include "base/base64.h"
#include "base/sha256.h"
#include "model/labels.h"
#include "providers/aws/catalogue.h"
#include "providers/aws/late_user_data.h"

namespace karst::providers::aws {
namespace {

constexpr std::size_t kNameHashLength = 26;  // 130 bits
constexpr std::string_view kDoNotSyncTaints = "karpenter.sh/do-not-sync-taints";

const char* text(bool value) {
  return value ? "true" : "false";
}

void set_number(Tree& out, const char* name, const std::optional<std::int64_t>& value) {
  if (value) out[name] = std::to_string(*value);
}

Tree disk_of(const Disk& disk) {
  Tree ebs = Tree::object();
  set_number(ebs, "VolumeSize", disk.size_gib);
  if (!disk.snapshot.empty()) ebs["SnapshotId"] = disk.snapshot;
  if (!disk.type.empty()) ebs["VolumeType"] = disk.type;
  if (!disk.kms_key.empty()) ebs["KmsKeyId"] = disk.kms_key;
  if (disk.encrypted) ebs["Encrypted"] = text(*disk.encrypted);
  if (disk.delete_on_termination) ebs["DeleteOnTermination"] = text(*disk.delete_on_termination);
  set_number(ebs, "Iops", disk.iops);
  set_number(ebs, "Throughput", disk.throughput);
  set_number(ebs, "VolumeInitializationRate", disk.initialization_rate);
  return {{"DeviceName", disk.device}, {"Ebs", std::move(ebs)}};
}

Disk standard_disk(const char* device, std::int64_t gib) {
  Disk disk;
  disk.device = device;
  disk.size_gib = gib;
  disk.type = "gp3";
  disk.encrypted = true;
  return disk;
}

Tree disks_of(const NodeClassSpec& spec) {
  std::vector<Disk> disks = spec.disks;
  if (disks.empty() && spec.settings.family == Family::kBottlerocket)
    disks = {standard_disk("/dev/xvda", 4), standard_disk("/dev/xvdb", 20)};
  else if (disks.empty() && is_windows(spec.settings.family))
    disks = {standard_disk("/dev/sda1", 50)};
  else if (disks.empty() && spec.settings.family != Family::kCustom)
    disks = {standard_disk("/dev/xvda", 20)};
  Tree list = Tree::array();
  for (const Disk& disk : disks) list.push_back(disk_of(disk));
  return list;
}

// Addresses, prefixes and tracking belong to interfaces that pods use.
void set_addressing(Tree& one, const NodeClassSpec& spec, const Resolved& resolved) {
  if (spec.associate_public_ip) one["AssociatePublicIpAddress"] = text(*spec.associate_public_ip);
  set_number(one, resolved.cluster.ipv6 ? "Ipv6PrefixCount" : "Ipv4PrefixCount", spec.ip_prefixes);
  if (resolved.cluster.ipv6) {
    one["PrimaryIpv6"] = "true";
    one["Ipv6AddressCount"] = "1";
  }
  if (!spec.tracking) return;
  Tree tracking = Tree::object();
  set_number(tracking, "TcpEstablishedTimeout", spec.tracking->tcp_established);
  set_number(tracking, "UdpStreamTimeout", spec.tracking->udp_stream);
  set_number(tracking, "UdpTimeout", spec.tracking->udp);
  one["ConnectionTrackingSpecification"] = std::move(tracking);
}

Tree interfaces_of(const TemplateKey& key, const NodeClassSpec& spec, const Resolved& resolved) {
  std::vector<std::string> groups;
  for (const SecurityGroup& group : resolved.security_groups) groups.push_back(group.id);
  Tree list = Tree::array();
  const auto add = [&](std::int64_t card, std::int64_t device, const char* type, bool addressed) {
    Tree one = {{"DeviceIndex", std::to_string(device)}, {"SecurityGroupId", groups}};
    if (type != nullptr) {
      one["NetworkCardIndex"] = std::to_string(card);
      one["InterfaceType"] = type;
    }
    if (addressed) set_addressing(one, spec, resolved);
    list.push_back(std::move(one));
  };
  for (const NetworkInterface& one : spec.interfaces)
    add(one.card, one.device, one.efa_only ? "efa-only" : "interface", !one.efa_only);
  if (!spec.interfaces.empty()) return list;
  for (std::int64_t i = 0; i < key.efa; ++i) add(i, i == 0 ? 0 : 1, "efa", true);
  if (key.efa == 0) add(0, 0, nullptr, true);
  return list;
}

Tree placement_of(const TemplateInput& input) {
  Tree placement = {{"Tenancy", input.tenancy}};
  const PlacementGroup& group = input.resolved->placement_group;
  if (!group.id.empty()) placement["GroupId"] = group.id;
  return placement;
}

// Without a reservation of ours none is used, so that nobody's open one is taken by accident. Where
// reservations are not our business, EC2 takes an open one that fits.
void set_reservation(Tree& data, const TemplateKey& key, const Resolved& resolved) {
  if (!resolved.cluster.uses_reservations && key.reservation.empty()) return;
  Tree& out = data["CapacityReservationSpecification"];
  if (key.reservation.empty()) {
    out = {{"CapacityReservationPreference", "none"}};
    return;
  }
  out = {{"CapacityReservationPreference", "capacity-reservations-only"},
         {"CapacityReservationTarget", {{"CapacityReservationId", key.reservation}}}};
  for (const Reservation& one : resolved.reservations) {
    if (one.id != key.reservation) continue;
    if (one.type == "capacity-block") data["InstanceMarketOptions"] = {{"MarketType", one.type}};
    if (one.interruptible)
      data["InstanceMarketOptions"] = {{"MarketType", "interruptible-capacity-reservation"}};
  }
}

UserDataInput user_data_input(const TemplateKey& key, const TemplateInput& input) {
  UserDataInput in;
  const NodeClassSpec& spec = *input.spec;
  in.family = spec.settings.family;
  in.cluster = input.resolved->cluster;
  in.custom = spec.user_data;
  in.kubelet_json = spec.kubelet_json;
  in.raid = spec.settings.raid;
  in.alias_version = spec.alias.version;
  in.max_pods = key.max_pods;
  in.labels = input.claim->labels;
  model::set_label(in.labels, model::kCapacityTypeLabel, input.capacity_type);
  model::set_label(in.labels, kNodeClassLabel, input.claim->node_class.name);
  if (in.family != Family::kCustom) model::set_label(in.labels, kDoNotSyncTaints, "true");
  in.taints = input.claim->taints;
  in.taints.insert(in.taints.end(), input.claim->startup_taints.begin(),
                   input.claim->startup_taints.end());
  in.taints.push_back(
      {std::string(model::kUnregisteredTaintKey), "", model::TaintEffect::kNoExecute});
  return in;
}

// Null: none.
base::Result<Tree> user_data_of(const TemplateKey& key, const TemplateInput& input) {
  const UserDataInput in = user_data_input(key, input);
  if (input.spec->withheld_user_data) return late_user_data(in, *input.spec->withheld_user_data);
  const auto start = user_data(in);
  if (!start) return base::fail(start.error());
  return start->empty() ? Tree() : Tree(base::encode_base64(*start));
}

Tree data_of(const TemplateKey& key, const TemplateInput& input, Tree start) {
  const NodeClassSpec& spec = *input.spec;
  Tree data = {{"ImageId", key.image},
               {"IamInstanceProfile", {{"Name", input.resolved->instance_profile}}}};
  if (!start.is_null()) data["UserData"] = std::move(start);
  if (Tree disks = disks_of(spec); !disks.empty()) data["BlockDeviceMapping"] = std::move(disks);
  data["Monitoring"] = {{"Enabled", text(spec.detailed_monitoring)}};
  data["MetadataOptions"] = {{"HttpEndpoint", spec.metadata.endpoint},
                             {"HttpProtocolIpv6", spec.metadata.ipv6},
                             {"HttpPutResponseHopLimit", std::to_string(spec.metadata.hop_limit)},
                             {"HttpTokens", spec.metadata.tokens},
                             // Its keys may hold no slash, ours do.
                             {"InstanceMetadataTags", "disabled"}};
  if (!spec.nested_virtualization.empty())
    data["CpuOptions"] = {{"NestedVirtualization", spec.nested_virtualization}};
  if (key.enclaves) data["EnclaveOptions"] = {{"Enabled", "true"}};
  data["Placement"] = placement_of(input);
  data["NetworkInterface"] = interfaces_of(key, spec, *input.resolved);
  const Tree tags = tag_list(launch_tags(input));
  data["TagSpecification"].push_back(Tree{{"ResourceType", "network-interface"}, {"Tag", tags}});
  if (input.capacity_type == "spot")
    data["TagSpecification"].push_back(
        Tree{{"ResourceType", "spot-instances-request"}, {"Tag", tags}});
  set_reservation(data, key, *input.resolved);
  return data;
}

}  // namespace

base::Result<Request> launch_template(const TemplateKey& key, const TemplateInput& input) {
  auto start = user_data_of(key, input);
  if (!start) return base::fail(std::move(start.error()));
  Request request{"ec2", "CreateLaunchTemplate", Tree::object()};
  request.parameters["LaunchTemplateName"] = "";
  request.parameters["TagSpecification"].push_back(
      Tree{{"ResourceType", "launch-template"}, {"Tag", tag_list(launch_tags(input))}});
  request.parameters["LaunchTemplateData"] = data_of(key, input, std::move(*start));
  const std::string content =
      request.parameters.dump(-1, ' ', false, Tree::error_handler_t::replace);
  request.parameters["LaunchTemplateName"] =
      std::string(kTemplatePrefix) +
      base::base32_lower(base::sha256(content)).substr(0, kNameHashLength);
  return request;
}

model::Labels launch_tags(const TemplateInput& input) {
  const std::string& cluster = input.resolved->cluster.name;
  model::Labels tags = input.spec->tags;
  model::set_label(tags, "kubernetes.io/cluster/" + cluster, "owned");
  model::set_label(tags, "eks:eks-cluster-name", cluster);
  model::set_label(tags, model::kNodePoolLabel, input.claim->pool.str());
  model::set_label(tags, kNodeClassLabel, input.claim->node_class.name);
  return tags;
}

Tree tag_list(const model::Labels& tags) {
  Tree list = Tree::array();
  for (const auto& [key, value] : tags) list.push_back(Tree{{"Key", key}, {"Value", value}});
  return list;
}

}  // namespace karst::providers::aws
