// Answers about node classes that are used again while they live (Question::life_millis): an answer
// is of one class, its generation, and exactly that question. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "providers/aws/selectors.h"

namespace karst::cloud::aws {

inline constexpr std::size_t kAnswersKeptMax = 2'000;  // more are asked for each time

class KeptAnswers {
 public:
  using Subject = providers::aws::NodeClassSubject;
  using Question = providers::aws::Question;

  // nullptr: it is to be asked. Valid until keep().
  const providers::aws::Answer* find(const Subject& subject, const Question& question,
                                     std::int64_t now_millis) const;
  // Whatever its age: for when asking again fails.
  const providers::aws::Answer* last(const Subject& subject, const Question& question) const;
  // `now_millis`: when it was asked. Errors and answers that do not live are not kept.
  void keep(const Subject& subject, const Question& question, const providers::aws::Answer& answer,
            std::int64_t now_millis);

 private:
  struct Kept {
    std::int64_t generation = 0;
    std::int64_t until_millis = 0;
    providers::aws::Request request;
    providers::aws::Answer answer;
  };
  const Kept* kept(const Subject& subject, const Question& question) const;

  std::map<std::pair<std::string, std::string>, Kept> kept_;  // by class uid and key
};

}  // namespace karst::cloud::aws
