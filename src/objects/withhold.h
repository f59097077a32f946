// What of an object must not come into the log although a decision rests on it.
#pragma once

#include <string>

#include "model/cluster.h"

namespace karst::objects {

// Takes the user data out of a node class and gives it: in its place spec_json then has
// {"bytes":N,"sha256":"HEX"}, which changes when it changes. Empty: there was none, and nothing is
// changed. Users put tokens into it, and who may read the trail is not who may read those.
std::string withhold_user_data(model::NodeClass& node_class);

}  // namespace karst::objects
