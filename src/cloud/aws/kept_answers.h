// Answers about node classes that are used again: while they live (Question::life_millis), and
// after that for a time when asking again brings no answer at all. An answer is of exactly that
// question and of one class; while it lives of its generation too. Shared ones are everybody's.
// Bounded: what finds no room is asked each time. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "providers/aws/selectors.h"

namespace karst::cloud::aws {

inline constexpr std::size_t kAnswersKeptMax = 2'000;
inline constexpr std::size_t kAnswerBytesKeptMax = 64u << 20;
// How long after its life an answer counts on while nothing better comes.
inline constexpr std::int64_t kLastAnswerMillis = 15 * 60'000;

class KeptAnswers {
 public:
  using Subject = providers::aws::NodeClassSubject;
  using Question = providers::aws::Question;

  // nullptr: it is to be asked. Valid until keep().
  const providers::aws::Answer* find(const Subject& subject, const Question& question,
                                     std::int64_t now_millis) const;
  // For when asking again fails: at most kLastAnswerMillis past its life, but for questions with a
  // `fault`, whose answers count on whatever their age.
  const providers::aws::Answer* last(const Subject& subject, const Question& question,
                                     std::int64_t now_millis) const;
  // `now_millis`: when it was asked. Errors are not kept, nor what may not serve again.
  void keep(const Subject& subject, const Question& question, const providers::aws::Answer& answer,
            std::int64_t now_millis);
  // A definite no has come: what was found before is over.
  void forget(const Subject& subject, const Question& question);
  // All answers to that call: what they say is known to be over.
  void forget_action(std::string_view action);

 private:
  using Key = std::pair<std::string, std::string>;  // class uid, empty if shared; the request
  struct Kept {
    std::string action;
    std::int64_t generation = 0;
    std::int64_t until_millis = 0;
    bool ageless = false;
    providers::aws::Answer answer;
  };
  static Key key_of(const Subject& subject, const Question& question);
  const Kept* kept(const Subject& subject, const Question& question) const;

  std::map<Key, Kept> kept_;
};

// The request as text: two questions of one text are the same question.
std::string text_of(const providers::aws::Request& request);

}  // namespace karst::cloud::aws
