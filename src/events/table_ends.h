// The one place of a table where a damaged byte ends the process. RocksDB 7.8 opens the block with
// a table's properties before it holds it against its checksum, and where assertions are on (as in
// Debian) it aborts when that block claims to have a hash index. Looked for before RocksDB opens
// tables. Inner part of src/events.
#pragma once

#include <string>

#include "base/result.h"

namespace karst::events {

// kCorrupt naming the first such table. What else may be wrong with tables is RocksDB's business:
// it is passed over here.
base::Status check_table_ends(const std::string& folder);

}  // namespace karst::events
