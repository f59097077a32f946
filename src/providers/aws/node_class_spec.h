// The whole spec of an EC2NodeClass (karpenter.k8s.aws/v1, as Karpenter 1.14), read from its JSON:
// what the account is asked, what launch templates hold, and the hash by which drift is found. What
// of it changes the machines' size is NodeClassSettings (node_class.h). Fields are described in
// docs/ec2nodeclass.md. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/labels.h"
#include "providers/aws/kubelet.h"
#include "providers/aws/node_class.h"

namespace karst::providers::aws {

inline constexpr std::size_t kTermsMax = 30;  // of one list of selectors
inline constexpr std::size_t kDisksMax = 50;
inline constexpr std::size_t kNetworkInterfacesMax = 150;
inline constexpr std::size_t kTagsMax = 50;  // EC2's limit, of one machine
// Whose machine it is, and the order's command and token.
inline constexpr std::size_t kTagsWeAdd = 4 + 2;
// Of spec.tags: what is left beside ours and one with the order's claims.
inline constexpr std::size_t kClassTagsMax = kTagsMax - kTagsWeAdd - 1;

// Of node_class_hash(). Another version, ours or Karpenter's, means: stamp it again, nothing has
// drifted.
inline constexpr std::string_view kNodeClassHashVersion = "karst-1";

// One entry of a list of selectors; what it names must all hold. A tag's value "*" is any.
struct SelectorTerm {
  model::Labels tags;
  std::string id;
  std::string name;
  std::string owner;
  std::string ssm_parameter;
  std::string match_criteria;  // open, targeted
};

struct ImageAlias {
  std::string family;   // lower case; empty: there is no alias
  std::string version;  // "latest" or a pinned one
};

struct Disk {
  std::string device;
  bool root = false;
  std::optional<std::int64_t> size_gib;  // rounded up
  std::string snapshot;
  std::string type;
  std::string kms_key;
  std::optional<bool> encrypted;
  std::optional<bool> delete_on_termination;
  std::optional<std::int64_t> iops;
  std::optional<std::int64_t> throughput;
  std::optional<std::int64_t> initialization_rate;
};

struct NetworkInterface {
  std::int64_t card = 0;
  std::int64_t device = 0;
  bool efa_only = false;
};

// Defaults: those of the CRD.
struct MetadataOptions {
  std::string endpoint = "enabled";
  std::string ipv6 = "disabled";
  std::int64_t hop_limit = 1;
  std::string tokens = "required";
};

struct ConnectionTracking {  // seconds
  std::optional<std::int64_t> tcp_established;
  std::optional<std::int64_t> udp_stream;
  std::optional<std::int64_t> udp;
};

// A text that is not at hand: it is told apart by what it comes to.
struct WithheldText {
  std::string sha256;  // hex
  std::int64_t bytes = 0;
  friend bool operator==(const WithheldText&, const WithheldText&) = default;
};

struct NodeClassSpec {
  NodeClassSettings settings;
  std::vector<SelectorTerm> subnets;
  std::vector<SelectorTerm> security_groups;
  std::vector<SelectorTerm> images;  // without an alias
  std::vector<SelectorTerm> reservations;
  ImageAlias alias;
  std::string placement_group_name;
  std::string placement_group_id;
  std::optional<bool> associate_public_ip;
  std::optional<std::int64_t> ip_prefixes;
  // What the class brings: the text, or what it comes to where it is withheld (objects/withhold.h).
  std::string user_data;
  std::optional<WithheldText> withheld_user_data;
  std::string role;
  std::string instance_profile;
  model::Labels tags;
  std::string kubelet_json;  // keys sorted; empty: none
  std::vector<Disk> disks;
  std::vector<NetworkInterface> interfaces;
  bool detailed_monitoring = false;
  MetadataOptions metadata;
  std::optional<ConnectionTracking> tracking;
  std::string nested_virtualization;  // enabled, disabled; empty: not said
  std::string context;
};

// `spec_json` as model::NodeClass has it. Errors: kInvalid with the field; a spec that the API
// server took has none.
base::Result<NodeClassSpec> read_node_class_spec(std::string_view spec_json);

// What makes ValidationSucceeded False by itself: tags that the controller sets, kubelet.
std::optional<Finding> check_node_class(const NodeClassSpec& spec);

// Of the fields whose change means new machines (static drift), the image family, and the
// cluster's CA. A decimal number. Errors as read_node_class_spec.
base::Result<std::string> node_class_hash(std::string_view spec_json, std::string_view cluster_ca);

}  // namespace karst::providers::aws
