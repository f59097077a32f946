#include "providers/aws/selectors.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/time.h"
#include "providers/aws/answers.h"
#include "providers/aws/class_status.h"
#include "providers/aws/cluster_answers.h"
#include "providers/aws/dry_run.h"
#include "providers/aws/images.h"
#include "providers/aws/profile.h"
#include "providers/aws/xml.h"

namespace karst::providers::aws {
namespace {

using model::ConditionStatus;

constexpr std::int64_t kBlockExpiresMillis = 40 * base::kMillisPerMinute;
constexpr std::string_view kSsmPrefix = "ssm/";

void add_tag_filters(Request& request, const model::Labels& tags) {
  for (const auto& [key, value] : tags)
    value == "*" ? add_filter(request, "tag-key", {key})
                 : add_filter(request, "tag:" + key, {value});
}

Request describe(const char* action) {
  Request request{"ec2", action, Tree::object()};
  request.parameters["MaxResults"] = "1000";
  return request;
}

// Terms by id, and for groups by name, are one question; each term by tags is one of its own.
void ask_terms(std::vector<Question>& out, const std::vector<SelectorTerm>& terms,
               const char* action, const std::string& prefix, const char* id_filter) {
  std::vector<std::string> ids;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!terms[i].id.empty()) {
      ids.push_back(terms[i].id);
    } else if (!terms[i].name.empty()) {
      names.push_back(terms[i].name);
    } else {
      Question question{prefix + std::to_string(i), describe(action)};
      add_tag_filters(question.request, terms[i].tags);
      out.push_back(std::move(question));
    }
  }
  if (!ids.empty()) {
    out.push_back({prefix + "ids", describe(action)});
    add_filter(out.back().request, id_filter, ids);
  }
  if (!names.empty()) {
    out.push_back({prefix + "names", describe(action)});
    add_filter(out.back().request, "group-name", names);
  }
}

void ask_reservations(std::vector<Question>& out, const std::vector<SelectorTerm>& terms) {
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const SelectorTerm& term = terms[i];
    if (!term.id.empty()) {
      ids.push_back(term.id);
      continue;
    }
    Question question{"reservation/" + std::to_string(i), describe("DescribeCapacityReservations")};
    add_filter(question.request, "state", {"active"});
    add_tag_filters(question.request, term.tags);
    if (!term.owner.empty()) add_filter(question.request, "owner-id", {term.owner});
    if (!term.match_criteria.empty())
      add_filter(question.request, "instance-match-criteria", {term.match_criteria});
    out.push_back(std::move(question));
  }
  if (ids.empty()) return;
  Question question{"reservation/ids", {"ec2", "DescribeCapacityReservations", Tree::object()}};
  question.request.parameters["CapacityReservationId"] = ids;
  add_filter(question.request, "state", {"active"});
  out.push_back(std::move(question));
}

void ask_placement_group(std::vector<Question>& out, const NodeClassSpec& spec) {
  if (spec.placement_group_name.empty() && spec.placement_group_id.empty()) return;
  Question question{"placement-group", {"ec2", "DescribePlacementGroups", Tree::object()}};
  if (spec.placement_group_id.empty())
    question.request.parameters["GroupName"] = {spec.placement_group_name};
  else
    question.request.parameters["GroupId"] = {spec.placement_group_id};
  out.push_back(std::move(question));
}

Question ask_parameter(const std::string& name) {
  Question question{std::string(kSsmPrefix) + name, {"ssm", "GetParameter", Tree::object()}};
  question.request.parameters["Name"] = name;
  return question;
}

// The image id that a parameter holds; empty when it holds none, or was refused.
std::string parameter_value(const Answers& answers, const std::string& name) {
  const auto at = answers.find(std::string(kSsmPrefix) + name);
  if (at == answers.end() || at->second.pages.empty()) return {};
  const auto answer = nlohmann::json::parse(at->second.pages.front(), nullptr, false);
  const auto pointer = nlohmann::json::json_pointer("/Parameter/Value");
  if (!answer.is_object() || !answer.contains(pointer) || !answer[pointer].is_string()) return {};
  std::string value = answer[pointer].get<std::string>();
  return value.starts_with("ami-") ? value : std::string();
}

