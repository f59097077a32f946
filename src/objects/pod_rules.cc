// Pods: the spec as a whole, volumes, tolerations, and what templates of workloads add.
#include <algorithm>
#include <limits>
#include <set>

#include "base/utf8.h"
#include "objects/manifest_rules.h"
#include "objects/name_rules.h"

namespace karst::objects {
namespace {

constexpr std::int64_t kNumberMax = std::numeric_limits<std::int64_t>::max();

bool is_text(const TreeValue* value) {
  return value != nullptr && value->is(TreeValue::Type::kText) && !value->text.empty();
}

// Calls look(container) for those of the lists, each within its place in the review.
template <class Look>
void each_container(Review& review, const TreeValue& spec,
                    std::initializer_list<std::string_view> lists, Look look) {
  for (const std::string_view list : lists) {
    const TreeValue* containers = spec.find(list);
    if (containers == nullptr) continue;
    Review::Scope scope(review, list);
    for (std::size_t i = 0; i < containers->items.size(); ++i) {
      Review::Scope inner(review, i);
      look(containers->items[i]);
    }
  }
}

// Containers, init containers and ephemeral ones share one space of names.
void check_container_names(Review& review, const TreeValue& spec) {
  std::set<std::string_view> seen;
  each_container(review, spec, {"containers", "initContainers", "ephemeralContainers"},
                 [&](const TreeValue& container) {
                   const std::string_view name = container.text_of("name");
                   if (!seen.insert(name).second)
                     refuse_field(review, container, "name",
                                  "\"" + std::string(name) + "\" is there twice");
                 });
}

// Host ports of containers, and with the host's network all of them.
void check_ports(Review& review, const TreeValue& spec) {
  const TreeValue* host = spec.find("hostNetwork");
  const bool host_network = host != nullptr && host->text == "true";
  std::set<std::string> seen;
  const TreeValue* containers = spec.find("containers");
  if (containers == nullptr) return;
  Review::Scope scope(review, "containers");
  for (std::size_t i = 0; i < containers->items.size(); ++i) {
    const TreeValue* ports = containers->items[i].find("ports");
    if (ports == nullptr) continue;
    Review::Scope inner(review, i);
    Review::Scope field(review, "ports");
    for (std::size_t j = 0; j < ports->items.size(); ++j) {
      const TreeValue& port = ports->items[j];
      const std::int64_t inside = number_of(port, "containerPort", 0);
      std::int64_t number = number_of(port, "hostPort", 0);
      if (number == 0 && host_network) number = inside;  // as the API server fills it in
      if (number == 0) continue;
      Review::Scope element(review, j);
      if (host_network && number != inside)
        refuse_field(review, port, "hostPort", "must equal containerPort with hostNetwork");
      const std::string_view protocol = port.text_of("protocol");
      const std::string key = std::string(protocol.empty() ? "TCP" : protocol) + "/" +
                              std::string(port.text_of("hostIP")) + "/" + std::to_string(number);
      if (!seen.insert(key).second)
        refuse_field(review, port, "hostPort", std::to_string(number) + " is there twice");
    }
  }
}

void check_gates(Review& review, const TreeValue& spec) {
  const TreeValue* gates = spec.find("schedulingGates");
  check_unique(review, spec, "schedulingGates", "name");
  if (gates != nullptr && !gates->items.empty() && is_text(spec.find("nodeName")))
    refuse_field(review, spec, "nodeName", "must not be set while schedulingGates is not empty");
}

std::string bad_dns_label_or_nothing(std::string_view text) {
  return text.empty() ? std::string() : bad_dns_label(text);
}

std::string bad_dns_name_or_nothing(std::string_view text) {
  return text.empty() ? std::string() : bad_dns_name(text);
}

// What containers name of the pod's resourceClaims must be there.
void check_resource_claims(Review& review, const TreeValue& spec) {
  std::set<std::string_view> known;
  if (const TreeValue* claims = spec.find("resourceClaims"))
    for (const TreeValue& claim : claims->items) known.insert(claim.text_of("name"));
  each_container(review, spec, {"containers", "initContainers"}, [&](const TreeValue& container) {
    const TreeValue* claims = container.at({"resources", "claims"});
    if (claims == nullptr) return;
    for (const TreeValue& claim : claims->items)
      if (!known.contains(claim.text_of("name")))
        review.refuse(claim.line, "no resource claim of the pod is called \"" +
                                      std::string(base::cut_utf8(claim.text_of("name"), 80)) +
                                      "\"");
  });
}

void check_resource_claim(Review& review, const TreeValue& claim) {
  const bool named = is_text(claim.find("resourceClaimName"));
  if (named == is_text(claim.find("resourceClaimTemplateName")))
    review.refuse(claim.line, "must have one of resourceClaimName and resourceClaimTemplateName");
  check_text(review, claim, "name", bad_dns_label);
  check_text(review, claim, "resourceClaimName", bad_dns_name_or_nothing);
  check_text(review, claim, "resourceClaimTemplateName", bad_dns_name_or_nothing);
}

// Only init containers that run on are probed.
void check_init_containers(Review& review, const TreeValue& spec) {
  each_container(review, spec, {"initContainers"}, [&](const TreeValue& container) {
    if (container.text_of("restartPolicy") == "Always") return;
    for (const std::string_view name :
         {"livenessProbe", "readinessProbe", "startupProbe", "lifecycle"})
      if (container.find(name) != nullptr)
        refuse_field(review, container, name, "needs restartPolicy Always in an init container");
  });
}

void check_dns(Review& review, const TreeValue& spec) {
  if (spec.text_of("dnsPolicy") != "None") return;
  const TreeValue* servers = spec.at({"dnsConfig", "nameservers"});
  if (servers == nullptr || servers->items.empty())
    refuse_field(review, spec, "dnsPolicy", "None needs nameservers in dnsConfig");
}

void check_os(Review& review, const TreeValue& os) {
  const std::string_view name = os.text_of("name");
  if (name != "linux" && name != "windows")
    refuse_field(review, os, "name", "must be linux or windows");
}

void check_pod_spec(Review& review, const TreeValue& spec) {
  check_not_empty(review, spec, "containers");
  check_container_names(review, spec);
  check_unique(review, spec, "volumes", "name");
  check_unique(review, spec, "resourceClaims", "name");
  check_ports(review, spec);
  check_gates(review, spec);
  check_resource_claims(review, spec);
  check_init_containers(review, spec);
  check_dns(review, spec);
  check_labels(review, spec, "nodeSelector");
  check_text(review, spec, "nodeName", bad_dns_name);
  check_text(review, spec, "hostname", bad_dns_label_or_nothing);
  check_text(review, spec, "subdomain", bad_dns_label_or_nothing);
  check_text(review, spec, "priorityClassName", bad_dns_name_or_nothing);
  check_text(review, spec, "runtimeClassName", bad_dns_name);
  check_text(review, spec, "serviceAccountName", bad_dns_name);
  check_range(review, spec, "activeDeadlineSeconds", 1, kNumberMax);
  check_whole_resources(review, spec);
  const TreeValue* constraints = spec.find("topologySpreadConstraints");
  if (constraints == nullptr) return;
  Review::Scope scope(review, "topologySpreadConstraints");
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < constraints->items.size(); ++i) {
    const TreeValue& item = constraints->items[i];
    if (seen.emplace(item.text_of("topologyKey"), item.text_of("whenUnsatisfiable")).second)
      continue;
    Review::Scope inner(review, i);
    review.refuse(item.line, "the same topologyKey and whenUnsatisfiable are there twice");
  }
}

void check_toleration(Review& review, const TreeValue& toleration) {
  const std::string_view key = toleration.text_of("key");
  const std::string_view op = toleration.text_of("operator");
  if (!key.empty()) check_text(review, toleration, "key", bad_label_key);
  if (key.empty() && op != "Exists")
    refuse_field(review, toleration, "operator", "must be Exists when key is empty");
  if (op == "Exists" && !toleration.text_of("value").empty())
    refuse_field(review, toleration, "value", "must be empty with operator Exists");
  if (op != "Exists") check_text(review, toleration, "value", bad_label_value);
  if (toleration.find("tolerationSeconds") != nullptr &&
      toleration.text_of("effect") != "NoExecute")
    refuse_field(review, toleration, "effect", "must be NoExecute when tolerationSeconds is set");
}

void check_pod_volume(Review& review, const TreeValue& volume) {
  check_text(review, volume, "name", bad_dns_label);
  std::size_t sources = 0;
  for (const TreeField& field : volume.fields)
    sources += field.key != "name" && !field.value.is(TreeValue::Type::kNull);
  if (sources > 1)
    review.refuse(volume.line, "a volume must have one source, found " + std::to_string(sources));
}

void check_claim_source(Review& review, const TreeValue& source) {
  check_text(review, source, "claimName", bad_dns_name);
}

void check_gate(Review& review, const TreeValue& gate) {
  check_text(review, gate, "name", bad_label_key);
}

// Ephemeral containers are put into a pod that runs.
void check_pod_template(Review& review, const TreeValue& made) {
  const TreeValue* containers = made.at({"spec", "ephemeralContainers"});
  if (containers == nullptr || containers->items.empty()) return;
  Review::Scope scope(review, "spec");
  refuse_field(review, *made.find("spec"), "ephemeralContainers", "must not be set in a template");
}

void check_pod(Review& review, const TreeValue& pod) {
  const TreeValue* spec = pod.find("spec");
  if (spec == nullptr) return refuse_field(review, pod, "spec", "is missing; it must be there");
  Review::Scope scope(review, "spec");
  check_mounts(review, *spec, {});
}

}  // namespace

