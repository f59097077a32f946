#include "cloud/aws/kept_answers.h"

namespace karst::cloud::aws {

namespace pure = providers::aws;

namespace {

std::size_t bytes_of(const pure::Answer& answer) {
  std::size_t bytes = 0;
  for (const std::string& page : answer.pages) bytes += page.size();
  return bytes;
}

}  // namespace

std::string text_of(const pure::Request& request) {
  std::string text = request.service + ' ' + request.action + ' ' + request.parameters.dump();
  for (const std::string& part : request.path) text += ' ' + part;
  return text;
}

KeptAnswers::Key KeptAnswers::key_of(const Subject& subject, const Question& question) {
  return {question.shared ? std::string() : subject.uid, text_of(question.request)};
}

const KeptAnswers::Kept* KeptAnswers::kept(const Subject& subject, const Question& question) const {
  const auto at = kept_.find(key_of(subject, question));
  return at == kept_.end() ? nullptr : &at->second;
}

const pure::Answer* KeptAnswers::find(const Subject& subject, const Question& question,
                                      std::int64_t now_millis) const {
  const Kept* one = kept(subject, question);
  const bool fits = one != nullptr && (question.shared || one->generation == subject.generation);
  return fits && now_millis < one->until_millis ? &one->answer : nullptr;
}

const pure::Answer* KeptAnswers::last(const Subject& subject, const Question& question,
                                      std::int64_t now_millis) const {
  const Kept* one = kept(subject, question);
  const bool counts =
      one != nullptr && (one->ageless || now_millis < one->until_millis + kLastAnswerMillis);
  return counts ? &one->answer : nullptr;
}

void KeptAnswers::forget(const Subject& subject, const Question& question) {
  kept_.erase(key_of(subject, question));
}

void KeptAnswers::forget_action(std::string_view action) {
  std::erase_if(kept_, [&](const auto& one) { return one.second.action == action; });
}

void KeptAnswers::keep(const Subject& subject, const Question& question, const pure::Answer& answer,
                       std::int64_t now_millis) {
  if (answer.error_code != question.good_code) return;
  const Key key = key_of(subject, question);
  kept_.erase(key);
  if (question.may_serve_again != nullptr && !question.may_serve_again(answer)) return;
  std::size_t bytes = bytes_of(answer);
  std::erase_if(kept_, [&](const auto& one) {
    const Kept& old = one.second;
    if (!old.ageless && old.until_millis + kLastAnswerMillis <= now_millis) return true;
    bytes += bytes_of(old.answer);
    return false;
  });
  if (kept_.size() >= kAnswersKeptMax || bytes > kAnswerBytesKeptMax) return;
  kept_[key] = {question.request.action, subject.generation, now_millis + question.life_millis,
                !question.fault.empty(), answer};
}

}  // namespace karst::cloud::aws
