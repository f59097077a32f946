// A folder that a log is being restored into. FOLDER/restoring is there from before its first file
// until the log is whole: so what a restore left that was killed is known for what it is, nobody
// takes it for a log that ends early, and the next restore may begin again there. One owner, one
// thread.
#pragma once

#include <string>

#include "base/result.h"

namespace karst::events {

class PartialRestore {
 public:
  // Nothing is in the folder, or there is none, or a restore that was cut short left what is.
  // Errors: kInvalid names the folder and what to do.
  static base::Status check_free(const std::string& folder);
  // Removes what an earlier one left. REQUIRES: FOLDER/lock is held. `made`: the folder is this
  // restore's own, and goes with it. Errors: as above; kDenied, kFull.
  static base::Result<PartialRestore> begin(const std::string& folder, bool made);
  PartialRestore(PartialRestore&& other) noexcept;
  PartialRestore& operator=(PartialRestore&&) = delete;
  // Removes what was restored, unless it was finished. REQUIRES: all files in it are closed.
  ~PartialRestore();

  // The log is whole. Errors: kDenied; it counts as partial then.
  base::Status finish();

 private:
  PartialRestore(std::string folder, bool made) : folder_(std::move(folder)), made_(made) {}
  std::string folder_;  // empty: finished, or moved from
  bool made_ = false;
};

// For whoever opens a log. Errors: kInvalid when a restore into the folder has not ended.
base::Status check_restored(const std::string& folder);

}  // namespace karst::events
