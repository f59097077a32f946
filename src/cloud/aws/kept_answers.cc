#include "cloud/aws/kept_answers.h"

namespace karst::cloud::aws {

namespace pure = providers::aws;

const KeptAnswers::Kept* KeptAnswers::kept(const Subject& subject, const Question& question) const {
  const auto at = kept_.find({subject.uid, question.key});
  if (at == kept_.end()) return nullptr;
  const Kept& one = at->second;
  const bool same = one.generation == subject.generation && one.request == question.request;
  return same ? &one : nullptr;
}

const pure::Answer* KeptAnswers::find(const Subject& subject, const Question& question,
                                      std::int64_t now_millis) const {
  const Kept* one = kept(subject, question);
  return one != nullptr && now_millis < one->until_millis ? &one->answer : nullptr;
}

const pure::Answer* KeptAnswers::last(const Subject& subject, const Question& question) const {
  const Kept* one = kept(subject, question);
  return one == nullptr ? nullptr : &one->answer;
}

void KeptAnswers::keep(const Subject& subject, const Question& question, const pure::Answer& answer,
                       std::int64_t now_millis) {
  if (question.life_millis == 0 || answer.error_code != question.good_code) return;
  if (kept_.size() >= kAnswersKeptMax)
    std::erase_if(kept_, [&](const auto& one) { return one.second.until_millis <= now_millis; });
  if (kept_.size() >= kAnswersKeptMax) return;
  kept_[{subject.uid, question.key}] = {subject.generation, now_millis + question.life_millis,
                                        question.request, answer};
}

}  // namespace karst::cloud::aws
