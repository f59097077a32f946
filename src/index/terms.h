// What an event can be found by. A term is 64 bits of XXH3 over a text:
//   its stream                       "pod/<uid>", "node/<name>", "nodeclaim/<name>", "command/<n>"
//   PodObserved, PodGone             also "pod-name/<namespace>/<name>"
//   NodeObserved                     also "instance/<provider id>"
//   NodeClaimObserved                also "claim-uid/<uid>", "instance/<provider id>"
//   InstanceObserved, each instance  also "claim-uid/<uid>", "instance/<provider id>"
//     of an outcome
//   a launch, for each of its items  also "nodeclaim/<name>", "claim-uid/<uid>"
//   a nomination, for each pod       also "pod/<uid>"
// An instance has a second term where its machine has a shorter spelling (model/ids.h, machine_of).
// Two texts may have one term: whoever looks up judges each event that is found. Changing any of
// this changes kIndexFormat (index.h). Pure.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "events/event.h"

namespace karst::index {

using Term = std::uint64_t;

Term term_of(std::string_view text);
Term pod_name_term(std::string_view namespace_and_name);  // "shop/web-0"
Term claim_uid_term(std::string_view uid);

// Appends the terms of an event; the same one may come twice.
void append_terms(const events::Event& event, std::vector<Term>& terms);

}  // namespace karst::index
