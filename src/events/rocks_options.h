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

rocksdb::DBOptions database_options(Recovery recovery, Contents contents);

// The families of a database in the order of Family.
std::vector<Family> families_of(Contents contents);

// The default family, which RocksDB demands, then those of families_of.
std::vector<rocksdb::ColumnFamilyDescriptor> families(Compactions compactions,
                                                      Contents contents = Contents::kLog);

}  // namespace karst::events
