// What Kubernetes allows as names: label keys and values, object names, ports. Each returns what is
// wrong with the text, for people; empty when nothing is.
#pragma once

#include <string>
#include <string_view>

namespace karst::objects {

std::string bad_label_key(std::string_view text);    // [DNS name/]NAME
std::string bad_label_value(std::string_view text);  // at most 63 characters, may be empty
std::string bad_dns_label(std::string_view text);    // at most 63 characters, lower case
std::string bad_dns_name(std::string_view text);     // at most 253 characters, lower case
std::string bad_port_name(std::string_view text);    // at most 15 characters

}  // namespace karst::objects