// An image id, and what it serves.
struct Wanted {
  std::string id;
  Variant variant = Variant::kAny;
};

std::vector<Wanted> wanted_images(const NodeClassSpec& spec, const Cluster& cluster,
                                  const Answers& answers) {
  std::vector<Wanted> wanted;
  for (const AliasParameter& one : alias_parameters(spec.alias, cluster.version))
    if (const std::string id = parameter_value(answers, one.name); !id.empty())
      for (const Variant variant : one.variants) wanted.push_back({id, variant});
  for (const SelectorTerm& term : spec.images) {
    if (!term.id.empty()) wanted.push_back({term.id, Variant::kAny});
    if (term.ssm_parameter.empty()) continue;
    if (const std::string id = parameter_value(answers, term.ssm_parameter); !id.empty())
      wanted.push_back({id, Variant::kAny});
  }
  return wanted;
}

void ask_for_images(std::vector<Question>& out, const NodeClassSpec& spec, const Cluster& cluster,
                    const Answers& answers) {
  if (check_alias(spec.alias, cluster.version)) return;
  std::vector<std::string> names;
  for (const AliasParameter& one : alias_parameters(spec.alias, cluster.version))
    names.push_back(one.name);
  for (const SelectorTerm& term : spec.images)
    if (!term.ssm_parameter.empty()) names.push_back(term.ssm_parameter);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  bool complete = true;
  for (const std::string& name : names) {
    out.push_back(ask_parameter(name));
    complete = complete && answers.contains(out.back().key);
  }
  for (std::size_t i = 0; i < spec.images.size(); ++i)
    if (spec.images[i].id.empty() && spec.images[i].ssm_parameter.empty())
      out.push_back({"image/" + std::to_string(i), ask_images(spec.images[i])});
  if (!complete) return;
  std::set<std::string> ids;
  for (const Wanted& one : wanted_images(spec, cluster, answers)) ids.insert(one.id);
  if (!ids.empty()) out.push_back({"image/ids", ask_images({ids.begin(), ids.end()})});
}

// Every pod changes the number of free addresses: above 64 its three highest bits are kept, so that
// what was found is not another thing every minute.
std::int64_t coarse(std::int64_t addresses) {
  constexpr std::int64_t kExactBelow = 64;
  std::int64_t unit = 1;
  while (addresses / unit >= kExactBelow) unit *= 2;
  return unit == 1 ? addresses : addresses / (unit * 8) * (unit * 8);
}

std::string resolve_subnets(const Answers& answers, std::vector<Subnet>& out) {
  Pages pages = pages_of(answers, "subnet/");
  each_answered(pages, "subnetSet", [&](const pugi::xml_node& item) {
    out.push_back({text_at(item, "subnetId"), text_at(item, "availabilityZone"),
                   text_at(item, "availabilityZoneId"),
                   coarse(number_at(item, "availableIpAddressCount").value_or(0))});
  });
  sort_unique_by_id(out);
  std::stable_sort(out.begin(), out.end(), [](const Subnet& a, const Subnet& b) {
    return a.free_addresses > b.free_addresses;
  });
  return pages.error;
}

std::string resolve_groups(const Answers& answers, std::vector<SecurityGroup>& out) {
  Pages pages = pages_of(answers, "group/");
  each_answered(pages, "securityGroupInfo", [&](const pugi::xml_node& item) {
    out.push_back({text_at(item, "groupId"), text_at(item, "groupName")});
  });
  sort_unique_by_id(out);
  return pages.error;
}

std::string resolve_images(const NodeClassSpec& spec, const Cluster& cluster,
                           const Answers& answers, std::int64_t now_millis,
                           std::vector<Image>& out) {
  Pages pages = pages_of(answers, "image/");
  const std::vector<Wanted> wanted = wanted_images(spec, cluster, answers);
  std::vector<Image> images;
  for (const std::string* page : pages.pages) {
    auto read = read_images(*page, now_millis);
    if (!read) {
      if (pages.error.empty()) pages.error = read.error().message;
      continue;
    }
    for (const Image& image : *read) {
      bool named = false;
      for (const Wanted& one : wanted)
        if (one.id == image.id) {
          named = true;
          images.push_back(with_variant(image, one.variant, spec.settings.family));
        }
      if (!named) images.push_back(with_variant(image, Variant::kAny, spec.settings.family));
    }
  }
  out = choose_images(std::move(images));
  if (out.empty() && pages.error.empty())
    return pages_of(answers, kSsmPrefix, {"ParameterNotFound"}).error;
  return pages.error;
}

