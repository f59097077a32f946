// A launch order of the kwok cloud: the Node objects that its hands create, as a JSON array in the
// order of the subjects. One node per claim and attempt, named "kwok-<claim>-<attempt>", so that a
// second sending finds the first one's node.
#pragma once

#include <span>
#include <string>

#include "model/cloud.h"
#include "providers/provider.h"

namespace karst::providers::kwok {

// "kwok-<claim name>-<attempt>"; the provider id is "kwok://" and this.
std::string node_name(const model::ClaimName& claim, std::uint32_t attempt);

// Where a node says how long its machine takes until it joins, from nodeRegistrationDelay of its
// node class; a Go duration.
inline constexpr std::string_view kRegistrationDelayAnnotation = "karst.sh/registration-delay";

// Every node is made as offers.front(). A type that `catalogue` does not know gets the claim's
// requests as its size. Keys come in a fixed order, labels and amounts sorted: the same arguments
// give the same bytes.
std::string encode_launch(const model::Catalogue& catalogue,
                          std::span<const LaunchSubject> subjects, const model::LaunchToken& token,
                          std::span<const model::Offer> offers, const std::string& command_tag);

// "0.027147484": dollars per hour without trailing zeros.
std::string price_text(std::int64_t nanos_per_hour);

}  // namespace karst::providers::kwok
