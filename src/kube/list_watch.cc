#include "kube/list_watch.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "kube/client.h"

namespace karst::kube {
namespace {

using simdjson::dom::element;

std::string_view text_under(element object, std::string_view pointer) {
  std::string_view text;
  if (object.at_pointer(pointer).get_string().get(text)) return {};
  return text;
}

}  // namespace

ListWatch::ListWatch(std::string path, Observer& observer, bool optional)
    : path_(std::move(path)), observer_(observer), optional_(optional) {}

ListWatch::Step ListWatch::start() {
  return list_step();
}

ListWatch::Step ListWatch::relist() {
  continue_.clear();
  return list_step();
}

ListWatch::Step ListWatch::list_step() {
  if (continue_.empty()) {
    observer_.list_started();
    pages_ = 0;
  }
  ++pages_;
  std::string path = path_ + "?limit=" + std::to_string(page_items_);
  if (!continue_.empty()) path += "&continue=" + escaped(continue_);
  return {Step::Kind::kList, std::move(path), 0};
}

ListWatch::Step ListWatch::watch_step() {
  partial_.clear();
  skipping_ = false;
  progress_ = false;
  stream_error_.clear();
  return {Step::Kind::kWatch,
          path_ + "?watch=1&allowWatchBookmarks=true&timeoutSeconds=" +
              std::to_string(kWatchSeconds) + "&resourceVersion=" + escaped(version_),
          0};
}

ListWatch::Step ListWatch::wait(bool then_list, std::string trouble) {
  trouble_ = std::move(trouble);
  list_next_ = then_list;
  if (then_list) continue_.clear();
  const std::int64_t millis = back_off_millis_;
  back_off_millis_ = std::min(back_off_millis_ * 2, kBackOffMaxMillis);
  return {Step::Kind::kWait, {}, millis};
}

ListWatch::Step ListWatch::waited() {
  return list_next_ ? list_step() : watch_step();
}

ListWatch::Step ListWatch::list_answered(const Answer& answer) {
  if (answer.status == 404 && optional_) return absent();
  if (answer.too_large && page_items_ > 1) {
    page_items_ /= 2;
    return list_step();
  }
  if (answer.status != 200) return wait(true, answer.error);
  std::string error;
  if (!read_page(answer.body, error)) return wait(true, error);
  if (!continue_.empty() && pages_ >= kListPagesMax)
    return wait(true, "a list of more than " + std::to_string(kListPagesMax) + " pages");
  if (!continue_.empty()) return list_step();
  observer_.list_ended(version_);
  expired_ = false;
  watch_failures_ = 0;
  back_off_millis_ = kBackOffFirstMillis;
  trouble_.clear();
  return watch_step();
}

ListWatch::Step ListWatch::absent() {
  observer_.list_ended({});
  wait(true,
       "the server does not have it (is its CRD installed?), so there are none; looking again "
       "each minute");
  back_off_millis_ = kBackOffFirstMillis;
  return {Step::Kind::kWait, {}, kAbsentMillis};
}

// Reads one page and hands its objects over. False: it is no list; nothing was handed over.
bool ListWatch::read_page(std::string_view body, std::string& error) {
  const auto page = parser_.parse(body, objects::kListBytesMax);
  if (!page) {
    error = "a list that cannot be read: " + page.error().message;
    return false;
  }
  simdjson::dom::array items;
  const auto found = (*page)["items"];
  const bool no_items =
      found.error() == simdjson::NO_SUCH_FIELD || (!found.error() && found.is_null());
  const std::string_view version = text_under(*page, "/metadata/resourceVersion");
  if ((!no_items && found.get_array().get(items)) || version.empty()) {
    error = "an answer that is no list: it has no items or no metadata.resourceVersion";
    return false;
  }
  version_ = version;
  continue_ = text_under(*page, "/metadata/continue");
  if (!no_items)
    for (const element item : items) observer_.listed(item);
  return true;
}

bool ListWatch::watch_bytes(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const bool complete = end != std::string_view::npos;
    const std::string_view piece = bytes.substr(0, end);
    bytes.remove_prefix(complete ? end + 1 : bytes.size());
    if (!skipping_ && partial_.size() + piece.size() > kWatchLineBytesMax) {
      partial_.append(piece.substr(0, kWatchLineBytesMax - partial_.size()));
      observer_.refused(
          "a watch event of more than " + std::to_string(kWatchLineBytesMax) + " bytes", partial_);
      skipping_ = true;
      partial_.clear();
    }
    if (skipping_) {
      skipping_ = !complete;
      continue;
    }
    if (!complete) {
      partial_.append(piece);
      continue;
    }
    bool go_on = true;
    if (partial_.empty()) {
      go_on = line(piece);
    } else {
      partial_.append(piece);
      const std::string whole = std::exchange(partial_, {});
      go_on = line(whole);
    }
    if (!go_on) return false;
  }
  return true;
}

bool ListWatch::line(std::string_view bytes) {
  if (bytes.find_first_not_of(" \t\r") == std::string_view::npos) return true;
  const auto parsed = parser_.parse(bytes, kWatchLineBytesMax);
  if (!parsed) {
    observer_.refused("a watch event that cannot be read: " + parsed.error().message, bytes);
    return true;
  }
  return event(*parsed, bytes);
}

bool ListWatch::event(element event, std::string_view bytes) {
  const std::string_view type = text_under(event, "/type");
  element object;
  if (type.empty() || event.at_pointer("/object").get(object) || !object.is_object()) {
    observer_.refused("a watch event without type or object", bytes);
    return true;
  }
  if (type == "ERROR") return stream_error(object);
  const std::string_view version = text_under(object, "/metadata/resourceVersion");
  if (version.empty()) {
    observer_.refused("a watch event whose object has no metadata.resourceVersion", bytes);
    return true;
  }
  const bool known =
      type == "ADDED" || type == "MODIFIED" || type == "DELETED" || type == "BOOKMARK";
  if (!known) {
    observer_.refused("a watch event of the unknown type " + std::string(base::cut_utf8(type, 40)),
                      bytes);
    return true;
  }
  version_ = version;
  progress_ = true;
  watch_failures_ = 0;
  back_off_millis_ = kBackOffFirstMillis;
  trouble_.clear();
  if (type == "DELETED")
    observer_.gone(object);
  else if (type != "BOOKMARK")
    observer_.changed(object);
  else
    observer_.reached(version_);
  return true;
}

bool ListWatch::stream_error(element status) {
  std::int64_t code = 0;
  if (status["code"].get_int64().get(code)) code = 0;
  expired_ = expired_ || code == 410;
  stream_error_ = "the watch ended with " + std::to_string(code) + ": " +
                  std::string(text_under(status, "/message").substr(0, 200));
  return false;
}

ListWatch::Step ListWatch::watch_closed(const Answer& answer) {
  if (expired_ || answer.status == 410) {
    expired_ = false;
    return wait(true, {});  // no trouble: an old version is forgotten sooner or later
  }
  if (answer.status == 200 && progress_ && stream_error_.empty()) return watch_step();
  ++watch_failures_;
  const bool again =
      watch_failures_ < kWatchFailuresMax &&
      (answer.status == 0 || answer.status == 200 || answer.status == 429 || answer.status >= 500);
  // The first close without an event is ordinary: a quiet resource, a server that restarts.
  std::string trouble = !stream_error_.empty() ? stream_error_ : answer.error;
  if (watch_failures_ == 1 && answer.status == 200) trouble.clear();
  return wait(!again, std::move(trouble));
}

}  // namespace karst::kube
