// The kwok cloud: machines that are Node objects and nothing else. For tests, demonstrations and
// trials without an account.
#pragma once

#include "providers/provider.h"

namespace karst::providers::kwok {

// One for the whole program: it has no state that changes.
const Provider& provider();

}  // namespace karst::providers::kwok
