#include "providers/aws/profile.h"

#include <algorithm>

#include "base/sha256.h"
#include "providers/aws/answers.h"
#include "providers/aws/xml.h"

namespace karst::providers::aws {
namespace {

constexpr std::size_t kClusterNameMax = 100;  // EKS's own; a profile's name may have 128
constexpr std::size_t kHashLength = 20;
constexpr std::string_view kMissing = "NoSuchEntity";
constexpr std::string_view kThere = "EntityAlreadyExists";
constexpr std::string_view kFull = "LimitExceeded";  // it has a role: the one that we gave it

bool never(const Answer&) {
  return false;
}

// "team/node" is a role "node" at a path.
std::string role_name(const std::string& role) {
  return role.substr(role.rfind('/') + 1);
}

Question ask(const std::string& key, const char* action, const std::string& name) {
  Question question{key, {"iam", action, Tree::object()}};
  question.request.parameters["InstanceProfileName"] = name;
  return question;
}

Question create(const NodeClassSubject& subject, const Cluster& cluster, const std::string& name) {
  Question question = ask("profile/create", "CreateInstanceProfile", name);
  question.may_serve_again = never;  // what made it once does not make it again
  Tree& parameters = question.request.parameters;
  parameters["Path"] = profile_path(cluster, subject.uid);
  model::Labels tags = subject.spec.tags;
  model::set_label(tags, "kubernetes.io/cluster/" + cluster.name, "owned");
  model::set_label(tags, "eks:eks-cluster-name", cluster.name);
  model::set_label(tags, "karpenter.k8s.aws/ec2nodeclass", subject.name);
  model::set_label(tags, "topology.kubernetes.io/region", cluster.region);
  for (const auto& [key, value] : tags)
    parameters["Tags"].push_back(Tree{{"Key", key}, {"Value", value}});
  return question;
}

// Whether the profile that was answered has a role already.
bool has_role(const Answer& answer) {
  if (answer.pages.empty()) return false;
  const auto document = read_xml(answer.pages.front());
  return document && document->document_element()
                         .first_element_by_path("GetInstanceProfileResult/InstanceProfile/Roles")
                         .child("member");
}

}  // namespace

std::string profile_name(const NodeClassSubject& subject, const Cluster& cluster) {
  std::string content;
  for (const std::string* part : {&cluster.name, &cluster.region, &subject.uid, &subject.spec.role})
    content += *part + '\n';
  return cluster.name.substr(0, kClusterNameMax) + "_" +
         base::base32_lower(base::sha256(content)).substr(0, kHashLength);
}

std::string profile_path(const Cluster& cluster, const std::string& class_uid) {
  return "/karpenter/" + cluster.region + "/" + cluster.name + "/" + class_uid + "/";
}

void ask_for_profile(std::vector<Question>& out, const NodeClassSubject& subject,
                     const Cluster& cluster, const Answers& answers) {
  if (subject.spec.role.empty() || !cluster.may_make_profiles) return;
  const std::string name = profile_name(subject, cluster);
  out.push_back(ask("profile", "GetInstanceProfile", name));
  out.back().life_millis = kProfileLifeMillis;
  out.back().may_serve_again = has_role;
  const Answer* found = answer_of(answers, "profile");
  if (found == nullptr) return;
  bool lacks_role = found->error_code.empty() && !has_role(*found);
  if (found->error_code == kMissing) {
    out.push_back(create(subject, cluster, name));
    const Answer* created = answer_of(answers, "profile/create");
    lacks_role =
        created != nullptr && (created->error_code.empty() || created->error_code == kThere);
  }
  if (!lacks_role) return;
  out.push_back(ask("profile/role", "AddRoleToInstanceProfile", name));
  out.back().may_serve_again = never;
  out.back().request.parameters["RoleName"] = role_name(subject.spec.role);
}

std::string resolve_profile(const NodeClassSubject& subject, const Cluster& cluster,
                            const Answers& answers, Resolved& resolved) {
  if (subject.spec.role.empty()) {
    resolved.instance_profile = subject.spec.instance_profile;
    return {};
  }
  if (!cluster.may_make_profiles) {
    resolved.instance_profile = profile_name(subject, cluster);
    return {};
  }
  for (const auto& [key, harmless] : {std::pair(std::string_view("profile"), kMissing),
                                      std::pair(std::string_view("profile/create"), kThere),
                                      std::pair(std::string_view("profile/role"), kFull)}) {
    const Answer* answer = answer_of(answers, key);
    if (answer != nullptr && !answer->error_code.empty() && answer->error_code != harmless)
      return answer->error_code + ": " + answer->error_message;
  }
  if (answer_of(answers, "profile") == nullptr) return "the instance profile is not known yet";
  resolved.instance_profile = profile_name(subject, cluster);
  return {};
}

}  // namespace karst::providers::aws
