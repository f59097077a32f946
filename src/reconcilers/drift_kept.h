// What of the claims' drift is still to be shown, kept from round to round, so that a round looks
// at what has changed and not at every claim. It only saves time: a fresh one comes to the same.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/cluster.h"
#include "model/ids.h"
#include "model/requirements.h"

namespace karst::reconcilers {

struct DriftKept {
  // What of a pool its claims are compared with.
  struct PoolStamp {
    std::string hash;
    std::string hash_version;
    std::string template_hash;  // as it should be; the annotation follows
    std::vector<model::RequirementSpec> requirements;
    friend bool operator==(const PoolStamp&, const PoolStamp&) = default;
  };
  struct Pool {
    model::Position position;
    PoolStamp stamp;
  };
  struct Class {
    model::Position position;
    model::Position resolved;
    friend bool operator==(const Class&, const Class&) = default;
  };

  model::LogId log;
  model::Position seen;  // all that changed up to here has been looked at
  std::map<model::PoolName, Pool> pools;
  std::map<model::NodeClassRef, Class> classes;
  model::Position catalogue;
  bool catalogue_told = false;               // by the cloud itself
  std::set<std::string, std::less<>> zones;  // of the catalogue
  // Whose type is not sold, and who is too young for that to count yet.
  std::set<std::pair<base::LogTime, model::ClaimName>> young;
  // What condition Drifted should say where it says something else; empty: it should go.
  std::map<model::ClaimName, std::string> news;
};

}  // namespace karst::reconcilers
