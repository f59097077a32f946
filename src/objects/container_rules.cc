// Containers: names, ports, environment, probes.
#include <limits>
#include <set>

#include "base/utf8.h"
#include "objects/manifest_rules.h"
#include "objects/name_rules.h"

namespace karst::objects {
namespace {

constexpr std::int64_t kPortMax = 65535;
constexpr std::int64_t kProbeNumberMax = std::numeric_limits<std::int32_t>::max();

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

void check_port_names(Review& review, const TreeValue& container) {
  const TreeValue* ports = container.find("ports");
  if (ports == nullptr) return;
  std::set<std::string_view> seen;
  Review::Scope scope(review, "ports");
  for (std::size_t i = 0; i < ports->items.size(); ++i) {
    const std::string_view name = ports->items[i].text_of("name");
    if (name.empty() || seen.insert(name).second) continue;
    Review::Scope inner(review, i);
    refuse_field(review, ports->items[i], "name", "\"" + std::string(name) + "\" is there twice");
  }
}

void check_container(Review& review, const TreeValue& container) {
  check_text(review, container, "name", bad_dns_label);
  check_port_names(review, container);
  if (container.text_of("image").empty())
    refuse_field(review, container, "image", "is missing; it must be there");
  if (container.text_of("image") != trimmed(container.text_of("image")))
    refuse_field(review, container, "image", "must not begin or end with a space");
  const std::string_view restart = container.text_of("restartPolicy");
  if (!restart.empty() && restart != "Always" && restart != "OnFailure" && restart != "Never")
    refuse_field(review, container, "restartPolicy",
                 "must be Always, OnFailure or Never, found \"" +
                     std::string(base::cut_utf8(restart, 40)) + "\"");
  check_unique(review, container, "volumeMounts", "mountPath");
  if (const TreeValue* resources = container.find("resources")) {
    Review::Scope scope(review, "resources");
    check_huge_pages(review, *resources, false);
  }
  for (const std::string_view name : {"livenessProbe", "startupProbe"}) {
    const TreeValue* probe = container.find(name);
    if (probe == nullptr || number_of(*probe, "successThreshold", 1) <= 1) continue;
    Review::Scope scope(review, name);
    refuse_field(review, *probe, "successThreshold", "must be 1 here");
  }
}

void check_environment(Review& review, const TreeValue& variable) {
  if (variable.text_of("name").empty()) refuse_field(review, variable, "name", "must not be empty");
  if (!variable.text_of("value").empty() && variable.find("valueFrom") != nullptr)
    refuse_field(review, variable, "valueFrom", "must not be set beside value");
}

void check_probe(Review& review, const TreeValue& probe) {
  for (const std::string_view name : {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                      "successThreshold", "failureThreshold"})
    check_range(review, probe, name, 0, kProbeNumberMax);
  std::size_t handlers = 0;
  for (const std::string_view name : {"exec", "grpc", "httpGet", "tcpSocket"})
    handlers += probe.find(name) != nullptr;
  if (handlers != 1)
    review.refuse(probe.line, "must have one of exec, grpc, httpGet and tcpSocket, found " +
                                  std::to_string(handlers));
}

void check_port(Review& review, const TreeValue& port) {
  const auto range = [&](std::string_view name, std::int64_t least) {
    const std::int64_t number = number_of(port, name, least);
    if (number < least || number > kPortMax)
      refuse_field(review, port, name, "must be 1 to 65535, found " + std::to_string(number));
  };
  range("hostPort", 0);
  if (port.find("containerPort") == nullptr)
    refuse_field(review, port, "containerPort", "is missing; it must be there");
  else
    range("containerPort", 1);
  if (!port.text_of("name").empty()) check_text(review, port, "name", bad_port_name);
}

}  // namespace

std::vector<RuleEntry> container_rules() {
  return {{"Container", check_container},
          {"EnvVar", check_environment},
          {"Probe", check_probe},
          {"ContainerPort", check_port}};
}

}  // namespace karst::objects
