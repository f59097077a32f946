#include "cloud/aws/pages.h"

#include <memory>
#include <pugixml.hpp>
#include <set>
#include <utility>

namespace karst::cloud::aws {
namespace {

using base::Kind;

struct List {
  Client* client = nullptr;
  Call call;
  std::function<bool(const std::string&)> on_page;
  std::function<void(const CallError&)> done;
  std::set<std::string> tokens;
};

CallError malformed(std::string message) {
  CallError error;
  error.trouble = Trouble::kMalformed;
  error.message = std::move(message);
  return error;
}

void ask(const std::shared_ptr<List>& list);

void take(const std::shared_ptr<List>& list, const Answer& answer) {
  if (!answer.ok()) return list->done(answer.error);
  const Protocol protocol = facts_of(list->call.service).protocol;
  const auto token = next_token(answer.body, protocol);
  if (!token) return list->done(malformed(token.error().message));
  if (!list->on_page(answer.body) || token->empty()) return list->done({});
  if (!list->tokens.insert(*token).second)
    return list->done(malformed("the same page token came twice: the list has no end"));
  if (list->tokens.size() >= static_cast<std::size_t>(kPagesMax))
    return list->done(malformed("more than " + std::to_string(kPagesMax) + " pages"));
  list->call.parameters[protocol == Protocol::kQuery ? "Marker" : "NextToken"] = *token;
  ask(list);
}

void ask(const std::shared_ptr<List>& list) {
  list->client->send(list->call, [list](const Answer& answer) { take(list, answer); });
}

}  // namespace

base::Result<std::string> next_token(std::string_view body, Protocol protocol) {
  if (protocol == Protocol::kEc2Query || protocol == Protocol::kQuery) {
    pugi::xml_document document;
    if (!document.load_buffer(body.data(), body.size()))
      return base::fail(Kind::kRetry, "the answer is no XML");
    const pugi::xml_node root = document.document_element();
    if (protocol == Protocol::kEc2Query) return std::string(root.child_value("nextToken"));
    const pugi::xml_node result = root.first_child();
    return std::string(result.child("IsTruncated").text().as_bool() ? result.child_value("Marker")
                                                                    : "");
  }
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return base::fail(Kind::kRetry, "the answer is no JSON object");
  for (const char* key : {"NextToken", "nextToken"})
    if (json.contains(key) && json[key].is_string()) return json[key].get<std::string>();
  return std::string();
}

void send_pages(Client& client, Call call, std::function<bool(const std::string& body)> on_page,
                std::function<void(const CallError&)> done) {
  auto list = std::make_shared<List>();
  list->client = &client;
  list->call = std::move(call);
  list->on_page = std::move(on_page);
  list->done = std::move(done);
  ask(list);
}

}  // namespace karst::cloud::aws
