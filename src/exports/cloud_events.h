// CloudEvents 1.0 in JSON, from the rows of the events view: structured, one event a line, or one
// batch, an array (application/cloudevents-batch+json). Source of the rules: https://cloudevents.io
// (spec.md, formats/json-format.md, extensions sequence, partitioning, recordedtime, correlation).
//
//   source karst://<cluster uid>/<log id>, id = position: unique together, for ever
//   type sh.karst.<event type>, subject = stream, time = log time, recordedtime = wall time
//   sequence = position with 20 digits (it sorts), partitionkey = cluster uid
//   causationid = the event that led to it, correlationid = the root of that chain
//   data = the payload; where it is withheld null, with payloadcommitment in hex
#pragma once

#include <string>

#include "exports/byte_sink.h"
#include "exports/origin.h"
#include "exports/table.h"

namespace karst::exports {

class CloudEventsWriter final : public TableWriter {
 public:
  CloudEventsWriter(const Origin& origin, bool batch, ByteSink& sink);
  base::Status row(const Row& row) override;
  base::Status finish() override;

 private:
  bool batch_;
  ByteSink& sink_;
  std::string front_;  // what is the same in every event
  std::string back_;
  std::string line_;
  bool begun_ = false;
};

}  // namespace karst::exports
