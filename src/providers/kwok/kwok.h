// The kwok cloud: machines that are Node objects and nothing else. For tests, demonstrations and
// trials without an account.
#pragma once

#include <memory>

#include "providers/provider.h"

namespace karst::providers::kwok {

// One for the whole program: it has no state that changes.
const Provider& provider();
// One that offers these types instead.
std::unique_ptr<Provider> provider_with(model::Catalogue catalogue);

}  // namespace karst::providers::kwok
