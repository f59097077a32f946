// A question about disruption as a JSON document (docs/oracle.md has the format), the answer to it
// in the same style, and tables for people. For the subcommand `solve`. Plain values, no thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "disruption/decide.h"
#include "objects/json.h"
#include "tools/talk.h"

namespace karst::tools {

// "disruption": which nodes go? "candidate": may the first node go at all?
enum class QuestionKind { kDisruption, kCandidate };

struct Question {
  QuestionKind kind = QuestionKind::kDisruption;
  std::string name;
  disruption::World world;
  std::vector<disruption::Method> methods;  // in order
  // Of a question about one method: the nodes that it gets, and how many of each pool may go.
  std::optional<std::vector<std::size_t>> candidates;
  disruption::Allowed allowed;
  disruption::DisruptionClass disruption = disruption::DisruptionClass::kGraceful;
};

// The document's `kind`; none for scheduling.
std::optional<QuestionKind> question_kind(simdjson::dom::element document);
// Errors: kInvalid with the path of the first wrong field.
base::Result<Question> read_question(QuestionKind kind, simdjson::dom::element document);

// decision, method, commands; per step the candidates, and why the others stay.
Json decision_json(const Question& question);
void print_decision(const Question& question);

}  // namespace karst::tools
