// A list that comes in pages: asks until the service names no next one. Bounded, and a token that
// comes a second time ends it, or a confused service would be asked for ever.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cloud/aws/client.h"

namespace karst::cloud::aws {

inline constexpr int kPagesMax = 1000;

// The token of the page after this answer; empty: it was the last. EC2: <nextToken>. IAM: <Marker>
// of an answer that is truncated. JSON: NextToken or nextToken. Errors: kRetry: the answer cannot
// be read.
base::Result<std::string> next_token(std::string_view body, Protocol protocol);

// `on_page` gets each answer's body in order; false ends the list without another call. `done` runs
// once after the last one, with what ended it (kNone: complete, or ended by on_page). Both on the
// transport's thread.
void send_pages(Client& client, Call call, std::function<bool(const std::string& body)> on_page,
                std::function<void(const CallError&)> done);

}  // namespace karst::cloud::aws
