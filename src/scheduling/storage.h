// Where the volumes of a pod can be reached: from claims, volumes and storage classes to what the
// solver needs, by Karpenter's rules (v1.14, its volume topology and validation of claims). Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/storage.h"
#include "scheduling/problem.h"

namespace karst::scheduling {

// What is known of a cluster's storage. nullptr: there is none of that name. What is returned lives
// as long as this.
class Storage {
 public:
  virtual ~Storage() = default;
  virtual const model::VolumeClaim* claim(const std::string& namespace_name,
                                          const std::string& name) const = 0;
  virtual const model::PersistentVolume* volume(const std::string& name) const = 0;
  virtual const model::StorageClass* storage_class(const std::string& name) const = 0;
  // That of claims which name none.
  virtual const model::StorageClass* default_class() const = 0;
  // Whether a node of this host name is there to stay. A volume of its own disk can be reached on
  // it alone; of hosts that are gone nothing is demanded, as with Karpenter.
  virtual bool has_host(const std::string&) const { return false; }
  // How a message says that something does not exist.
  virtual std::string_view missing() const { return "not found"; }
};

// The volume of a claim; `Volume::claim` is left empty. Errors: kInvalid, why no pod that uses the
// claim can be placed now, for people, with the claim as "NAMESPACE/NAME".
base::Result<Volume> resolve_claim(const Storage& storage, const model::VolumeClaim& claim,
                                   const std::string& place);
// The same for a claim that a pod names; one that does not exist is an error.
base::Result<Volume> resolve_named(const Storage& storage, const std::string& namespace_name,
                                   const std::string& name);

// Driver and claim of what a bound pod has mounted, as Node::volumes has it; what cannot be
// resolved and what no driver attaches is left out.
std::vector<std::pair<std::string, std::string>> mounted(const Storage& storage,
                                                         const std::string& namespace_name,
                                                         const std::vector<std::string>& claims);

}  // namespace karst::scheduling
