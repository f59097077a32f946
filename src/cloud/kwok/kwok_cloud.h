// The hands of the kwok cloud, whose instances are Node objects at the API server (KWOK plays their
// kubelets): launch creates the Nodes of an order, terminate deletes them, find reads them (threads
// and outcomes: cloud/hands.h).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cloud/hands.h"
#include "kube/client.h"

namespace karst::cloud {

inline constexpr int kInstancePagesMax = 1000;

class KwokCloud final : public Hands {
 public:
  // All outlive the cloud; destroy the client's transport before the cloud.
  KwokCloud(kube::Client& client, ports::FactSink& sink, const base::Clock& clock);
  ~KwokCloud() override;

 private:
  struct Order;       // a launch under way
  struct Collection;  // a list of instances, page by page

  void launch(const Command& command, const model::Launch& spec);
  void create_node(const std::shared_ptr<Order>& order, std::size_t index);
  void existing_node(const std::shared_ptr<Order>& order, std::size_t index);
  void settle_part(const std::shared_ptr<Order>& order, model::Outcome part);
  void terminate(const Command& command, const model::Terminate& spec);
  void delete_node(const Command& command, const model::Terminate& spec, std::string body);
  void strip_finalizer(const Command& command, const model::Terminate& spec, std::string body);
  void find(const Command& command, const model::FindInstances& spec);
  void find_by_id(const Command& command, const model::FindInstances& spec);

  void collect(const std::shared_ptr<Collection>& collection);

  void send(const Command& command, kube::Call call,
            std::function<void(const http::Response&)> then);
  std::function<void()> work_of(const Command& command) override;
  void list(std::function<void(List)> complete, std::function<void()> broken) override;

  kube::Client& client_;
};

}  // namespace karst::cloud
