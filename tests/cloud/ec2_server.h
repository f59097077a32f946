// What EC2 does with the calls of its hands, without a network: launch templates, instant fleets
// with their tokens and capacity, instances and their tags. One thread.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "http/transport.h"

namespace karst::cloud::aws {

using Form = std::map<std::string, std::string>;

inline std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '%' && i + 2 < text.size()) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i];
    }
  return out;
}

inline Form form_of(std::string_view body) {
  Form form;
  while (!body.empty()) {
    const std::string_view pair = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(pair.size() + 1, body.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    form[decoded(pair.substr(0, equals))] = decoded(pair.substr(std::min(equals + 1, pair.size())));
  }
  return form;
}

class Ec2Server {
 public:
  struct Machine {
    std::string type, zone, subnet, token;
    Form tags;
    bool alive = true;
  };

  http::Response answer(const std::string& body) {
    const Form form = form_of(body);
    const std::string& action = form.at("Action");
    if (action == "CreateLaunchTemplate") return make_template(form);
    if (action == "CreateFleet") return make_fleet(form, body);
    if (action == "DescribeInstances") return describe(form);
    if (action == "TerminateInstances") return terminate(form);
    return error(400, "InvalidAction");
  }
  std::map<std::string, Machine> machines;
  std::set<std::pair<std::string, std::string>> sold_out;  // type and zone
  bool one_short = false;                                  // of the next fleet

 private:
  static http::Response say(int status, const std::string& body) {
    http::Response response;
    response.status = status;
    response.body = body;
    return response;
  }
  static http::Response error(int status, const std::string& code) {
    return say(status, "<Response><Errors><Error><Code>" + code +
                           "</Code><Message>no</Message></Error></Errors></Response>");
  }
  static std::string text(const Form& form, const std::string& key) {
    const auto at = form.find(key);
    return at == form.end() ? "" : at->second;
  }

  http::Response make_template(const Form& form) {
    if (!templates_.insert(form.at("LaunchTemplateName")).second)
      return error(400, "InvalidLaunchTemplateName.AlreadyExistsException");
    return say(200, "<CreateLaunchTemplateResponse/>");
  }

  static std::string overrides(const Machine& of) {
    return "<launchTemplateAndOverrides><overrides><instanceType>" + of.type +
           "</instanceType><subnetId>" + of.subnet + "</subnetId><availabilityZone>" + of.zone +
           "</availabilityZone></overrides></launchTemplateAndOverrides>";
  }

  // The first override that is not sold out, of every machine of the fleet.
  http::Response make_fleet(const Form& form, const std::string& body) {
    const std::string token = text(form, "ClientToken");
    if (const auto known = fleets_.find(token); known != fleets_.end())
      return known->second.first == body ? say(200, known->second.second)
                                         : error(400, "IdempotentParameterMismatch");
    std::string errors, instances;
    Machine chosen;
    for (int c = 1; form.contains(at("LaunchTemplateConfigs", c) + ".Overrides.1.InstanceType");
         ++c)
      for (int o = 1;; ++o) {
        const std::string prefix = at(at("LaunchTemplateConfigs", c) + ".Overrides", o) + ".";
        if (!form.contains(prefix + "InstanceType")) break;
        Machine one;
        one.type = form.at(prefix + "InstanceType");
        one.zone = form.at(prefix + "AvailabilityZone");
        one.subnet = form.at(prefix + "SubnetId");
        if (sold_out.contains({one.type, one.zone}))
          errors += "<item>" + overrides(one) +
                    "<errorCode>InsufficientInstanceCapacity</errorCode><errorMessage>none left"
                    "</errorMessage></item>";
        else if (chosen.type.empty())
          chosen = one;
      }
    int count = std::stoi(text(form, "TargetCapacitySpecification.TotalTargetCapacity"));
    if (std::exchange(one_short, false)) --count;
    for (int i = 0; i < count && !chosen.type.empty(); ++i) {
      chosen.token = token;
      chosen.tags = tags_of(form);
      const std::string id = "i-" + std::to_string(100 + machines.size());
      instances += "<item>" + id + "</item>";
      machines[id] = chosen;
    }
    std::string answer =
        "<CreateFleetResponse><errorSet>" + errors + "</errorSet><fleetInstanceSet>";
    if (!instances.empty())
      answer += "<item>" + overrides(chosen) + "<lifecycle>spot</lifecycle><instanceIds>" +
                instances + "</instanceIds><instanceType>" + chosen.type + "</instanceType></item>";
    answer += "</fleetInstanceSet></CreateFleetResponse>";
    fleets_[token] = {body, answer};
    return say(200, answer);
  }
  static std::string at(const std::string& list, int number) {
    return list + "." + std::to_string(number);
  }
  static Form tags_of(const Form& form) {
    Form tags;
    for (int s = 1; s < 10; ++s)
      for (int t = 1; t < 60; ++t) {
        const std::string tag = at(at("TagSpecification", s) + ".Tag", t);
        if (text(form, at("TagSpecification", s) + ".ResourceType") == "instance" &&
            form.contains(tag + ".Key"))
          tags[form.at(tag + ".Key")] = text(form, tag + ".Value");
      }
    return tags;
  }

  http::Response describe(const Form& form) {
    std::string items;
    const std::string wanted = text(form, "InstanceId.1");
    if (!wanted.empty() && !machines.contains(wanted))
      return error(400, "InvalidInstanceID.NotFound");
    for (const auto& [id, machine] : machines) {
      if (!wanted.empty() && id != wanted) continue;
      items += "<item><instanceId>" + id + "</instanceId><instanceType>" + machine.type +
               "</instanceType><placement><availabilityZone>" + machine.zone +
               "</availabilityZone></placement><instanceState><name>" +
               (machine.alive ? "running" : "terminated") + "</name></instanceState><tagSet>";
      for (const auto& [key, value] : machine.tags)
        items += "<item><key>" + key + "</key><value>" + value + "</value></item>";
      items += "</tagSet></item>";
    }
    return say(200, "<DescribeInstancesResponse><reservationSet><item><instancesSet>" + items +
                        "</instancesSet></item></reservationSet></DescribeInstancesResponse>");
  }
  http::Response terminate(const Form& form) {
    machines.at(form.at("InstanceId.1")).alive = false;
    return say(200, "<TerminateInstancesResponse/>");
  }

  std::set<std::string> templates_;
  std::map<std::string, std::pair<std::string, std::string>> fleets_;  // request and answer
};

}  // namespace karst::cloud::aws
