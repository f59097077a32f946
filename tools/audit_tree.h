// The tree over a log, for commands that prove something of it. And the key that signs its head.
// Each event is read for it, as nothing else shows that all of them are sound: the tiles of the
// index are of what the log once was, and save the memory for those that are the same (32 bytes an
// event).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "index/reader.h"
#include "proof/checkpoint.h"
#include "proof/tiles.h"
#include "tools/open_log.h"

namespace karst::tools {

// The tree of `size` leaves, through stored tiles where there are some.
class LogTree final : public proof::TileReader {
 public:
  base::Result<std::string> read(proof::TileAt at, unsigned width) const override;

  std::unique_ptr<index::Reader> index;  // may be none
  proof::MemoryTiles fresh;              // that the index has not, not as far, or other ones of
  std::uint64_t size = 0;
  proof::Hash root{};
};

// Over all of the log, or to where it is damaged (log.sound says so then). `data`: where the index
// is, and the head that the daemon signed. Errors: those of the log; kInvalid when that head is
// damaged, or the log does not continue it (daemon/head_file.h).
base::Result<std::unique_ptr<LogTree>> tree_of(const ReadLog& log, const std::string& data);

// The key of `file`, or, when that is empty, the one that `run --embedded` left in `data`; nothing
// when there is none. Errors: those of daemon/signing_key.h.
base::Result<std::optional<proof::SignerKey>> signer_of(const std::string& file,
                                                        const std::string& data,
                                                        const model::LogId& log);

}  // namespace karst::tools