void check_mounts(Review& review, const TreeValue& spec, std::set<std::string_view> volumes) {
  if (const TreeValue* list = spec.find("volumes"))
    for (const TreeValue& volume : list->items) volumes.insert(volume.text_of("name"));
  each_container(review, spec, {"containers", "initContainers"}, [&](const TreeValue& container) {
    const TreeValue* mounts = container.find("volumeMounts");
    if (mounts == nullptr) return;
    Review::Scope field(review, "volumeMounts");
    for (std::size_t j = 0; j < mounts->items.size(); ++j) {
      Review::Scope mount(review, j);
      const std::string_view name = mounts->items[j].text_of("name");
      if (!volumes.contains(name))
        refuse_field(review, mounts->items[j], "name",
                     "no volume is called \"" + std::string(base::cut_utf8(name, 80)) + "\"");
    }
  });
}

std::vector<RuleEntry> pod_rules() {
  return {{"Pod", check_pod},
          {"PodSpec", check_pod_spec},
          {"PodTemplateSpec", check_pod_template},
          {"PodOS", check_os},
          {"PodResourceClaim", check_resource_claim},
          {"Toleration", check_toleration},
          {"Volume", check_pod_volume},
          {"PersistentVolumeClaimVolumeSource", check_claim_source},
          {"PodSchedulingGate", check_gate}};
}

}  // namespace karst::objects
