// A name that was made, renamed or removed in a folder outlives a power cut once the folder is
// synced (fsync(2)).
#pragma once

#include <string>

namespace karst::base {

// 0, or the errno of why not: some network file systems cannot sync a folder.
int sync_folder(const std::string& folder);

}  // namespace karst::base
