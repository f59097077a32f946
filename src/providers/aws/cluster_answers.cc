#include "providers/aws/cluster_answers.h"

#include <nlohmann/json.hpp>

namespace karst::providers::aws {
namespace {

using nlohmann::json;

json page_of(const Answers& answers, std::string_view key) {
  const auto at = answers.find(key);
  if (at == answers.end() || at->second.pages.empty()) return {};
  return json::parse(at->second.pages.front(), nullptr, /*allow_exceptions=*/false);
}

}  // namespace

void ask_about_cluster(std::vector<Question>& out, const Cluster& cluster) {
  if (!cluster.version_of_eks) return;
  Question question{std::string(kClusterKey), {"eks", "DescribeCluster"}};
  question.request.path = {"clusters", cluster.name};
  question.life_millis = kVersionLifeMillis;
  question.fault =
      "EKS_CONTROL_PLANE: the cluster's version cannot be asked of EKS, and the one known before "
      "counts on; allow eks:DescribeCluster";
  out.push_back(std::move(question));
}

Cluster as_answered(Cluster cluster, const Answers& answers) {
  if (!cluster.version_of_eks) return cluster;
  const json body = page_of(answers, kClusterKey);
  const json::json_pointer at("/cluster/version");
  if (body.is_object() && body.contains(at) && body[at].is_string() && !body[at].empty())
    cluster.version = body[at].get<std::string>();
  return cluster;
}

}  // namespace karst::providers::aws
