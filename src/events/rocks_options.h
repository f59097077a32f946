// RocksDB's settings. Included by rocks_db.cc alone; the reasons are beside each setting in
// rocks_options.cc.
#pragma once

#include <vector>

#include "events/rocks_db.h"

namespace rocksdb {
struct ColumnFamilyDescriptor;
struct DBOptions;
}  // namespace rocksdb

namespace karst::events {

rocksdb::DBOptions database_options(Recovery recovery);

// The default family, which RocksDB demands, then those of Family in their order.
std::vector<rocksdb::ColumnFamilyDescriptor> families(Compactions compactions);

}  // namespace karst::events
