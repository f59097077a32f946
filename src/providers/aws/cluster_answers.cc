#include "providers/aws/cluster_answers.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "providers/aws/json_fields.h"

namespace karst::providers::aws {
namespace {

using nlohmann::json;

json page_of(const Answers& answers, std::string_view key) {
  const auto at = answers.find(key);
  if (at == answers.end() || at->second.pages.empty()) return {};
  return json::parse(at->second.pages.front(), nullptr, /*allow_exceptions=*/false);
}

Question about_cluster(std::string_view key, Request request, std::int64_t life_millis,
                       std::string_view fault) {
  Question question{std::string(key), std::move(request)};
  question.life_millis = life_millis;
  question.fault = fault;
  question.shared = true;
  return question;
}

Request request_of(const char* service, const char* action, std::vector<std::string> path) {
  Request request{service, action};
  request.path = std::move(path);
  return request;
}

// Times are seconds since 1970, maybe with a fraction. A shift that AWS began itself has no end.
bool is_ahead(const json& shift, std::int64_t now_millis) {
  const auto at = shift.find("expiryTime");
  if (at == shift.end() || !at->is_number()) return true;
  const std::string text = at->dump();
  std::int64_t seconds = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (read.ec != std::errc() || text.find("e+") != text.npos) return true;  // beyond all times
  return seconds > now_millis / 1000;
}

}  // namespace

void ask_about_cluster(std::vector<Question>& out, const Cluster& cluster) {
  if (cluster.version_of_eks)
    out.push_back(about_cluster(
        kClusterKey, request_of("eks", "DescribeCluster", {"clusters", cluster.name}),
        kVersionLifeMillis,
        "EKS_CONTROL_PLANE: the cluster's version cannot be asked of EKS, and the one known "
        "before counts on; allow eks:DescribeCluster"));
  if (cluster.heeds_shifts && !cluster.arn.empty())
    out.push_back(about_cluster(
        kShiftsKey,
        request_of("arc-zonal-shift", "GetManagedResource", {"managedresources", cluster.arn}),
        kShiftsLifeMillis,
        "ENABLE_ZONAL_SHIFT: zonal shifts cannot be read, and those read before count on; allow "
        "arc-zonal-shift:GetManagedResource, and enable zonal shift for the EKS cluster"));
}

Cluster as_answered(Cluster cluster, const Answers& answers) {
  if (!cluster.version_of_eks) return cluster;
  const json body = page_of(answers, kClusterKey);
  const json::json_pointer at("/cluster/version");
  if (body.is_object() && body.contains(at) && body[at].is_string() && !body[at].empty())
    cluster.version = body[at].get<std::string>();
  return cluster;
}

std::vector<std::string> shifted_zones(const Answers& answers, const std::vector<Subnet>& subnets,
                                       std::int64_t now_millis) {
  const json body = page_of(answers, kShiftsKey);
  std::set<std::string> away_from;  // zone ids
  if (body.is_object())
    for (const char* list : {"zonalShifts", "autoshifts"})
      if (const auto shifts = body.find(list); shifts != body.end() && shifts->is_array())
        for (const json& one : *shifts)
          if (one.is_object() && text_of(one, "appliedStatus") == "APPLIED" &&
              is_ahead(one, now_millis))
            away_from.insert(text_of(one, "awayFrom"));
  std::vector<std::string> zones;
  for (const Subnet& subnet : subnets)
    if (away_from.contains(subnet.zone_id)) zones.push_back(subnet.zone);
  std::sort(zones.begin(), zones.end());
  zones.erase(std::unique(zones.begin(), zones.end()), zones.end());
  return zones;
}

}  // namespace karst::providers::aws
