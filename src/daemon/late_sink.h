// A sink that exists before the daemon does: the edges need a sink, and the daemon needs the edges'
// hands. Nothing may be offered before set().
#pragma once

#include <utility>

#include "ports/fact.h"

namespace karst::daemon {

class LateSink final : public ports::FactSink {
 public:
  void set(ports::FactSink& sink) { sink_ = &sink; }
  bool offer(ports::Fact fact) override { return sink_->offer(std::move(fact)); }

 private:
  ports::FactSink* sink_ = nullptr;
};

}  // namespace karst::daemon
