// Any bytes as two kubeconfig files: refused with a place, or read; never a crash. What is read has
// nothing in it that could end a header. And any bytes as the answer of a plugin.
#include <cstdint>
#include <cstdlib>

#include "kube/access.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace karst::kube;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto split = text.find("\n---\n");
  const std::string second = split == std::string::npos ? "" : text.substr(split + 5);
  const auto access = merge_kubeconfigs({{"/f/one", text.substr(0, split)}, {"/f/two", second}});
  if (!access && access.error().message.empty()) std::abort();
  if (access) {
    for (const std::string& header : access->headers)
      if (header.find_first_of("\r\n") != std::string::npos) std::abort();
    if (access->token.find_first_of("\r\n") != std::string::npos) std::abort();
    if (access->exec) (void)plugin_request(*access->exec, {access->server, "", false, "", ""});
  }
  ExecPlugin plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  const auto answer = read_plugin_answer(plugin, text);
  if (answer && answer->token.empty() && answer->key_pem.empty()) std::abort();
  return 0;
}
