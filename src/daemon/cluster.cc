#include "daemon/cluster.h"

#include <cstdlib>
#include <memory>
#include <utility>

#include "base/check.h"
#include "cloud/kwok/kwok_cloud.h"
#include "daemon/daemon.h"
#include "daemon/kube_events.h"
#include "daemon/late_sink.h"
#include "daemon/log_files.h"
#include "daemon/serve.h"
#include "daemon/stop_signal.h"
#include "daemon/system_clock.h"
#include "daemon/version.h"
#include "http/curl_transport.h"
#include "kube/client.h"
#include "kube/kube_edge.h"
#include "kube/kube_writer.h"
#include "providers/kwok/instance_types.h"
#include "providers/kwok/kwok.h"

namespace karst::daemon {
namespace {

// One way to the API server. The transport goes first, and with it every callback.
struct Way {
  Way(const kube::ServerAccess& access, const std::string& user_agent)
      : transport(std::make_unique<http::CurlTransport>(access.tls)),
        client(*transport, access, user_agent) {}

  std::unique_ptr<http::CurlTransport> transport;
  kube::Client client;
};

std::vector<kube::Watched> watched(const events::Config& config) {
  std::vector<kube::Watched> resources = kube::core_resources(config);
  resources.push_back(kube::node_class_resource("karpenter.kwok.sh", "v1alpha1", "kwoknodeclasses",
                                                "KWOKNodeClass"));
  return resources;
}

// Of a shadow: the engine gives it nothing to do.
class NoHands final : public ports::CommandPort {
 public:
  void submit(const ports::IssuedCommand&) override {
    KARST_CHECK(false, "a shadow sends nothing");
  }
};

// The cloud's, with the types of a file if one is named.
base::Result<std::shared_ptr<const providers::Provider>> provider_of(
    const ClusterSettings& settings) {
  const providers::Provider* built_in = providers::find_provider(settings.cloud);
  if (built_in == nullptr)
    return base::fail(base::Kind::kInvalid, "--cloud " + settings.cloud + ": this build has none");
  const std::string& file = settings.settings.instance_types_file;
  if (file.empty() || settings.cloud != "kwok")
    return std::shared_ptr<const providers::Provider>(built_in, [](const auto*) {});
  const auto bytes = kube::read_file(file, providers::kwok::kInstanceTypesFileMax);
  if (!bytes) return base::fail(bytes.error().with_context("INSTANCE_TYPES_FILE_PATH"));
  auto catalogue = providers::kwok::read_instance_types(*bytes);
  if (!catalogue) return base::fail(catalogue.error().with_context(file));
  return std::shared_ptr<const providers::Provider>(
      providers::kwok::provider_with(std::move(*catalogue)));
}

base::Result<events::Config> config_of(const ClusterSettings& settings,
                                       const providers::Provider& provider, kube::Client& client) {
  events::Config config;
  adopt(settings.settings, config);
  config.shadow = settings.shadow;
  config.provider = std::string(provider.name());
  config.cluster_uid = settings.cluster_uid;
  if (!config.cluster_uid.empty()) return config;
  auto identity = kube::read_cluster_identity(client);
  if (!identity) return base::fail(identity.error());
  config.cluster_uid = identity->uid;
  return config;
}

// What opening the log found; and what was given for Karpenter's sake and does nothing here.
void tell_start(const Store& store, const Settings& settings, LogNotices& notices,
                base::WallTime now) {
  if (!store.remark.empty()) notices.alarm(now, store.remark);
  std::string names;
  for (const std::string& name : settings.without_effect)
    names += (names.empty() ? "" : ", ") + name;
  if (!names.empty())
    notices.remark(LogLevel::kWarn, now, "settings without effect in this version: " + names);
}

}  // namespace

base::Status run_cluster(Store& store, const ClusterSettings& settings) {
  const auto log_files = LogFiles::open(settings.settings.log_paths);
  if (!log_files) return base::fail(log_files.error());
  auto kill_points = KillPoints::from_environment();
  if (!kill_points) return base::fail(kill_points.error());
  const auto chosen = provider_of(settings);
  if (!chosen) return base::fail(chosen.error());
  const providers::Provider* provider = chosen->get();
  const std::string user_agent = "karst/" + build_version();
  Way watches(settings.access, user_agent), writes(settings.access, user_agent),
      machines(settings.access, user_agent);
  const auto config = config_of(settings, *provider, writes.client);
  if (!config) return base::fail(config.error());
  const SystemClock clock;
  LineWriter lines(log_files->descriptors());
  LogNotices log_lines(
      lines, LogLines(decision_version(), store.log->id().str(), settings.settings.log_level));
  kube::EventPublisher publisher(writes.client);
  ClusterNotices told(log_lines, publisher);
  Notices& notices = settings.shadow ? static_cast<Notices&>(log_lines) : told;
  LateSink sink;
  kube::KubeEdge edge(watches.client, watched(*config), sink, clock,
                      [&](kube::KubeEdge::Following how, const std::string& line) {
                        if (how == kube::KubeEdge::Following::kAgain)
                          notices.relief(clock.wall(), line);
                        else
                          notices.alarm(clock.wall(), line);
                      });
  kube::KubeWriter writer(writes.client, sink, clock);
  cloud::KwokCloud cloud(machines.client, sink, clock);
  const AlwaysLeads lease;
  DaemonParts parts;
  parts.log = store.log.get();
  parts.snapshots = &store.log->snapshots();
  parts.provider = provider;
  parts.clock = &clock;
  NoHands none;
  parts.objects = settings.shadow ? static_cast<ports::CommandPort*>(&none) : &writer;
  parts.instances = settings.shadow ? static_cast<ports::CommandPort*>(&none) : &cloud;
  parts.lease = &lease;
  parts.notices = &notices;
  parts.lines = &lines;
  parts.kill_points = &*kill_points;
  parts.release_ballast = [&store] { store.log->release_ballast(); };
  parts.restore_ballast = [&store] { return store.log->restore_ballast(); };
  parts.log_space_low = !store.log->open_report().ballast;
  parts.cut = store.log->open_report().cut;
  parts.server_offset_millis = [&edge] { return edge.server_offset_millis(); };
  parts.engine.config = *config;
  parts.objects_in_metrics = !settings.settings.disable_cluster_state_observability;
  parts.engine.version = build_version();
  parts.engine.decision_version = decision_version();
  Daemon daemon(std::move(parts));
  sink.set(daemon.inbox());

  const auto listeners = serve(settings.listening, daemon.view());
  if (!listeners) return base::fail(listeners.error());
  tell_start(store, settings.settings, log_lines, clock.wall());
  edge.start();
  cloud.start();
  const StopWatch watch(0, [&] { daemon.stop(); });
  base::Status status = daemon.run();
  daemon.inbox().close();  // no edge waits for us any more
  watches.transport.reset();
  writes.transport.reset();
  machines.transport.reset();
  return status;
}

}  // namespace karst::daemon
