#include "daemon/cluster.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/sha256.h"
#include "base/time.h"
#include "daemon/cloud_parts.h"
#include "daemon/daemon.h"
#include "daemon/kube_events.h"
#include "daemon/late_sink.h"
#include "daemon/log_files.h"
#include "daemon/log_keeper.h"
#include "daemon/serve.h"
#include "daemon/stop_signal.h"
#include "daemon/system_clock.h"
#include "daemon/trail.h"
#include "daemon/version.h"
#include "daemon/way.h"
#include "kube/kube_edge.h"
#include "kube/kube_writer.h"
#include "kube/lease_holder.h"
#include "kube/preflight.h"
#include "projections/cluster_state.h"
#include "providers/kwok/instance_types.h"
#include "providers/kwok/kwok.h"
#include "reconcilers/reconciler.h"

namespace karst::daemon {
namespace {

std::vector<kube::Watched> watched(const events::Config& config, const Settings& settings) {
  std::vector<kube::Watched> resources = kube::core_resources(config);
  for (kube::Watched& one : resources)
    if (one.kind == kube::WatchedKind::kPod) one.default_spread = settings.default_spread;
  resources.push_back(node_class_of(config.provider));
  return resources;
}

// Of a shadow: what asks passes to whom it is for, and the engine gives it nothing else to do.
class AskingHands final : public ports::CommandPort {
 public:
  void ask(ports::CommandPort& hands) { hands_ = &hands; }
  void submit(const ports::IssuedCommand& command) override {
    KARST_CHECK(hands_ != nullptr && reconcilers::asks_only(command.spec),
                "a shadow changes nothing");
    hands_->submit(command);
  }

 private:
  ports::CommandPort* hands_ = nullptr;  // none: nothing is there to be asked
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
  const std::string& asked_by = settings.settings.instance_types_setting;
  const auto bytes = kube::read_file(file, providers::kwok::kInstanceTypesFileMax);
  if (!bytes) return base::fail(bytes.error().with_context(asked_by));
  auto catalogue = providers::kwok::read_instance_types(*bytes);
  if (!catalogue) return base::fail(catalogue.error().with_context(file).with_context(asked_by));
  return std::shared_ptr<const providers::Provider>(
      providers::kwok::provider_with(std::move(*catalogue)));
}

// HOSTNAME_uuid, as client-go names a candidate. The uuid stands for the log, its very folder and
// this machine since it was booted: only who can be there once at a time, for the folder is locked,
// is the same replica after a start, and need not wait for its own lease. A copy of the folder, or
// the same one on another machine, is another replica.
std::string identity_of(const Store& store) {
  const char* host = std::getenv("HOSTNAME");
  std::array<char, 256> name{};
  if (host == nullptr && ::gethostname(name.data(), name.size() - 1) == 0) host = name.data();
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct ::stat folder{};
  KARST_CHECK(::stat(store.data.c_str(), &folder) == 0, "the folder of an open log is there");
  const std::string place =
      boot + " " + std::to_string(folder.st_dev) + " " + std::to_string(folder.st_ino);
  std::string uuid =
      base::hex_lower(base::sha256("replica " + store.log->id().str() + " " + place)).substr(0, 32);
  uuid[12] = '8';  // RFC 9562: a uuid of one's own making
  uuid[16] = "89ab"[uuid[16] & 3];
  for (const std::size_t at : {20, 16, 12, 8}) uuid.insert(at, "-");
  return std::string(host == nullptr ? "" : host) + "_" + uuid;
}

// Up to a minute, another one for each replica, always the same for one.
std::int64_t jitter_of(const events::RocksLog& log) {
  const std::string digits = base::hex_lower(base::sha256("jitter " + log.id().str()));
  return std::strtoll(digits.substr(0, 8).c_str(), nullptr, 16) % base::kMillisPerMinute;
}

// What opening the log found; and what was given for Karpenter's sake and does nothing here.
void tell_start(const Store& store, const Settings& settings, LogNotices& notices,
                base::WallTime now) {
  if (!store.remark.empty()) notices.alarm(now, store.remark);
  for (const std::string& warning : start_warnings(settings))
    notices.remark(LogLevel::kWarn, now, warning);
}

// Whatever stands between the engine and one cluster. Destroyed in the reverse order, after stop().
class Cluster {
 public:
  Cluster(Store& store, const ClusterSettings& settings, const providers::Provider& provider,
          const LogFiles& log_files, KillPoints& kill_points)
      : store_(store),
        settings_(settings),
        kill_points_(kill_points),
        lines_(log_files.descriptors()),
        log_lines_(lines_, LogLines(decision_version(), store.log->id().str(),
                                    settings.settings.log_level)),
        watches_(settings),
        writes_(settings),
        election_(settings),
        publisher_(writes_.client),
        told_(log_lines_, publisher_),
        notices_(settings.shadow ? static_cast<Notices&>(log_lines_) : told_),
        parts_(parts_of(store)) {
    adopt(settings.settings, config_);
    config_.shadow = settings.shadow;
    config_.provider = std::string(provider.name());
    edge_.emplace(watches_.client, watched(config_, settings_.settings), sink_, withheld_, clock_,
                  [this](kube::KubeEdge::Following how, const std::string& line) {
                    tell(how == kube::KubeEdge::Following::kAgain, line);
                  });
    writer_.emplace(writes_.client, sink_, clock_);
    if (elects()) stand_for_election();
    fill_parts(provider);
  }

