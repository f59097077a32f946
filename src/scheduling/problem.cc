#include "scheduling/problem.h"

namespace karst::scheduling {

const std::map<std::string, std::string, std::less<>>& known_label_aliases() {
  static const std::map<std::string, std::string, std::less<>> kAliases = {
      {"beta.kubernetes.io/arch", "kubernetes.io/arch"},
      {"beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type"},
      {"beta.kubernetes.io/os", "kubernetes.io/os"},
      {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
      {"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
      {"topology.ebs.csi.aws.com/zone", "topology.kubernetes.io/zone"},
  };
  return kAliases;
}

}  // namespace karst::scheduling
