// Fields that must hold one of a few words, read from JSON (json.h). What is wrong is told to the
// object's context, with the word and those that were expected. Pure functions.
#pragma once

#include <initializer_list>
#include <string_view>

#include "model/requirements.h"
#include "model/taint.h"
#include "objects/json.h"

namespace karst::objects {

// The word at `key`, "" where it is not there. Fails where it is none of `words`.
std::string_view read_word(const Object& object, std::string_view key,
                           std::initializer_list<std::string_view> words);

// The fields `operator` and `effect`, which must be there.
model::Operator read_operator(const Object& object);
model::TaintEffect read_effect(const Object& object);

}  // namespace karst::objects
