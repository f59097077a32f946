#include "objects/pod_spec.h"

#include <algorithm>
#include <string>

#include "objects/words.h"

namespace karst::objects {
namespace {

using model::RequirementSpec;

constexpr std::string_view kDefaultScheduler = "default-scheduler";  // what the API server fills in

RequirementSpec read_requirement(const Object& expression) {
  RequirementSpec spec;
  spec.key = expression.text("key");
  spec.op = read_operator(expression);
  spec.values = expression.texts("values");
  std::sort(spec.values.begin(), spec.values.end());
  return spec;
}

// All of the expressions must hold, so their order says nothing.
std::vector<RequirementSpec> read_expressions(const Object& parent, std::string_view key) {
  std::vector<RequirementSpec> specs;
  parent.objects(key,
                 [&](const Object& expression) { specs.push_back(read_requirement(expression)); });
  std::sort(specs.begin(), specs.end());
  return specs;
}

}  // namespace

model::LabelSelector read_selector(const Object& parent, std::string_view key) {
  model::LabelSelector selector;
  selector.matches_nothing = !parent.has(key);
  parent.object(key, [&](const Object& object) {
    selector.expressions = read_expressions(object, "matchExpressions");
    for (auto& [label, value] : object.labels("matchLabels"))
      selector.expressions.push_back({label, model::Operator::kIn, {value}, 0});
    std::sort(selector.expressions.begin(), selector.expressions.end());
  });
  return selector;
}

namespace {

model::NodeSelectorTerm read_term(const Object& object) {
  model::NodeSelectorTerm term;
  term.expressions = read_expressions(object, "matchExpressions");
  object.objects("matchFields", [&](const Object&) { term.has_match_fields = true; });
  return term;
}

// A term without expressions and fields matches no node.
bool matches_nothing(const model::NodeSelectorTerm& term) {
  return !term.has_match_fields && term.expressions.empty();
}

void read_node_affinity(const Object& affinity, model::PodShape& shape) {
  affinity.object("nodeAffinity", [&](const Object& node) {
    node.object("requiredDuringSchedulingIgnoredDuringExecution", [&](const Object& required) {
      required.objects("nodeSelectorTerms", [&](const Object& term) {
        shape.required_terms.push_back(read_term(term));
      });
    });
    node.objects("preferredDuringSchedulingIgnoredDuringExecution", [&](const Object& preferred) {
      model::PreferredTerm term;
      term.weight = preferred.integer32("weight", 1);
      preferred.object("preference",
                       [&](const Object& preference) { term.term = read_term(preference); });
      if (!matches_nothing(term.term)) shape.preferred_terms.push_back(std::move(term));
    });
  });
  auto& terms = shape.required_terms;
  const bool demanded = !terms.empty();
  terms.erase(std::remove_if(terms.begin(), terms.end(), matches_nothing), terms.end());
  // Only terms that match nothing: such a pod goes nowhere. One term marked as not supported says
  // so.
  if (demanded && terms.empty()) terms.push_back({{}, true});
}

model::PodAffinityTerm read_pod_term(const Object& object, bool anti, std::int32_t weight,
                                     std::string_view namespace_name) {
  model::PodAffinityTerm term;
  term.anti = anti;
  term.preferred_weight = weight;
  term.topology_key = object.text("topologyKey");
  term.selector = read_selector(object, "labelSelector");
  term.namespaces = object.texts("namespaces");
  std::sort(term.namespaces.begin(), term.namespaces.end());
  if (object.has("namespaceSelector"))
    term.namespace_selector = read_selector(object, "namespaceSelector");
  if (term.namespaces.empty() && !term.namespace_selector)
    term.namespaces.emplace_back(namespace_name);
  term.match_label_keys = object.texts("matchLabelKeys");
  term.mismatch_label_keys = object.texts("mismatchLabelKeys");
  return term;
}

void read_pod_affinity(const Object& affinity, bool anti, std::string_view namespace_name,
                       model::PodShape& shape) {
  affinity.object(anti ? "podAntiAffinity" : "podAffinity", [&](const Object& pod) {
    pod.objects("requiredDuringSchedulingIgnoredDuringExecution", [&](const Object& term) {
      shape.affinity.push_back(read_pod_term(term, anti, 0, namespace_name));
    });
    pod.objects("preferredDuringSchedulingIgnoredDuringExecution", [&](const Object& preferred) {
      const std::int32_t weight = std::max(1, preferred.integer32("weight", 1));
      preferred.object("podAffinityTerm", [&](const Object& term) {
        shape.affinity.push_back(read_pod_term(term, anti, weight, namespace_name));
      });
    });
  });
}

model::Toleration read_toleration(const Object& object) {
  model::Toleration toleration;
  toleration.key = object.text("key");
  toleration.exists = object.view("operator") == "Exists";
  toleration.value = object.text("value");
  if (!object.view("effect").empty()) toleration.effect = read_effect(object);
  if (object.has("tolerationSeconds")) toleration.seconds = object.integer("tolerationSeconds");
  return toleration;
}

model::SpreadConstraint read_spread(const Object& object) {
  model::SpreadConstraint spread;
  spread.topology_key = object.text("topologyKey");
  spread.max_skew = object.integer32("maxSkew", 1);
  spread.schedule_anyway = object.view("whenUnsatisfiable") == "ScheduleAnyway";
  spread.selector = read_selector(object, "labelSelector");
  spread.min_domains = object.integer32("minDomains");
  spread.match_label_keys = object.texts("matchLabelKeys");
  spread.ignore_node_affinity = object.view("nodeAffinityPolicy") == "Ignore";
  spread.honor_node_taints = object.view("nodeTaintsPolicy") == "Honor";
  return spread;
}

// With the host's network every port of a container is one of the host, said or not: the API server
// fills hostPort in (SetDefaults_Pod of Kubernetes 1.34), files that nobody has applied lack it.
void read_ports(const Object& container, bool host_network, model::PodShape& shape) {
  container.objects("ports", [&](const Object& port) {
    std::int32_t number = port.integer32("hostPort");
    if (number == 0 && host_network) number = port.integer32("containerPort");
    if (number == 0) return;
    std::string protocol = port.text("protocol");
    shape.host_ports.push_back(
        {port.text("hostIP"), number, protocol.empty() ? "TCP" : std::move(protocol)});
  });
}

void read_container(const Object& container, bool stays, bool host_network,
                    model::PodShape& shape) {
  if (stays) read_ports(container, host_network, shape);
  container.object("resources", [&](const Object& resources) {
    resources.objects("claims", [&](const Object&) { shape.uses_dra = true; });
  });
}

void read_volumes(const Object& spec, std::string_view pod_name, model::PodShape& shape) {
  spec.objects("volumes", [&](const Object& volume) {
    volume.object("persistentVolumeClaim", [&](const Object& claim) {
      shape.volume_claims.push_back(claim.text("claimName"));
    });
    // The claim of an ephemeral volume is named after its pod.
    if (volume.has("ephemeral"))
      shape.volume_claims.push_back(std::string(pod_name) + "-" + volume.text("name"));
  });
  std::sort(shape.volume_claims.begin(), shape.volume_claims.end());
}

bool is_sidecar(const Object& init_container) {
  return init_container.view("restartPolicy") == "Always";
}

// requests, with a limit standing in where no request is given.
model::Resources asked_by(const Object& container) {
  model::Resources requests;
  container.object("resources", [&](const Object& resources) {
    requests = resources.resources("requests", model::Rounding::kUp);
    const auto requested = resources.quantities("requests");
    const auto given = [&](std::string_view name) {
      return std::any_of(requested.begin(), requested.end(),
                         [&](const auto& entry) { return entry.first == name; });
    };
    const model::Resources limits = resources.resources("limits", model::Rounding::kUp);
    for (const auto& [name, unused] : resources.quantities("limits"))
      if (!given(name)) requests.set_amount(name, limits.amount(name));
  });
  return requests;
}

model::Resources container_requests(const Object& container, const Held& held) {
  model::Resources asked = asked_by(container);
  for (const auto& [name, requests] : held.containers)
    if (name == container.view("name"))
      return held.is_infeasible ? requests : model::max_of(asked, requests);
  return asked;
}

// What is requested for the whole pod takes the place of the sum; a limit of it does where neither
// it nor the containers request anything, as the API server fills it in.
void take_whole_pod(const Object& spec, model::Resources& total) {
  spec.object("resources", [&](const Object& whole_pod) {
    const model::Resources limits = whole_pod.resources("limits", model::Rounding::kUp);
    for (const auto& [name, unused] : whole_pod.quantities("limits"))
      if (total.amount(name) == 0) total.set_amount(name, limits.amount(name));
    const model::Resources requests = whole_pod.resources("requests", model::Rounding::kUp);
    for (const auto& [name, unused] : whole_pod.quantities("requests"))
      total.set_amount(name, requests.amount(name));
  });
}

}  // namespace

Held read_held(const Object& status) {
  Held held;
  const auto read = [&](const Object& container) {
    model::Resources requests = container.resources("allocatedResources", model::Rounding::kUp);
    bool is_told = false;
    container.object("resources", [&](const Object& resources) {
      is_told = true;
      requests = model::max_of(requests, resources.resources("requests", model::Rounding::kUp));
    });
    if (is_told) held.containers.emplace_back(container.text("name"), std::move(requests));
  };
  status.objects("containerStatuses", read);
  status.objects("initContainerStatuses", read);
  status.objects("conditions", [&](const Object& condition) {
    if (condition.view("type") == "PodResizePending" && condition.view("reason") == "Infeasible")
      held.is_infeasible = condition.view("status") == "True";
  });
  return held;
}

model::Resources read_requests(const Object& spec, const Held& held) {
  model::Resources running;   // containers and sidecars
  model::Resources starting;  // the most that any init container needs, with the sidecars before it
  spec.objects("containers",
               [&](const Object& container) { running += container_requests(container, held); });
  model::Resources sidecars;
  spec.objects("initContainers", [&](const Object& container) {
    const model::Resources requests =
        is_sidecar(container) ? container_requests(container, held) : asked_by(container);
    if (is_sidecar(container)) sidecars += requests;
    starting = model::max_of(starting, is_sidecar(container) ? sidecars : sidecars + requests);
  });
  running += sidecars;
  model::Resources total = model::max_of(running, starting);
  take_whole_pod(spec, total);
  total += spec.resources("overhead", model::Rounding::kUp);
  total.pods = 1;
  for (std::int64_t* amount : {&total.cpu_millis, &total.memory_bytes, &total.ephemeral_bytes})
    *amount = std::min(*amount, kAmountMax);
  for (auto& [name, amount] : total.extended) amount = std::min(amount, kAmountMax);
  return total;
}

void read_pod_spec(const Object& spec, std::string_view namespace_name, std::string_view pod_name,
                   model::PodShape& shape, const Held& held) {
  shape.requests = read_requests(spec, held);
  shape.node_selector = spec.labels("nodeSelector");
  spec.object("affinity", [&](const Object& affinity) {
    read_node_affinity(affinity, shape);
    read_pod_affinity(affinity, false, namespace_name, shape);
    read_pod_affinity(affinity, true, namespace_name, shape);
  });
  spec.objects("tolerations",
               [&](const Object& object) { shape.tolerations.push_back(read_toleration(object)); });
  std::sort(shape.tolerations.begin(), shape.tolerations.end());
  spec.objects("topologySpreadConstraints",
               [&](const Object& object) { shape.spread.push_back(read_spread(object)); });
  const bool host_network = spec.boolean("hostNetwork");
  spec.objects("containers", [&](const Object& container) {
    read_container(container, true, host_network, shape);
  });
  spec.objects("initContainers", [&](const Object& container) {
    read_container(container, is_sidecar(container), host_network, shape);
  });
  std::sort(shape.host_ports.begin(), shape.host_ports.end());
  read_volumes(spec, pod_name, shape);
  shape.priority = spec.integer32("priority");
  shape.priority_class = spec.text("priorityClassName");
  shape.grace_seconds = spec.integer("terminationGracePeriodSeconds", 30);
  spec.objects("schedulingGates", [&](const Object&) { shape.gated = true; });
  const std::string scheduler = spec.text("schedulerName");
  shape.other_scheduler = !scheduler.empty() && scheduler != kDefaultScheduler;
  spec.objects("resourceClaims", [&](const Object&) { shape.uses_dra = true; });
}

}  // namespace karst::objects
