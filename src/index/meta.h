// What an index says of itself. Inner part of src/index.
#pragma once

#include <string>

#include "base/result.h"
#include "events/rocks_db.h"
#include "model/ids.h"

namespace karst::index {

struct Meta {
  std::string format;
  model::LogId log;
  model::Position through;
};

// Errors: kCorrupt when something of it is missing.
base::Result<Meta> read_meta(const events::RocksDb& db);
// Gathered for the next write.
void put_meta(events::RocksDb& db, const Meta& meta);
void put_through(events::RocksDb& db, model::Position through);

}  // namespace karst::index
