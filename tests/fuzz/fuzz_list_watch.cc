// The list and watch protocol under any answers: the first bytes choose what happens next, the rest
// is what arrives. Brackets stay paired, no step is lost, nothing is held beyond its bound, and how
// the stream is cut into pieces makes no difference.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "kube/list_watch.h"

namespace {

class Recorder final : public karst::kube::ListWatch::Observer {
 public:
  void list_started() override { open = true; }
  void listed(simdjson::dom::element) override { require(open); }
  void list_ended(const std::string& version) override {
    require(open && !version.empty());
    open = false;
  }
  void changed(simdjson::dom::element) override { events += 'c'; }
  void gone(simdjson::dom::element) override { events += 'g'; }
  void reached(const std::string&) override { events += 'r'; }
  void refused(const std::string& reason, std::string_view) override {
    require(!reason.empty());
    events += 'x';
  }
  static void require(bool condition) {
    if (!condition) std::abort();
  }
  bool open = false;
  std::string events;
};

using Step = karst::kube::ListWatch::Step;
constexpr std::string_view kEmptyList = R"({"metadata":{"resourceVersion":"1"},"items":[]})";

// The same stream in pieces of `size` bytes: what was observed, and whether it was to go on.
std::string watched(std::string_view stream, std::size_t size) {
  Recorder recorder;
  karst::kube::ListWatch protocol("/p", recorder);
  (void)protocol.start();
  (void)protocol.list_answered({200, kEmptyList, {}});
  bool go_on = true;
  for (std::size_t at = 0; at < stream.size() && go_on; at += size)
    go_on = protocol.watch_bytes(stream.substr(at, size));
  return recorder.events + (go_on ? "+" : "-");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  if (watched(all, 1) != watched(all, size + 1)) std::abort();
  Recorder recorder;
  karst::kube::ListWatch protocol("/p", recorder);
  Step step = protocol.start();
  std::size_t at = 0;
  while (at + 2 < size) {
    const int choice = data[at++];
    const std::size_t wanted = data[at++] * std::size_t{4};
    const std::size_t length = std::min(wanted, size - at);
    const std::string_view bytes = all.substr(at, length);
    at += length;
    static constexpr int kStatuses[] = {200, 200, 200, 410, 500, 403, 0, 429};
    const karst::kube::ListWatch::Answer answer{kStatuses[choice % 8],
                                                choice % 16 < 8 ? bytes : kEmptyList, "error"};
    switch (step.kind) {
      case Step::Kind::kList:
        step = protocol.list_answered(answer);
        break;
      case Step::Kind::kWait:
        step = protocol.waited();
        break;
      case Step::Kind::kWatch:
        if (choice % 2 == 0 && protocol.watch_bytes(bytes)) break;
        step = protocol.watch_closed(answer);
    }
    Recorder::require(step.kind != Step::Kind::kWait ||
                      (step.millis >= karst::kube::kBackOffFirstMillis &&
                       step.millis <= karst::kube::kBackOffMaxMillis));
    Recorder::require(step.kind != Step::Kind::kWatch || !recorder.open);
  }
  return 0;
}
