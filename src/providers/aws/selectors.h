// From a node class to what it means in the account, in two steps without I/O: the questions that
// are to be asked now, and, when all are answered, what was found, with the conditions of the
// class's status in Karpenter's words (v1.14). Who asks keeps the answers by the question's key and
// comes again until there is no question left: some (images by alias, profiles of a role) rest on
// others. Questions are describe calls, but for the instance profile of a role, which is made when
// it is not there. Pure: the time is an argument.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/cluster.h"
#include "providers/aws/node_class_spec.h"
#include "providers/aws/request.h"
#include "providers/aws/resolved.h"

namespace karst::providers::aws {

struct NodeClassSubject {
  std::string name;
  std::string uid;
  std::int64_t generation = 0;
  NodeClassSpec spec;
};

// All pages of an answer in order, or the error that came instead.
struct Answer {
  std::vector<std::string> pages;
  std::string error_code;  // empty: it was answered
  std::string error_message;
};

struct Question {
  std::string key;  // unique and stable for one class: "subnets/0", "ssm/NAME", "image/ids"
  Request request;
  // How long a good answer is used again for the same class and generation; 0: not at all.
  std::int64_t life_millis = 0;
  // When it fails: what that means and what to do, for people; and the answer before it counts on,
  // however old. Empty: the class's conditions tell of the failure.
  std::string_view fault = {};
  std::string_view good_code = {};  // the error code that is its success (a dry run); static text
  bool shared = false;              // its answer is used again for every class that asks the same
  // Which good answers may be used again; null: all.
  bool (*may_serve_again)(const Answer&) = nullptr;
};
using Answers = std::map<std::string, Answer, std::less<>>;

inline constexpr std::size_t kQuestionsMax = 200;  // of one class
// A parameter moves when an image is published. A class asks for several, and the service allows
// few calls a second. As Karpenter's for parameters that people name.
inline constexpr std::int64_t kParameterLifeMillis = 5 * 60'000;

// What is still to be asked; empty: resolve() has all it needs.
std::vector<Question> questions(const NodeClassSubject& subject, const Cluster& cluster,
                                const Answers& answers);

struct Resolution {
  Resolved resolved;
  std::vector<model::Condition> conditions;  // sorted by type; Ready is the and of the others
  bool ready = false;
};

// `cluster` becomes part of what is resolved.
Resolution resolve(const NodeClassSubject& subject, const Cluster& cluster, const Answers& answers,
                   std::int64_t now_millis);

}  // namespace karst::providers::aws
