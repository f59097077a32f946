// Which hosts are reached without the proxy of the environment, as Go's net/http (and so client-go
// and the vendor's SDKs) reads $NO_PROXY: addresses, networks in CIDR notation and names, with a
// port if only that one is meant. "example.com" is the name and all below it, ".example.com" and
// "*.example.com" only those below; "*" is everything.
#pragma once

#include <string>
#include <string_view>

namespace karst::http {

// `list`: separated by commas or spaces. `host`: a name, an IPv4 address, or an IPv6 address with
// or without brackets. What cannot be read in the list means nothing. Pure.
bool no_proxy_holds(std::string_view list, std::string_view host, std::string_view port);

// The list of the environment: $no_proxy, or $NO_PROXY where that is not set or empty, in libcurl's
// order.
std::string no_proxy_of_environment();

// This machine, and link-local addresses (a cloud's metadata and credential agents): a proxy would
// ask its own.
bool never_by_proxy(std::string_view host);

}  // namespace karst::http