std::string resolve_reservations(const Answers& answers, std::int64_t now_millis,
                                 std::vector<Reservation>& out) {
  Pages pages = pages_of(answers, "reservation/", {"InvalidCapacityReservationId.NotFound"});
  each_answered(pages, "capacityReservationSet", [&](const pugi::xml_node& item) {
    Reservation one;
    one.id = text_at(item, "capacityReservationId");
    one.zone = text_at(item, "availabilityZone");
    one.instance_type = text_at(item, "instanceType");
    one.owner = text_at(item, "ownerId");
    one.match_criteria = text_at(item, "instanceMatchCriteria");
    if (text_at(item, "reservationType") == "capacity-block") one.type = "capacity-block";
    one.end = text_at(item, "endDate");
    one.available = number_at(item, "availableInstanceCount").value_or(0);
    one.interruptible = true_at(item, "interruptible");
    if (text_at(item, "state") != "active") return;
    const auto end = base::parse_rfc3339(one.end);
    const bool expiring =
        one.type == "capacity-block" && end && *end - now_millis <= kBlockExpiresMillis;
    one.state = expiring ? kExpiring : "active";
    out.push_back(std::move(one));
  });
  sort_unique_by_id(out);
  return pages.error;
}

std::string resolve_placement_group(const Answers& answers, PlacementGroup& out) {
  Pages pages = pages_of(answers, "placement-group", {"InvalidPlacementGroup.Unknown"});
  each_answered(pages, "placementGroupSet", [&](const pugi::xml_node& item) {
    out = {text_at(item, "groupId"), text_at(item, "groupName"), text_at(item, "strategy"),
           number_at(item, "partitionCount").value_or(0)};
  });
  return pages.error;
}

void add_images_condition(ClassStatus& conditions, const NodeClassSpec& spec,
                          const Cluster& cluster, const Resolved& resolved,
                          const std::string& error) {
  if (const auto unsupported = check_alias(spec.alias, cluster.version))
    conditions.add("AMIsReady", ConditionStatus::kFalse, unsupported->reason, unsupported->message);
  else
    conditions.found("AMIsReady", !resolved.images.empty(), error, "AMINotFound",
                     "amiSelectorTerms: they match no image of this account and region");
}

void add_validation(ClassStatus& conditions, const NodeClassSubject& subject,
                    const Resolved& resolved, const Answers& answers) {
  constexpr const char* kType = "ValidationSucceeded";
  const NodeClassSpec& spec = subject.spec;
  const Cluster& cluster = resolved.cluster;
  const std::set<std::string> apart = {"PlacementGroupReady", "CapacityReservationsReady"};
  if (const auto found = check_node_class(spec))
    return conditions.add(kType, ConditionStatus::kFalse, found->reason, found->message);
  if (spec.settings.family == Family::kAl2023 && cluster.service_cidr.empty())
    return conditions.add(kType, ConditionStatus::kFalse, "ClusterCIDRResolutionFailed",
                          "the cluster's service CIDR is not known: AL2023 needs it; allow "
                          "eks:DescribeCluster");
  const ConditionStatus worst = conditions.worst(apart);
  const auto refused = worst == ConditionStatus::kTrue && cluster.tries_launches
                           ? dry_run_finding(subject, resolved, answers)
                           : std::nullopt;
  if (refused)
    return conditions.add(kType, ConditionStatus::kFalse, refused->reason, refused->message);
  if (worst == ConditionStatus::kTrue) return conditions.hold(kType);
  conditions.add(kType, worst, "DependenciesNotReady",
                 "waits for " + conditions.named(worst, apart));
}

