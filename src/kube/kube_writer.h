// The hands at the API server: carries out every command that does not go to the cloud. One attempt
// each, asynchronously; a command of several requests (read, patch) is a chain of answers on the
// transport's thread. Holds no policy: whatever happens is one Outcome in the fact sink.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/clock.h"
#include "kube/client.h"
#include "ports/command_port.h"
#include "ports/fact.h"

namespace karst::kube {

class KubeWriter final : public ports::CommandPort {
 public:
  // All outlive the writer; destroy the client's transport before the writer. Give writes a
  // transport of their own.
  KubeWriter(Client& client, ports::FactSink& sink, const base::Clock& clock);

  // Never for what goes to the cloud (model::goes_to_cloud).
  void submit(const ports::IssuedCommand& command) override;

 private:
  using Command = std::shared_ptr<const ports::IssuedCommand>;
  using Then = std::function<void(const http::Response&)>;
  using StatusPatch = std::function<std::string(const nlohmann::json& object)>;

  void run(const Command& command, const model::CreateNodeClaim& spec);
  void run(const Command& command, const model::DeleteObject& spec);
  template <class Spec, class MakePatch>
  void patch_node(const Command& command, const Spec& spec, MakePatch make_patch);
  void run(const Command& command, const model::TaintNode& spec);
  void run(const Command& command, const model::EvictPod& spec);
  void run(const Command& command, const model::SetFinalizer& spec);
  void run(const Command& command, const model::ReadBackNode& spec);
  void run(const Command& command, const model::SyncNode& spec);
  void run(const Command& command, const model::MirrorClaim& spec);
  void run(const Command& command, const model::MirrorPool& spec);
  void run(const Command& command, const model::MirrorStatus& spec);
  void run(const Command& command, const model::SyncNodeClass& spec);
  template <class CloudCommand>
  void run(const Command& command, const CloudCommand& spec);

  void existing_claim(const Command& command, const model::CreateNodeClaim& spec);
  void read_pods(const Command& command, const model::ReadBackNode& spec,
                 model::NodeReadBack read_back);
  void mirror(const Command& command, const std::string& path, const std::string& uid,
              std::string metadata, StatusPatch status);
  void mirror_status(const Command& command, const std::string& path, std::string patch);
  void patch(const Command& command, const std::string& path, std::string body,
             std::string_view content_type);
  void send(const Command& command, Call call, Then then);
  void finish(model::Outcome outcome);

  Client& client_;
  ports::FactSink& sink_;
  const base::Clock& clock_;
  std::atomic<std::size_t> in_flight_{0};
};

}  // namespace karst::kube
