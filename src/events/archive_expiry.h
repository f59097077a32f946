// What an archive keeps of what has expired in it (docs/decisions/0020), as files of its folder.
// Inner part of src/events; the order in which they are written is Archive's (archive.h).
//   expired                 what is in force: lines of text and their sum; absent: the archive
//                           begins at position 1
//   <position>.baseline     the state at that position, its bytes (BaselineNote)
//   <first>-<last>.leaves   leaf hashes, 32 bytes each, whole tiles; then the SHA-256 of the file's
//                           name and of them
// What is written without `expired` is not in force: the next expiry removes it or writes it again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "events/trim_store.h"

namespace karst::events {

// At most so many tiles in one file: 32 MiB.
inline constexpr std::uint64_t kLeavesFileTilesMax = 4096;

// Errors: kCorrupt; kDenied; kNewer when a later karst wrote it.
base::Result<std::optional<TrimMark>> read_expired(const std::string& folder);
// In force when it returns. Errors: kFull, kDenied.
base::Status write_expired(const std::string& folder, const TrimMark& mark);

base::Result<BaselineNote> write_baseline_file(const std::string& folder, const Baseline& baseline);
// Errors: kCorrupt when it is not what the note says, or not there; kDenied.
base::Result<Baseline> read_baseline_file(const std::string& folder, const BaselineNote& note);

// REQUIRES: whole tiles, at most kLeavesFileTilesMax, from this one on.
base::Status write_leaves_file(const std::string& folder, std::uint64_t tile,
                               std::string_view hashes);
// The tiles of the positions 1 to `last`, in order. Errors: kCorrupt when some are missing or
// damaged; those of `take`.
base::Status each_leaves_tile(
    const std::string& folder, model::Position last,
    const std::function<base::Status(std::uint64_t tile, std::string_view hashes)>& take);

// What is not in force: segments that are wholly before the mark, oldest first, each followed by
// `removed`; then baselines but the mark's, and leaves of what has not expired. Errors: kDenied.
base::Status remove_what_expired(const std::string& folder, const std::optional<TrimMark>& mark,
                                 const std::function<void()>& removed);

}  // namespace karst::events