// All but what a launch comes to.
Resolved find_all(const NodeClassSubject& subject, const Cluster& cluster, const Answers& answers,
                  std::int64_t now_millis, ClassStatus& conditions) {
  const NodeClassSpec& spec = subject.spec;
  Resolved resolved;
  resolved.cluster = cluster;
  const std::string subnets = resolve_subnets(answers, resolved.subnets);
  conditions.found("SubnetsReady", !resolved.subnets.empty(), subnets, "SubnetsNotFound",
                   "subnetSelectorTerms: they match no subnet of this account and region");
  resolved.shifted_zones = shifted_zones(answers, resolved.subnets, now_millis);
  const std::string groups = resolve_groups(answers, resolved.security_groups);
  conditions.found("SecurityGroupsReady", !resolved.security_groups.empty(), groups,
                   "SecurityGroupsNotFound",
                   "securityGroupSelectorTerms: they match no group of this account and region");
  const std::string images = resolve_images(spec, cluster, answers, now_millis, resolved.images);
  add_images_condition(conditions, spec, cluster, resolved, images);
  const std::string profile = resolve_profile(subject, cluster, answers, resolved);
  conditions.found("InstanceProfileReady", true, profile, "", "");
  if (!spec.placement_group_name.empty() || !spec.placement_group_id.empty()) {
    const std::string group = resolve_placement_group(answers, resolved.placement_group);
    conditions.found("PlacementGroupReady", !resolved.placement_group.id.empty(), group,
                     "PlacementGroupNotFound", "placementGroupSelector: there is no such group");
  }
  const std::string reservations = resolve_reservations(answers, now_millis, resolved.reservations);
  conditions.found("CapacityReservationsReady", true, reservations, "", "");
  return resolved;
}

// When all else is found. Which of a class's images is tried makes no difference, so no time is
// needed.
void ask_for_launch(std::vector<Question>& out, const NodeClassSubject& subject,
                    const Cluster& cluster, const Answers& answers) {
  ClassStatus conditions(subject.generation);
  const Resolved resolved = find_all(subject, cluster, answers, 0, conditions);
  if (conditions.worst() == ConditionStatus::kTrue && !check_node_class(subject.spec))
    ask_dry_run(out, subject, resolved, answers);
}

void set_life(const Cluster& cluster, Question& question) {
  if (question.key.starts_with("subnet/")) question.life_millis = cluster.subnet_refresh_millis;
  if (question.key.starts_with("image/")) question.life_millis = cluster.image_refresh_millis;
  if (question.key.starts_with(kSsmPrefix)) {
    question.life_millis = std::max(cluster.image_refresh_millis, kParameterLifeMillis);
    question.shared = true;
  }
}

}  // namespace

std::vector<Question> questions(const NodeClassSubject& subject, const Cluster& given,
                                const Answers& answers) {
  const Cluster cluster = as_answered(given, answers);
  std::vector<Question> all;
  ask_about_cluster(all, cluster);
  const NodeClassSpec& spec = subject.spec;
  ask_terms(all, spec.subnets, "DescribeSubnets", "subnet/", "subnet-id");
  ask_terms(all, spec.security_groups, "DescribeSecurityGroups", "group/", "group-id");
  // Aliases are of a version.
  if (!cluster.version_of_eks || answers.contains(kClusterKey))
    ask_for_images(all, spec, cluster, answers);
  ask_reservations(all, spec.reservations);
  ask_placement_group(all, spec);
  ask_for_profile(all, subject, cluster, answers);
  std::erase_if(all, [&](const Question& question) { return answers.contains(question.key); });
  if (all.size() > kQuestionsMax) all.resize(kQuestionsMax);
  for (Question& question : all) set_life(cluster, question);
  if (all.empty() && cluster.tries_launches) ask_for_launch(all, subject, cluster, answers);
  return all;
}

Resolution resolve(const NodeClassSubject& subject, const Cluster& cluster, const Answers& answers,
                   std::int64_t now_millis) {
  Resolution out;
  ClassStatus conditions(subject.generation);
  out.resolved = find_all(subject, as_answered(cluster, answers), answers, now_millis, conditions);
  add_validation(conditions, subject, out.resolved, answers);
  const ConditionStatus worst = conditions.worst();
  out.ready = worst == ConditionStatus::kTrue;
  if (out.ready)
    conditions.hold("Ready");
  else
    conditions.add("Ready", worst, "UnhealthyDependents", "waits for " + conditions.named(worst));
  out.conditions = conditions.take();
  return out;
}

}  // namespace karst::providers::aws
