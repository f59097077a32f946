#include "cloud/aws/protocols.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace karst::cloud::aws {
namespace {

using base::Kind;

class Flattener {
 public:
  explicit Flattener(Protocol protocol) : member_(protocol == Protocol::kQuery ? ".member" : "") {}

  base::Status add(const std::string& name, const Tree& value, int depth) {
    if (depth > kParameterDepthMax)
      return base::fail(Kind::kInvalid, name + ": parameters are nested too deep");
    if (value.is_null()) return {};
    if (value.is_object()) {
      for (const auto& [key, below] : value.items())
        KARST_TRY(add(name.empty() ? key : name + "." + key, below, depth + 1));
      return {};
    }
    if (name.empty()) return base::fail(Kind::kInvalid, "parameters are no object");
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i)
        KARST_TRY(add(name + member_ + "." + std::to_string(i + 1), value[i], depth + 1));
      return {};
    }
    if (pairs.size() >= kParametersMax)
      return base::fail(Kind::kInvalid, "more than " + std::to_string(kParametersMax) +
                                            " parameters in one request");
    pairs.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
    return {};
  }

  Pairs pairs;

 private:
  const std::string member_;
};

}  // namespace

base::Result<Pairs> flatten(const Tree& parameters, Protocol protocol) {
  Flattener flattener(protocol);
  KARST_TRY(flattener.add("", parameters, 0));
  return std::move(flattener.pairs);
}

std::string_view trouble_name(Trouble trouble) {
  static constexpr std::array<std::string_view, 11> kNames = {"done",
                                                              "throttled",
                                                              "refused credentials",
                                                              "denied",
                                                              "refused for this machine's clock",
                                                              "not found",
                                                              "refused",
                                                              "failed at the service",
                                                              "answered unreadably",
                                                              "unclear",
                                                              "not sent"};
  return kNames.at(static_cast<std::size_t>(trouble));
}

bool may_have_happened(Trouble trouble) {
  return trouble == Trouble::kNone || trouble == Trouble::kServer ||
         trouble == Trouble::kMalformed || trouble == Trouble::kUnclear;
}

std::string told(const CallError& error, std::string_view action) {
  std::string text(action);
  text.append(": ").append(trouble_name(error.trouble));
  std::string detail = error.code;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) detail += (detail.empty() ? "" : ", ") + part;
  };
  add(error.status == 0 ? "" : "HTTP " + std::to_string(error.status));
  add(error.request_id.empty() ? "" : "request " + error.request_id);
  if (!detail.empty()) text += " (" + detail + ")";
  if (!error.message.empty()) text += ": " + error.message;
  return text;
}

}  // namespace karst::cloud::aws
