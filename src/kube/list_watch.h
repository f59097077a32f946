// The list and watch protocol of one resource as a state machine: answers, bytes, closes and a
// timer go in, the next step comes out, and what was learned goes to the observer. No I/O, no
// clock, no threads: the caller carries out the steps.
//   start → list page by page → watch from the list's version → (closed: watch again; 410: list
//   again; trouble: wait)
// What is received is hostile: lines and answers are bounded, a line that cannot be read is
// reported and skipped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "objects/json.h"

namespace karst::kube {

inline constexpr int kListPageItems = 500;  // fewer once a page was too large (kListBytesMax)
// Of one list; a server that always promises another page is not followed further.
inline constexpr int kListPagesMax = 200'000;
// One event. etcd holds an object to 1.5 MiB unless told otherwise, in a form that JSON is some
// times as long as.
inline constexpr std::size_t kWatchLineBytesMax = 8u << 20;
inline constexpr std::int64_t kWatchSeconds =
    290;  // the server closes a watch after so long; we open the next
inline constexpr std::int64_t kBackOffFirstMillis = 200;
inline constexpr std::int64_t kBackOffMaxMillis = 30'000;
inline constexpr std::int64_t kAbsentMillis =
    60'000;  // until a missing collection is asked for again
inline constexpr int kWatchFailuresMax =
    5;  // in a row without an event between them; then list again

class ListWatch {
 public:
  class Observer {
   public:
    virtual ~Observer() = default;
    // Before the first page is asked for: whatever exists at that moment and is not listed then is
    // gone. A list that fails on the way is started again.
    virtual void list_started() = 0;
    virtual void listed(simdjson::dom::element object) = 0;
    virtual void list_ended(const std::string& version) = 0;
    virtual void changed(simdjson::dom::element object) = 0;
    virtual void gone(simdjson::dom::element object) = 0;
    // Everything up to `version` has been seen.
    virtual void reached(const std::string& version) = 0;
    virtual void refused(const std::string& reason, std::string_view bytes) = 0;
  };

  struct Step {
    enum class Kind { kList, kWatch, kWait };
    Kind kind = Kind::kWait;
    std::string path;         // kList, kWatch: path and query
    std::int64_t millis = 0;  // kWait
  };
  struct Answer {
    int status = 0;  // 0: none came
    std::string_view body;
    std::string error;       // for people, when it is no success
    bool too_large = false;  // more came than a page may have
  };

  // `path`: of the collection, e.g. /api/v1/pods. `observer` outlives this.
  // `optional`: a collection that the server does not have (404) is one without objects; it is
  // asked for again each kAbsentMillis.
  ListWatch(std::string path, Observer& observer, bool optional = false);

  Step start();
  // The answer to a kList step.
  Step list_answered(const Answer& answer);
  // A piece of the stream of a kWatch step. False: end the stream; watch_closed comes next as ever.
  bool watch_bytes(std::string_view bytes);
  // The stream of a kWatch step has ended, however. `body` is that of an answer other than 200.
  Step watch_closed(const Answer& answer);
  // Whatever was under way was dropped by the caller: from the start.
  Step relist();
  // The time of a kWait step is over.
  Step waited();

  // Why nothing arrives at the moment, for people; empty while all is well.
  const std::string& trouble() const { return trouble_; }
  const std::string& version() const { return version_; }

 private:
  Step list_step();
  Step watch_step();
  Step wait(bool then_list, std::string trouble);
  Step absent();
  bool read_page(std::string_view body, std::string& error);
  bool line(std::string_view bytes);
  bool event(simdjson::dom::element event, std::string_view bytes);
  bool stream_error(simdjson::dom::element status);

  const std::string path_;
  Observer& observer_;
  const bool optional_;
  objects::Parser parser_;
  std::string version_;
  std::string continue_;
  int page_items_ = kListPageItems;
  int pages_ = 0;          // asked for of this list
  std::string partial_;    // of a watch line
  bool skipping_ = false;  // the rest of a line that was too long
  bool expired_ = false;   // the server has forgotten our version
  bool progress_ = false;  // this watch has brought an event
  bool list_next_ = true;  // after waiting
  int watch_failures_ = 0;
  std::int64_t back_off_millis_ = kBackOffFirstMillis;
  std::string trouble_;
  std::string stream_error_;
};

}  // namespace karst::kube
