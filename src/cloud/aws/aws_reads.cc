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
  bool incomplete = false;  // something could not be read, and nothing is known of it from before
};

namespace {

// No word on what was asked: it may be there or not.
bool says_nothing(Trouble trouble) {
  const model::RefusalCode code = code_of(trouble);
  return trouble != Trouble::kNone &&
         (code == model::RefusalCode::kThrottled || code == model::RefusalCode::kRetry);
}

}  // namespace

void AwsCloud::resolve(const Command& command, const model::ResolveNodeClass& spec) {
  auto subject = pure::read_resolve(spec.request);
  if (!subject)
    return finish(ports::refused(*command, model::RefusalCode::kInvalid, subject.error().message));
  if (const auto& withheld = subject->spec.withheld_user_data) {
    auto text = withheld_.find(withheld->sha256);
    if (!text)  // of before a start; the first list brings it, or a later class
      return finish(ports::refused(*command, model::RefusalCode::kRetry,
                                   "the class's user data has not been read yet"));
    subject->spec.user_data = std::move(*text);
    subject->spec.withheld_user_data.reset();
  }
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

// Whether what the log knows of the class counts on: nothing of before is in this process's memory
// (it has just started), and the account has been silent for a short time only.
bool AwsCloud::may_wait(const Asking& asking) {
  const std::string& uid = asking.subject.uid;
  if (!asking.incomplete) return silent_since_.erase(uid), false;
  if (asking.spec->known.empty()) return false;
  if (silent_since_.size() >= kAnswersKeptMax) silent_since_.clear();
  const std::int64_t now = clock_.monotonic_millis();
  return now < silent_since_.emplace(uid, now).first->second + kLastAnswerMillis;
}

// All questions of a round at once; their answers, and those that are kept, may raise others.
void AwsCloud::ask(const std::shared_ptr<Asking>& asking) {
  std::vector<pure::Question> open;
  for (bool kept = true; kept && open.empty();) {
    open = pure::questions(asking->subject, cluster_, asking->answers);
    if (open.empty() && may_wait(*asking))
      return finish(ports::refused(*asking->command, model::RefusalCode::kRetry,
                                   "the account cannot be read: what was found before counts on"));
    if (open.empty())
      return resolved(*asking, pure::resolve(asking->subject, cluster_, asking->answers,
                                             clock_.wall().value()));
    if (++asking->rounds > kQuestionRoundsMax || open.size() > pure::kQuestionsMax)
      return unresolved(*asking, "the selectors raise more questions than can be asked");
    const std::int64_t now = clock_.monotonic_millis();
    kept = std::erase_if(open, [&](const pure::Question& question) {
             const pure::Answer* answer = kept_.find(asking->subject, question, now);
             if (answer != nullptr) asking->answers[question.key] = *answer;
             return answer != nullptr;
           }) > 0;
  }
  asking->open = open.size();
  for (const pure::Question& question : open) ask_account(asking, question);
}

// A question that is under way already is not asked a second time.
void AwsCloud::ask_account(const std::shared_ptr<Asking>& asking, const pure::Question& question) {
  auto& waiting = asked_[text_of(question.request)];
  waiting.push_back([this, asking, question, since = clock_.monotonic_millis()](
                        const std::vector<std::string>& pages, const CallError& error) {
    answered(*asking, question, pages, error, since);
    if (--asking->open == 0) ask(asking);
  });
  if (waiting.size() == 1) send_question(question.request, 1, clock_.monotonic_millis());
}

void AwsCloud::send_question(const pure::Request& request, int attempt, std::int64_t since) {
  auto pages = std::make_shared<std::vector<std::string>>();
  send_pages(
      client_, call_of(request, Purpose::kRead),
      [pages](const std::string& body) {
        pages->push_back(body);
        return true;
      },
      [this, request, attempt, since, pages](const CallError& error) {
        const std::int64_t pause = kAskAgainMillis * attempt;
        if (says_nothing(error.trouble) && attempt < kAskAttemptsMax &&
            clock_.monotonic_millis() + pause < since + kAskAgainWithinMillis)
          return client_.after(pause, [this, request, attempt, since] {
            send_question(request, attempt + 1, since);
          });
        const auto waiting = std::move(asked_.extract(text_of(request)).mapped());
        for (const auto& each : waiting) each(*pages, error);
      });
}

// Unknown is not empty: while no answer comes, the one before counts on for a time.
void AwsCloud::answered(Asking& asking, const pure::Question& question,
                        const std::vector<std::string>& pages, const CallError& error,
                        std::int64_t since) {
  pure::Answer& answer = asking.answers[question.key];
  answer = {pages, error.code, error.message};
  if (error.trouble != Trouble::kNone && error.code.empty())
    answer.error_code = std::string(trouble_name(error.trouble));
  kept_.keep(asking.subject, question, answer, since);
  if (!question.fault.empty()) tell_of_question(question, answer);
  const bool silent = says_nothing(error.trouble);
  if (answer.error_code == question.good_code) return;
  if (!silent && question.fault.empty()) return kept_.forget(asking.subject, question);
  if (const pure::Answer* last = kept_.last(asking.subject, question, clock_.monotonic_millis()))
    answer = *last;
  else
    asking.incomplete = asking.incomplete || (silent && question.fault.empty());
}

// Each fault is told once, and its end.
void AwsCloud::tell_of_question(const pure::Question& question, const pure::Answer& answer) {
  const bool good = answer.error_code.empty();
  if (good != faults_told_.contains(question.key)) return;
  good ? void(faults_told_.erase(question.key)) : void(faults_told_.insert(question.key));
  if (!tell_) return;
  tell_(good, good ? question.request.action + " is answered again"
                   : std::string(question.fault) + " (" + question.request.action + ": " +
                         answer.error_code + ")");
}

// ---- what EC2 sells ----

// The questions one after another: prices that cannot be read leave those known before, types and
// offerings that cannot be read leave everything as it was.
struct AwsCloud::Sold {
  enum class Of { kTypes, kSpotPrices, kOnDemandPrices };
  struct Step {
    Of of;
    pure::Request request;
    base::Status (pure::DiscoveredTypes::*add)(std::string_view) = nullptr;
  };
  std::deque<Step> steps;
  pure::DiscoveredTypes types;
  bool on_demand_read = false;  // all of it
  bool spot_read = true;
  std::string fault;  // of the first price that could not be read
};

namespace {

// The price list has nothing of these.
bool has_price_list(std::string_view region) {
  return !region.starts_with("us-gov-");
}

constexpr std::string_view kNoPrice = "no price in the answer";

}  // namespace

void AwsCloud::know_prices(const model::Catalogue& told, bool on_demand, bool spot) {
  sold_ = std::make_shared<Sold>();
  sold_->types.know_prices(told, on_demand, spot);
}

void AwsCloud::read_catalogue() {
  if (stopped()) return;
  auto sold = std::make_shared<Sold>();
  using Types = pure::DiscoveredTypes;
  using Of = Sold::Of;
  sold->steps = {
      {Of::kTypes, pure::ask_types(), &Types::add_types},
      {Of::kTypes, pure::ask_offerings(), &Types::add_offerings},
      {Of::kSpotPrices, pure::ask_spot_prices(clock_.wall().value()), &Types::add_spot_prices}};
  sold->on_demand_read = price_list_ && has_price_list(client_.region());
  if (sold->on_demand_read)
    for (pure::Request& request : pure::ask_on_demand_prices(client_.region()))
      sold->steps.push_back(
          {Of::kOnDemandPrices, std::move(request), &Types::add_on_demand_prices});
  read_next(sold);
}

void AwsCloud::prices_unread(Sold& sold, bool spot, std::string_view why) {
  (spot ? sold.spot_read : sold.on_demand_read) = false;
  const bool spot_known = sold_ && sold_->types.has_spot_prices();
  if (spot && spot_known) sold.types.fill_spot_prices(sold_->types);
  if (spot && !spot_known) sold.types.forget_spot_prices();
  if (!spot && sold_) sold.types.fill_on_demand_prices(sold_->types);
  if (!sold.fault.empty()) return;
  sold.fault = std::string("EC2's ") + (spot ? "spot" : "on-demand") + " prices cannot be read (" +
               std::string(why) + "): those read before are kept, else " +
               (spot ? "spot counts as on-demand; allow ec2:DescribeSpotPriceHistory"
                     : "the embedded table's of July 2026; allow pricing:GetProducts, or set "
                       "ISOLATED_VPC=true where the price list cannot be reached");
}

// Each fault is told once, and its end.
void AwsCloud::tell_of_prices(const std::string& fault) {
  if (fault == prices_fault_told_) return;
  prices_fault_told_ = fault;
  if (tell_) tell_(fault.empty(), fault.empty() ? "EC2's prices can be read again" : fault);
}

// An account that names no price of a kind that was asked for has not told it.
void AwsCloud::end_reading(const std::shared_ptr<Sold>& sold) {
  if (sold->spot_read && !sold->types.has_spot_prices()) prices_unread(*sold, true, kNoPrice);
  if (sold->on_demand_read && !sold->types.has_on_demand_prices())
    prices_unread(*sold, false, kNoPrice);
  model::Catalogue catalogue = sold->types.catalogue(client_.region());
  // Each is a fact of its own, and karst may end between them: what changed is not known to be
  // read before the last one says so, each time, since a catalogue that is the same is not
  // logged.
  events::PricesObserved read{{catalogue.provider, {}}, sold->on_demand_read, sold->spot_read};
  offer(events::CatalogueObserved{std::move(catalogue), sold->types.on_demand_source(),
                                  sold->types.spot_source()});
  offer(std::move(read));
  tell_of_prices(sold->fault);
  sold_ = sold;
  client_.after(sold->fault.empty() ? kCatalogueMillis : kPricesAgainMillis,
                [this] { read_catalogue(); });
}

void AwsCloud::read_next(const std::shared_ptr<Sold>& sold) {
  if (sold->steps.empty()) return end_reading(sold);
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
        if (*readable && error.trouble == Trouble::kNone) return read_next(sold);
        if (step.of == Sold::Of::kTypes)
          return client_.after(kInstanceListMillis, [this] { read_catalogue(); });
        const Trouble trouble = *readable ? error.trouble : Trouble::kMalformed;
        prices_unread(*sold, step.of == Sold::Of::kSpotPrices,
                      error.code.empty() ? trouble_name(trouble) : error.code);
        read_next(sold);
      });
}

}  // namespace karst::cloud::aws
