// The key that signs checkpoints: a file of its own, on a mount of its own, which the log's folder
// never holds (docs/audit.md), except under --embedded, where one is made in DIR/signing-key. The
// file is PKCS#8 PEM or Go's signer format (proof/note.h), and nobody but its owner and its group
// may read it.
#pragma once

#include <string>

#include "base/result.h"
#include "model/ids.h"
#include "proof/note.h"

namespace karst::daemon {

inline constexpr std::size_t kKeyFileBytesMax = 16 << 10;

// DIR/signing-key
std::string own_key_file(const std::string& data);

// `log` names a key that has no name of its own. Errors: kGone when there is no such file, kDenied
// for its rights, kInvalid when it holds no key; all name the file, none shows the key.
base::Result<proof::SignerKey> read_signing_key(const std::string& file, const model::LogId& log);

// Writes a new key, readable by its owner only. Errors: kTaken when there is such a file, kDenied,
// kFull.
base::Result<proof::SignerKey> make_signing_key(const std::string& file, const std::string& name);

}  // namespace karst::daemon
