// What goes with a node class that is deleted: the steps of the pure half, one after another.
// Nothing is tried again here; a command that is refused is decided anew, and finds less to do.
#include "cloud/aws/aws_cloud.h"
#include "cloud/aws/outcome.h"
#include "cloud/aws/pages.h"
#include "providers/aws/release.h"

namespace karst::cloud::aws {

namespace pure = providers::aws;

struct AwsCloud::Releasing {
  Command command;
  pure::ReleaseSubject subject;
  pure::Answers answers;
  int steps = 0;
};

void AwsCloud::release(const Command& command, const model::ReleaseNodeClass& spec) {
  auto subject = pure::read_release(spec.request);
  if (!subject)
    return finish(ports::refused(*command, model::RefusalCode::kInvalid, subject.error().message));
  auto releasing = std::make_shared<Releasing>();
  releasing->command = command;
  releasing->subject = std::move(*subject);
  release_next(releasing);
}

void AwsCloud::release_next(const std::shared_ptr<Releasing>& releasing) {
  const auto step = pure::next_release(releasing->subject, cluster_, releasing->answers);
  if (!step) return finish(ports::done(*releasing->command));
  if (++releasing->steps > kReleaseStepsMax)
    return finish(ports::refused(*releasing->command, model::RefusalCode::kRetry,
                                 "much was deleted, and more is left"));
  Call call = call_of(step->request, step->reads ? Purpose::kRead : Purpose::kRemove);
  if (!step->reads) call.may_leave = releasing->command->may_leave;
  auto pages = std::make_shared<std::vector<std::string>>();
  send_pages(
      client_, std::move(call),
      [pages](const std::string& body) {
        pages->push_back(body);
        return true;
      },
      [this, releasing, step, pages](const CallError& error) {
        pure::Answer answer{*pages, error.code, error.message};
        if (error.trouble != Trouble::kNone && error.code.empty())
          answer.error_code = std::string(trouble_name(error.trouble));
        if (!pure::release_goes_on(releasing->subject, *step, answer)) {
          CallError found = error;
          if (error.trouble == Trouble::kNone) found.trouble = Trouble::kMalformed;
          return finish(failed(*releasing->command, found, step->request.action, Asked::kRead));
        }
        releasing->answers[step->key] = std::move(answer);
        release_next(releasing);
      });
}

}  // namespace karst::cloud::aws
