#include "daemon/cloud_parts.h"

#include <optional>
#include <utility>

#include "cloud/aws/account.h"
#include "cloud/aws/aws_cloud.h"
#include "cloud/aws/eks.h"
#include "cloud/aws/queue.h"
#include "cloud/kwok/kwok_cloud.h"
#include "daemon/way.h"
#include "kube/kube_edge.h"

namespace karst::daemon {
namespace {

namespace aws = cloud::aws;

constexpr int kQueueReceivers = 4;

// Node classes are asked about each minute: at that interval nothing need be kept.
std::int64_t kept_for(std::int64_t interval_millis) {
  return interval_millis > base::kMillisPerMinute ? interval_millis : 0;
}

class KwokParts final : public CloudParts {
 public:
  explicit KwokParts(const CloudNeeds& needs)
      : machines_(needs.settings), cloud_(machines_.client, needs.sink, needs.clock) {}
  cloud::Hands& hands() override { return cloud_; }
  void stop() override { machines_.transport.reset(); }

 private:
  Way machines_;
  cloud::KwokCloud cloud_;
};

class AwsParts final : public CloudParts {
 public:
  explicit AwsParts(const CloudNeeds& needs) : needs_(needs) {}

  base::Status open(const aws::Settings& account, const kube::ClusterIdentity& identity) {
    const Settings& settings = needs_.settings.settings;
    if (settings.cluster_name.empty())
      return base::fail(base::Kind::kInvalid,
                        "--cloud aws: the cluster's name is not known; set CLUSTER_NAME");
    KARST_TRY(open_account(account, transport_, account_));
    providers::aws::Cluster cluster;
    cluster.name = settings.cluster_name;
    cluster.uid = identity.uid;
    cluster.endpoint = settings.cluster_endpoint;
    cluster.ca = settings.cluster_ca;
    cluster.memory_overhead_ppm = settings.memory_overhead_ppm;
    cluster.reserved_interfaces = settings.reserved_interfaces;
    cluster.uses_reservations = settings.reserved_capacity;
    cluster.image_refresh_millis = kept_for(settings.image_refresh_millis);
    cluster.subnet_refresh_millis = kept_for(settings.subnet_refresh_millis);
    cluster.version = identity.version;
    cluster.version_of_eks = settings.eks_control_plane;
    cluster.heeds_shifts = settings.zonal_shift;
    cluster.region = account_->client().region();
    cluster.may_make_profiles = !needs_.settings.shadow;
    // A shadow's role launches nothing, and would be denied.
    cluster.tries_launches = !needs_.settings.shadow && !settings.disable_dry_run;
    KARST_TRY(complete(cluster));
    if (cluster.heeds_shifts && cluster.arn.empty())
      needs_.tell(false,
                  "ENABLE_ZONAL_SHIFT: the cluster's ARN is not known, and zonal shifts are not "
                  "heeded until the next start; allow eks:DescribeCluster");
    cloud_.emplace(account_->client(), needs_.sink, needs_.withheld, needs_.clock,
                   std::move(cluster));
    if (settings.isolated_vpc) cloud_->without_price_list();
    cloud_->tell_faults(needs_.tell);
    // A shadow deletes no message: it is somebody else's.
    if (settings.interruption_queue.empty() || needs_.settings.shadow) return {};
    KARST_TRY(open_account(account, queue_transport_, queue_account_));
    queue_.emplace(queue_account_->client(), needs_.sink, needs_.clock, settings.interruption_queue,
                   kQueueReceivers, needs_.tell);
    if (needs_.leads) queue_->only_while(needs_.leads);
    return {};
  }

  cloud::Hands& hands() override { return *cloud_; }
  ports::QueuePort* queue() override { return queue_ ? &*queue_ : nullptr; }
  void know_prices(const model::Catalogue& told, bool on_demand, bool spot) override {
    cloud_->know_prices(told, on_demand, spot);
  }
  void start() override {
    cloud_->start();
    if (queue_) queue_->start();
  }
  void stop() override {
    queue_transport_.reset();
    transport_.reset();
  }

 private:
  base::Status open_account(const aws::Settings& account,
                            std::unique_ptr<http::CurlTransport>& transport,
                            std::unique_ptr<aws::Account>& made) {
    transport = std::make_unique<http::CurlTransport>(http::TlsOptions{});
    aws::Account::Options options;
    options.jitter_millis = needs_.jitter_millis;
    options.user_agent = "karst/" + build_version();
    options.notice = needs_.tell;
    options.give_up = needs_.give_up;
    auto opened = aws::Account::open(*transport, needs_.clock, account, std::move(options));
    if (!opened) return base::fail(opened.error().with_context("--cloud aws"));
    made = std::move(*opened);
    return {};
  }

  // What settings leave open is asked of EKS. A cluster whose endpoint and CA are set can do
  // without; its AL2023 classes then say that the service CIDR is missing.
  base::Status complete(providers::aws::Cluster& cluster) {
    auto known = aws::ask_eks(account_->client(), cluster, needs_.give_up);
    if (!known && needs_.give_up && needs_.give_up()) return base::fail(known.error());
    const bool enough = !cluster.endpoint.empty() && !cluster.ca.empty();
    if (!known && !enough)
      return base::fail(known.error().with_context(
          "--cloud aws: CLUSTER_ENDPOINT and CLUSTER_CA_BUNDLE are not both set, and EKS was "
          "asked"));
    if (known)
      cluster = std::move(*known);
    else
      needs_.tell(false, "the cluster's service CIDR is not known: " + known.error().message);
    return {};
  }

  const CloudNeeds needs_;
  std::unique_ptr<aws::Account> account_, queue_account_;
  std::optional<aws::AwsCloud> cloud_;
  std::optional<aws::SqsQueue> queue_;
  std::unique_ptr<http::CurlTransport> transport_, queue_transport_;  // go before all above
};

}  // namespace

kube::Watched node_class_of(const std::string& cloud) {
  if (cloud == "aws")
    return kube::node_class_resource("karpenter.k8s.aws", "v1", "ec2nodeclasses", "EC2NodeClass");
  return kube::node_class_resource("karpenter.kwok.sh", "v1alpha1", "kwoknodeclasses",
                                   "KWOKNodeClass");
}

base::Result<std::unique_ptr<CloudParts>> open_cloud(const CloudNeeds& needs,
                                                     const kube::ClusterIdentity& identity) {
  if (needs.settings.cloud != "aws") return std::make_unique<KwokParts>(needs);
  auto account = aws::read_settings(aws::read_environment());
  if (!account) return base::fail(account.error().with_context("--cloud aws"));
  auto parts = std::make_unique<AwsParts>(needs);
  KARST_TRY(parts->open(*account, identity));
  return parts;
}

}  // namespace karst::daemon
