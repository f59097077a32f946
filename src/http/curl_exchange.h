// One request as a libcurl handle: how it is set up, what it collects, and what its end means. For
// the transport's thread alone.
#pragma once

#include <curl/curl.h>

#include <optional>

#include "http/transport.h"

namespace karst::http {

// One request on the wire.
struct Exchange {
  RequestId id = 0;
  Request request;
  Transport::Done done;
  Response response;
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  curl_slist* connect_to = nullptr;
  char error[CURL_ERROR_SIZE] = {};
  std::size_t header_bytes = 0;
  std::optional<Failure> stopped;  // why we ended it ourselves
  bool sent = false;               // it has gone out once
  bool held = false;               // may_leave said no
  bool cut = false;                // it would have gone out a second time

  Exchange(RequestId number, Request what, Transport::Done then)
      : id(number), request(std::move(what)), done(std::move(then)) {}
  ~Exchange() {
    if (easy != nullptr) curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
    curl_slist_free_all(connect_to);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
};

// Makes the handle ready for curl_multi_add_handle. `own`: the connection of requests without one.
void set_up(Exchange& exchange, const Connection& own);

// The exchange has ended with `code`: status, failure and error go into its response.
void conclude(Exchange& exchange, CURLcode code);

}  // namespace karst::http
