// The files of a folder of tiles, which others read, serve and copy meanwhile: each is written
// aside, synced and renamed, so that a name always has a whole file, and an export that fails
// leaves what was there. Files are as readable as the umask makes them.
#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace karst::tools {

// Folders on the way are made. A file that has these bytes already is left as it is. Errors: kFull,
// kDenied; the file is what it was then.
base::Status write_tile_file(const std::filesystem::path& path, std::string_view bytes);

// The names of what was written are on stable storage too. Before the checkpoint is written, which
// speaks of them. Errors: as above.
base::Status sync_tile_files(const std::filesystem::path& folder);

}  // namespace karst::tools
