#include "providers/aws/dry_run.h"

#include <algorithm>

#include "providers/aws/answers.h"
#include "providers/aws/catalogue.h"
#include "providers/aws/class_types.h"
#include "providers/aws/images.h"
#include "providers/aws/launch_template.h"
#include "providers/aws/user_data.h"

namespace karst::providers::aws {
namespace {

constexpr std::string_view kTemplateKey = "dry-run/template";
constexpr std::string_view kInstancePrefix = "dry-run/instance/";
constexpr std::string_view kDenied = "UnauthorizedOperation";
constexpr std::string_view kNoProfile = "Invalid IAM Instance Profile name";
// Whichever the class's images fit first: ordinary machines, then those of accelerators.
constexpr std::string_view kTypes[] = {"m5.large", "m6g.large", "g4dn.xlarge", "g5g.xlarge",
                                       "inf2.xlarge"};

struct Trial {
  std::string type;
  Request launch_template;
  model::Labels tags;
};

// No type: no image fits any of them. Errors: the user data cannot be made.
base::Result<Trial> trial_of(const NodeClassSubject& subject, const Resolved& resolved) {
  model::NodeClaim claim;
  claim.pool = model::PoolName("dry-run");
  claim.node_class = {"karpenter.k8s.aws", "EC2NodeClass", subject.name};
  const TemplateInput input{&subject.spec, &resolved, &claim, "on-demand", "default"};
  const NodeClassSettings settings = settings_of(subject.spec, resolved);
  for (const std::string_view wanted : kTypes)
    for (const TypeFacts& facts : type_facts()) {
      if (facts.name != wanted || !fits(facts, settings)) continue;
      const model::InstanceType type = make_type(facts, settings);
      const Image* image = image_for(resolved.images, model::Requirements(type.requirements));
      if (image == nullptr) continue;
      TemplateKey key;
      key.image = image->id;
      key.max_pods = type.capacity.pods;
      auto made = launch_template(key, input);
      if (!made) return base::fail(std::move(made.error()));
      return Trial{std::string(wanted), std::move(*made), launch_tags(input)};
    }
  return Trial{};
}

Question dry(std::string key, Request request) {
  request.parameters["DryRun"] = "true";
  Question question{std::move(key), std::move(request)};
  question.life_millis = kDryRunLifeMillis;
  question.good_code = kDryRunPasses;
  return question;
}

// The template's machine without the template: one with our tags would have to be there.
Request run_instances(const Trial& trial, const std::string& subnet) {
  Request request{"ec2", "RunInstances", trial.launch_template.parameters["LaunchTemplateData"]};
  Tree& parameters = request.parameters;
  parameters["InstanceType"] = trial.type;
  parameters["MinCount"] = parameters["MaxCount"] = "1";
  for (Tree& one : parameters["NetworkInterface"]) one["SubnetId"] = subnet;
  for (const char* what : {"instance", "volume"})
    parameters["TagSpecification"].push_back(
        Tree{{"ResourceType", what}, {"Tag", tag_list(trial.tags)}});
  return request;
}

bool passes(const Answer& answer) {
  return answer.error_code == kDryRunPasses;
}

}  // namespace

void ask_dry_run(std::vector<Question>& out, const NodeClassSubject& subject,
                 const Resolved& resolved, const Answers& answers) {
  const auto trial = trial_of(subject, resolved);
  if (!trial || trial->type.empty()) return;
  if (answer_of(answers, kTemplateKey) == nullptr)
    out.push_back(dry(std::string(kTemplateKey), trial->launch_template));
  for (std::size_t i = 0; i < std::min(kDryRunSubnetsMax, resolved.subnets.size()); ++i) {
    const std::string& subnet = resolved.subnets[i].id;
    const std::string key = std::string(kInstancePrefix) + subnet;
    const Answer* known = answer_of(answers, key);
    if (known == nullptr) return out.push_back(dry(key, run_instances(*trial, subnet)));
    if (passes(*known)) return;
  }
}

std::optional<Finding> dry_run_finding(const NodeClassSubject& subject, const Resolved& resolved,
                                       const Answers& answers) {
  // Other user data that cannot be made is told by the launch that it spoils.
  if (const auto trial = trial_of(subject, resolved);
      !trial && trial.error().message.find(kUserDataTooLong) != std::string::npos)
    return Finding{"UserDataSizeLimitExceeded", trial.error().message};
  const Answer* made = answer_of(answers, kTemplateKey);
  if (made != nullptr && made->error_code == kDenied)
    return Finding{"CreateLaunchTemplateAuthCheckFailed",
                   "ec2:CreateLaunchTemplate: " + stable_text(made->error_message)};
  std::optional<Finding> found;
  for (const auto& [key, answer] : answers) {
    if (!key.starts_with(kInstancePrefix)) continue;
    if (passes(answer)) return std::nullopt;
    if (found) continue;
    if (answer.error_code == kDenied)
      found = {"RunInstancesAuthCheckFailed",
               "ec2:RunInstances: " + stable_text(answer.error_message)};
    // One that karst has just made may not be known everywhere yet.
    if (answer.error_message.find(kNoProfile) != std::string::npos &&
        !subject.spec.instance_profile.empty())
      found = {"InstanceProfileNotFound",
               "instanceProfile: EC2 knows no \"" + subject.spec.instance_profile + "\""};
  }
  return found;
}

}  // namespace karst::providers::aws
