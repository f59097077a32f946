// EC2 as a provider: everything else of this folder behind one interface.
#pragma once

#include "providers/provider.h"

namespace karst::providers::aws {

// One for the whole program: it has no state that changes.
const Provider& provider();

}  // namespace karst::providers::aws