  base::Status run() {
    const auto listeners = serve(settings_.listening, board_);
    if (!listeners) return base::fail(listeners.error());
    const auto identity = ask_cluster();
    if (!identity && stop_signal_came()) return {};
    if (!identity) return base::fail(identity.error());
    config_.cluster_uid = settings_.cluster_uid.empty() ? identity->uid : settings_.cluster_uid;
    parts_.engine.config = config_;
    if (auto status = open_hands(*identity); !status)
      return stop_signal_came() ? base::Status() : status;
    Trail trail(store_, clock_, [this](bool good, const std::string& line) { tell(good, line); });
    trail.fill(parts_);
    Daemon daemon(std::move(parts_));
    sink_.set(daemon.inbox());
    tell_start(store_, settings_.settings, log_lines_, clock_.wall());
    if (elects()) tell_lease();
    for (const std::string& warning : settings_.access.warnings) tell(false, warning);
    LogKeeper keeper({store_.log.get(), store_.data, store_.archive, &clock_, &daemon.inbox(),
                      &board_, &notices_, store_.retain, kKeepEveryMillis, kill_points_});
    KARST_TRY(keeper.start());
    settings_.credentials->start(
        [this](bool works, const std::string& line) { tell(works, line); });
    trail.listen(sink_);
    edge_->start();
    const StopWatch watch(0, [&] { daemon.stop(); });
    base::Status status = daemon.run();
    stop(daemon);
    trail.stop();
    return status ? store_.log->sync() : status;  // the last head is of all of it
  }

 private:
  // A shadow needs no lease: it sends nothing.
  bool elects() const { return settings_.settings.leader_election && !settings_.shadow; }

  LeasePlace lease_place() const {
    return daemon::lease_place(settings_.settings.lease_namespace, kube::own_namespace());
  }
  kube::LeaseName lease_name() const {
    const std::string where = lease_place().namespace_name;
    return {where, settings_.settings.lease_name, identity_of(store_)};
  }

  void tell_lease() {
    const LeasePlace place = lease_place();
    log_lines_.remark(LogLevel::kInfo, clock_.wall(),
                      "leads by the lease " + place.namespace_name + "/" +
                          settings_.settings.lease_name + ": " + std::string(place.why));
  }

  void stand_for_election() {
    kube::LeaseHolder::Told told;
    told.won = [this] {
      edge_->relist();
      cloud_->hands().relist();
    };
    told.notice = [this](bool good, const std::string& line) { tell(good, line); };
    lease_.emplace(election_.client, lease_name(), sink_, clock_, std::move(told));
    writes_.client.guard_writes([this] { return lease_->guard(); });
  }

  void fill_parts(const providers::Provider& provider) {
    parts_.provider = &provider;
    parts_.clock = &clock_;
    parts_.objects = settings_.shadow ? static_cast<ports::CommandPort*>(&no_writer_) : &*writer_;
    parts_.lease = lease_ ? static_cast<const ports::LeasePort*>(&*lease_) : &always_;
    parts_.notices = &notices_;
    parts_.lines = &lines_;
    parts_.board = &board_;
    parts_.kill_points = &kill_points_;
    parts_.objects_in_metrics = !settings_.settings.disable_cluster_state_observability;
    parts_.server_offset_millis = [this] { return edge_->server_offset_millis(); };
    parts_.recovered = [this](const projections::ClusterState& state) { start_hands(state); };
  }

