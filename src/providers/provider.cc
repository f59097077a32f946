#include "providers/provider.h"

#include "providers/aws/aws.h"
#include "providers/kwok/kwok.h"

namespace karst::providers {

const Provider* find_provider(std::string_view name) {
  for (const Provider* provider : {&kwok::provider(), &aws::provider()})
    if (provider->name() == name) return provider;
  return nullptr;
}

}  // namespace karst::providers
