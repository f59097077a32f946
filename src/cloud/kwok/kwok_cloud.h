// The hands of the kwok cloud, whose instances are Node objects at the API server (KWOK plays their
// kubelets): launch creates the Nodes of an order, terminate deletes them, find reads them.
// Everything on the client transport's thread; one Outcome for each command. Besides, the cloud's
// full list of instances as facts every kInstanceListMillis.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "kube/client.h"
#include "ports/command_port.h"
#include "ports/fact.h"

namespace karst::cloud {

inline constexpr std::int64_t kInstanceListMillis = 30'000;
inline constexpr int kInstancePagesMax = 1000;

class KwokCloud final : public ports::CommandPort {
 public:
  // All outlive the cloud; destroy the client's transport before the cloud.
  KwokCloud(kube::Client& client, ports::FactSink& sink, const base::Clock& clock);
  ~KwokCloud() override;

  // Begins the periodic list. Any thread, once.
  void start();
  // Lists now, and reports no list that was asked for before. Any thread, after start().
  void relist();

  // Only Launch, Terminate and FindInstances (model::goes_to_cloud).
  void submit(const ports::IssuedCommand& command) override;

 private:
  using Command = std::shared_ptr<const ports::IssuedCommand>;
  struct Order;       // a launch under way
  struct Collection;  // a list of instances, page by page

  void launch(const Command& command, const model::Launch& spec);
  void create_node(const std::shared_ptr<Order>& order, std::size_t index);
  void existing_node(const std::shared_ptr<Order>& order, std::size_t index);
  void settle(const std::shared_ptr<Order>& order, model::Outcome part);
  void terminate(const Command& command, const model::Terminate& spec);
  void delete_node(const Command& command, const model::Terminate& spec, std::string body);
  void strip_finalizer(const Command& command, const model::Terminate& spec, std::string body);
  void find(const Command& command, const model::FindInstances& spec);
  void find_by_id(const Command& command, const model::FindInstances& spec);

  void collect(const std::shared_ptr<Collection>& collection);
  void list_instances();
  void report_list(const Collection& collection);

  void send(const Command& command, kube::Call call,
            std::function<void(const http::Response&)> then);
  void finish(model::Outcome outcome);
  void offer(events::Body body);

  kube::Client& client_;
  ports::FactSink& sink_;
  const base::Clock& clock_;
  std::atomic<std::size_t> in_flight_{0};
  // Counts launches and terminations as they begin and end: a list that ran beside one says nothing
  // sure about it, and is taken again.
  std::atomic<std::uint64_t> changes_{0};
  std::atomic<std::size_t> changing_{0};
  std::uint64_t lists_ = 0;  // rounds of the periodic list; the transport's thread
  bool stopped_ = false;     // the engine takes nothing more; the transport's thread
};

}  // namespace karst::cloud