  // The cloud first: a lease that is won lists its instances.
  void start_hands(const projections::ClusterState& state) {
    if (const auto* row = state.catalogues().find(config_.provider)) {
      const base::LogTime never;
      cloud_->know_prices(row->catalogue, row->read.on_demand_at != never,
                          row->read.spot_at != never);
    }
    cloud_->start();
    if (lease_) lease_->start(state.epoch());
  }

  base::Status open_hands(const kube::ClusterIdentity& identity) {
    CloudNeeds needs{settings_, sink_, withheld_, clock_};
    needs.tell = [this](bool good, const std::string& line) { tell(good, line); };
    if (lease_) needs.leads = [this] { return lease_->guard()(); };
    needs.jitter_millis = jitter_of(*store_.log);
    needs.give_up = stop_signal_came;
    auto opened = open_cloud(needs, identity);
    if (!opened) return base::fail(opened.error());
    cloud_ = std::move(*opened);
    parts_.instances = &cloud_->hands();
    if (settings_.shadow) {
      asking_.ask(*parts_.instances);
      parts_.instances = &asking_;
    }
    parts_.queue = cloud_->queue();
    return {};
  }

  base::Result<kube::ClusterIdentity> ask_cluster() {
    const auto watches = watched(config_, settings_.settings);
    std::vector<kube::Right> rights = kube::rights_to_follow(watches, config_);
    const auto add = [&](std::vector<kube::Right> more) {
      rights.insert(rights.end(), more.begin(), more.end());
    };
    if (!settings_.shadow) add(kube::rights_to_act(config_));
    if (elects()) add(kube::rights_to_lead(lease_name().namespace_name, lease_name().name));
    return kube::preflight(
        {settings_.access.server, settings_.access.cluster_place, settings_.access.user_place,
         !settings_.access.username.empty(), watches, std::move(rights),
         kube::roles_file(settings_.shadow),
         settings_.credentials->current()->connection->tls.certificate_pem, clock_.wall()},
        kube::ask_all_of(election_.client, {stop_signal_came, [this](const std::string& answer) {
                                              tell(false, settings_.access.server +
                                                              " is asked again: " + answer);
                                            }}));
  }

  void tell(bool good, const std::string& line) {
    good ? notices_.relief(clock_.wall(), line) : notices_.alarm(clock_.wall(), line);
  }

  // Nothing is sent any more when the lease is given back, and nobody calls back when it returns.
  void stop(Daemon& daemon) {
    daemon.inbox().close();            // no edge waits for us any more
    settings_.credentials->stop();     // it may send again what was refused
    if (lease_) lease_->stand_down();  // a term that is won reaches for what goes now
    watches_.transport.reset();
    writes_.transport.reset();
    cloud_->stop();
    if (lease_) lease_->release();
    election_.transport.reset();
  }

  Store& store_;
  const ClusterSettings& settings_;
  KillPoints& kill_points_;
  const SystemClock clock_;
  events::Config config_;
  LineWriter lines_;
  LogNotices log_lines_;
  ViewBoard board_;
  LateSink sink_;
  ports::WithheldTexts withheld_;
  Way watches_, writes_, election_;
  kube::EventPublisher publisher_;
  ClusterNotices told_;
  Notices& notices_;
  std::optional<kube::KubeEdge> edge_;
  std::optional<kube::KubeWriter> writer_;
  std::unique_ptr<CloudParts> cloud_;
  AskingHands no_writer_, asking_;
  const AlwaysLeads always_;
  std::optional<kube::LeaseHolder> lease_;
  DaemonParts parts_;
};

}  // namespace

base::Status run_cluster(Store& store, const ClusterSettings& settings) {
  const auto log_files = LogFiles::open(settings.settings.log_paths);
  if (!log_files) return base::fail(log_files.error());
  auto kill_points = KillPoints::from_environment();
  if (!kill_points) return base::fail(kill_points.error());
  const auto provider = provider_of(settings);
  if (!provider) return base::fail(provider.error());
  return Cluster(store, settings, **provider, *log_files, *kill_points).run();
}

}  // namespace karst::daemon
