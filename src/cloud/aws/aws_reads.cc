// The part of AwsCloud that only reads: what a node class's selectors name, and what EC2 sells.
#include <deque>

#include "base/sha256.h"
#include "cloud/aws/aws_cloud.h"
#include "cloud/aws/outcome.h"
#include "cloud/aws/pages.h"
#include "providers/aws/class_status.h"
#include "providers/aws/instance_types.h"
#include "providers/aws/resolution.h"

namespace karst::cloud::aws {

namespace pure = providers::aws;

// ---- node classes ----

struct AwsCloud::Asking {
  Command command;
  const model::ResolveNodeClass* spec = nullptr;
  pure::NodeClassSubject subject;
  pure::Answers answers;
  std::size_t open = 0;
  int rounds = 0;
};

void AwsCloud::resolve(const Command& command, const model::ResolveNodeClass& spec) {
  auto subject = pure::read_resolve(spec.request);
  if (!subject)
    return finish(ports::refused(*command, model::RefusalCode::kInvalid, subject.error().message));
  auto asking = std::make_shared<Asking>();
  asking->command = command;
  asking->spec = &spec;
  asking->subject = std::move(*subject);
  ask(asking);
}

void AwsCloud::resolved(const Asking& asking, const pure::Resolution& found) {
  std::string bytes = pure::to_json(found, asking.spec->generation);
  if (bytes.size() > model::kResolutionBytesMax)
    return unresolved(asking, "the selectors find more than can be kept: make them narrower");
  model::Outcome outcome = ports::done(*asking.command);
  if (base::hex_lower(base::sha256(bytes)) != asking.spec->known)
    outcome.resolution = std::move(bytes);
  finish(std::move(outcome));
}

// An answer too: the class's conditions say why nothing can be had of it.
void AwsCloud::unresolved(const Asking& asking, const std::string& message) {
  pure::Resolution nothing;
  nothing.resolved.cluster = cluster_;
  nothing.conditions = pure::unusable(asking.spec->generation, message);
  resolved(asking, nothing);
}

// All questions of a round at once; their answers may raise others.
void AwsCloud::ask(const std::shared_ptr<Asking>& asking) {
  const auto questions = pure::questions(asking->subject, cluster_, asking->answers);
  if (questions.empty())
    return resolved(
        *asking, pure::resolve(asking->subject, cluster_, asking->answers, clock_.wall().value()));
  if (++asking->rounds > kQuestionRoundsMax || questions.size() > pure::kQuestionsMax)
    return unresolved(*asking, "the selectors raise more questions than can be asked");
  asking->open = questions.size();
  for (const pure::Question& question : questions) {
    auto pages = std::make_shared<std::vector<std::string>>();
    send_pages(
        client_, call_of(question.request, Purpose::kRead),
        [pages](const std::string& body) {
          pages->push_back(body);
          return true;
        },
        [this, asking, key = question.key, pages](const CallError& error) {
          pure::Answer& answer = asking->answers[key];
          answer.pages = std::move(*pages);
          answer.error_code = error.code;
          answer.error_message = error.message;
          if (error.trouble != Trouble::kNone && error.code.empty())
            answer.error_code = std::string(trouble_name(error.trouble));
          if (--asking->open == 0) ask(asking);
        });
  }
}

// ---- what EC2 sells ----

// The questions one after another: prices that cannot be read leave those known before, types and
// offerings that cannot be read leave everything as it was.
struct AwsCloud::Sold {
  struct Step {
    pure::Request request;
    base::Status (pure::DiscoveredTypes::*add)(std::string_view) = nullptr;
    bool needed = false;
  };
  std::deque<Step> steps;
  pure::DiscoveredTypes types;
};

void AwsCloud::read_catalogue() {
  if (stopped()) return;
  auto sold = std::make_shared<Sold>();
  using Types = pure::DiscoveredTypes;
  sold->steps = {{pure::ask_types(), &Types::add_types, true},
                 {pure::ask_offerings(), &Types::add_offerings, true},
                 {pure::ask_spot_prices(clock_.wall().value()), &Types::add_spot_prices, false}};
  read_next(sold);
}

void AwsCloud::read_next(const std::shared_ptr<Sold>& sold) {
  if (sold->steps.empty()) {
    offer(events::CatalogueObserved{sold->types.catalogue(client_.region())});
    return client_.after(kCatalogueMillis, [this] { read_catalogue(); });
  }
  const Sold::Step step = sold->steps.front();
  sold->steps.pop_front();
  auto readable = std::make_shared<bool>(true);
  send_pages(
      client_, call_of(step.request, Purpose::kRead),
      [sold, step, readable](const std::string& body) {
        *readable = static_cast<bool>((sold->types.*step.add)(body));
        return *readable;
      },
      [this, sold, step, readable](const CallError& error) {
        const bool ok = *readable && error.trouble == Trouble::kNone;
        if (ok || !step.needed) return read_next(sold);
        client_.after(kInstanceListMillis, [this] { read_catalogue(); });
      });
}

}  // namespace karst::cloud::aws
