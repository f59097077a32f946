// What Kubernetes takes as names and as labels. Pure. Source: "Syntax and character set" of
// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/, and
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ (RFC 1123).
#pragma once

#include <cstddef>
#include <string_view>

namespace karst::model {

inline constexpr std::size_t kLabelNameMax = 63;  // also of a value, and of a DNS label
inline constexpr std::size_t kDnsNameMax = 253;

// The characters alone, of any length: letters, digits, '-', '_' and '.', the first and last of
// them a letter or digit.
bool is_label_name(std::string_view text);
// Lower case letters, digits and '-', which is neither first nor last.
bool is_dns_label(std::string_view text);
// DNS labels with dots between.
bool is_dns_name(std::string_view text);

// NAME, or DOMAIN/NAME with a DNS name before the slash; lengths included.
bool is_label_key(std::string_view key);
// May be empty; length included.
bool is_label_value(std::string_view value);

}  // namespace karst::model
