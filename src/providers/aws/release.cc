#include "providers/aws/release.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "providers/aws/answers.h"
#include "providers/aws/catalogue.h"
#include "providers/aws/json_fields.h"
#include "providers/aws/profile.h"
#include "providers/aws/xml.h"

namespace karst::providers::aws {
namespace {

constexpr std::string_view kTemplates = "templates";
constexpr std::string_view kProfiles = "profiles";
constexpr std::string_view kGone[] = {
    "NoSuchEntity", "InvalidLaunchTemplateId.NotFound",
    "InvalidLaunchTemplateName.NotFoundException"};  // the last: of an id, too, as some servers say

ReleaseStep list_templates(const ReleaseSubject& subject, const Cluster& cluster) {
  ReleaseStep step{std::string(kTemplates), {"ec2", "DescribeLaunchTemplates", Tree::object()}};
  step.request.parameters["MaxResults"] = "200";
  add_filter(step.request, "tag:kubernetes.io/cluster/" + cluster.name, {"owned"});
  add_filter(step.request, "tag:" + std::string(kNodeClassLabel), {subject.name});
  return step;
}

ReleaseStep list_profiles(const ReleaseSubject& subject, const Cluster& cluster) {
  ReleaseStep step{std::string(kProfiles), {"iam", "ListInstanceProfiles", Tree::object()}};
  step.request.parameters["PathPrefix"] = profile_path(cluster, subject.uid);
  return step;
}

ReleaseStep about_profile(const std::string& key, const char* action, const std::string& name) {
  ReleaseStep step{key + name, {"iam", action, Tree::object()}};
  step.request.parameters["InstanceProfileName"] = name;
  return step;
}

std::vector<std::string> template_ids(const Answers& answers) {
  std::vector<std::string> ids;
  Pages pages = pages_of(answers, kTemplates);
  each_answered(pages, "launchTemplates", [&](const pugi::xml_node& item) {
    if (std::string id = text_at(item, "launchTemplateId"); !id.empty())
      ids.push_back(std::move(id));
  });
  return ids;
}

// A path with the class's uid is nobody else's. It is looked at again: not every server heeds the
// prefix that was asked for.
std::vector<std::string> profile_names(const Answers& answers, const std::string& path) {
  std::vector<std::string> names;
  for (const std::string* page : pages_of(answers, kProfiles).pages)
    if (const auto document = read_xml(*page))
      for (const pugi::xml_node& member :
           document->document_element()
               .first_element_by_path("ListInstanceProfilesResult/InstanceProfiles")
               .children("member"))
        if (text_at(member, "Path") == path)
          names.push_back(text_at(member, "InstanceProfileName"));
  return names;
}

struct Profile {
  bool ours = false;
  std::vector<std::string> roles;
};

Profile read_profile(const Answer& answer, const Cluster& cluster, const std::string& class_name) {
  Profile profile;
  if (answer.pages.empty()) return profile;
  const auto document = read_xml(answer.pages.front());
  if (!document) return profile;
  const pugi::xml_node found = document->document_element().first_element_by_path(
      "GetInstanceProfileResult/InstanceProfile");
  bool of_cluster = false;
  bool of_class = false;
  for (const pugi::xml_node& tag : found.child("Tags").children("member")) {
    const std::string key = text_at(tag, "Key");
    const std::string value = text_at(tag, "Value");
    of_cluster |= key == "kubernetes.io/cluster/" + cluster.name && value == "owned";
    of_class |= key == kNodeClassLabel && value == class_name;
  }
  profile.ours = of_cluster && of_class;
  for (const pugi::xml_node& role : found.child("Roles").children("member"))
    profile.roles.push_back(text_at(role, "RoleName"));
  return profile;
}

// Look, take the role out, delete: EC2's machines keep what they were given.
std::optional<ReleaseStep> next_of_profile(const std::string& name, const ReleaseSubject& subject,
                                           const Cluster& cluster, const Answers& answers) {
  ReleaseStep look = about_profile("profile/", "GetInstanceProfile", name);
  const Answer* found = answer_of(answers, look.key);
  if (found == nullptr) return look;
  const Profile profile = read_profile(*found, cluster, subject.name);
  if (!profile.ours) return std::nullopt;  // or it is gone
  for (const std::string& role : profile.roles) {
    ReleaseStep step = about_profile("role/" + role + "/", "RemoveRoleFromInstanceProfile", name);
    step.request.parameters["RoleName"] = role;
    step.reads = false;
    if (answer_of(answers, step.key) == nullptr) return step;
  }
  ReleaseStep step = about_profile("delete/", "DeleteInstanceProfile", name);
  step.reads = false;
  return answer_of(answers, step.key) == nullptr ? std::optional(step) : std::nullopt;
}

}  // namespace

std::string encode_release(const model::NodeClass& node_class) {
  const auto spec = nlohmann::json::parse(node_class.spec_json, nullptr, false);
  const bool role = spec.is_object() && !text_of(spec, "role").empty();
  return nlohmann::json{{"name", node_class.ref.name}, {"uid", node_class.uid}, {"role", role}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

base::Result<ReleaseSubject> read_release(std::string_view bytes) {
  const auto read = nlohmann::json::parse(bytes, nullptr, false);
  ReleaseSubject subject;
  if (read.is_object()) {
    subject = {text_of(read, "name"), text_of(read, "uid"),
               read.value("role", nlohmann::json()) == nlohmann::json(true)};
  }
  // An empty uid would make the path of all the cluster's classes.
  if (subject.name.empty() || subject.uid.empty())
    return base::fail(base::Kind::kInvalid, "not the bytes of a node class's release");
  return subject;
}

std::optional<ReleaseStep> next_release(const ReleaseSubject& subject, const Cluster& cluster,
                                        const Answers& answers) {
  if (answer_of(answers, kTemplates) == nullptr) return list_templates(subject, cluster);
  for (const std::string& id : template_ids(answers)) {
    ReleaseStep step{"template/" + id, {"ec2", "DeleteLaunchTemplate", Tree::object()}, false};
    step.request.parameters["LaunchTemplateId"] = id;
    if (answer_of(answers, step.key) == nullptr) return step;
  }
  if (answer_of(answers, kProfiles) == nullptr) return list_profiles(subject, cluster);
  for (const std::string& name : profile_names(answers, profile_path(cluster, subject.uid)))
    if (auto step = next_of_profile(name, subject, cluster, answers)) return step;
  return std::nullopt;
}

bool release_goes_on(const ReleaseSubject& subject, const ReleaseStep& step, const Answer& answer) {
  // What cannot be read does not say that there is nothing.
  if (answer.error_code.empty())
    return !step.reads ||
           std::all_of(answer.pages.begin(), answer.pages.end(), [&](const auto& page) {
             const auto document = read_xml(page);
             return document &&
                    document->document_element().name() == step.request.action + "Response";
           });
  // Who may not list profiles, or cannot reach IAM, has made none for a class without a role.
  if (step.key == kProfiles) return !subject.has_role;
  return std::find(std::begin(kGone), std::end(kGone), answer.error_code) != std::end(kGone);
}

}  // namespace karst::providers::aws
