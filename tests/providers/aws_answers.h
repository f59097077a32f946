// Answers of EC2 and SSM for the tests, in the shape that the services have.
#pragma once

#include <string>
#include <utility>

#include "providers/aws/selectors.h"

namespace karst::providers::aws {

inline std::string set_of(const std::string& list, const std::string& items) {
  return "<?xml version=\"1.0\"?><Answer xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><" +
         list + ">" + items + "</" + list + "></Answer>";
}

inline std::string subnet(const std::string& id, const std::string& zone, int free) {
  return "<item><subnetId>" + id + "</subnetId><availabilityZone>us-east-1" + zone +
         "</availabilityZone><availabilityZoneId>use1-az" + zone +
         "</availabilityZoneId><availableIpAddressCount>" + std::to_string(free) +
         "</availableIpAddressCount></item>";
}

inline std::string group(const std::string& id, const std::string& name) {
  return "<item><groupId>" + id + "</groupId><groupName>" + name + "</groupName></item>";
}

inline std::string image(const std::string& id, const std::string& arch, const std::string& created,
                         const std::string& more = "") {
  return "<item><imageId>" + id + "</imageId><imageState>available</imageState><name>name-" + id +
         "</name><architecture>" + arch + "</architecture><creationDate>" + created +
         "</creationDate>" + more + "</item>";
}

inline Answer page(std::string text) {
  return {{std::move(text)}, "", ""};
}

inline Answer refused(std::string code) {
  return {{}, std::move(code), "no"};
}

inline Answer parameter(const std::string& id) {
  return page(R"({"Parameter": {"Value": ")" + id + "\"}}");
}

}  // namespace karst::providers::aws
