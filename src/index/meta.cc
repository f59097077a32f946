#include "index/meta.h"

#include <string_view>

namespace karst::index {
namespace {

using events::Family;

constexpr std::string_view kFormatKey = "format";
constexpr std::string_view kLogKey = "log";
constexpr std::string_view kThroughKey = "through";

base::Result<std::string> read(const events::RocksDb& db, std::string_view key) {
  auto value = db.get(Family::kMeta, key);
  if (!value) return base::fail(value.error());
  if (!*value)
    return base::fail(base::Kind::kCorrupt,
                      "the index has no '" + std::string(key) + "': it was never finished");
  return std::move(**value);
}

}  // namespace

base::Result<Meta> read_meta(const events::RocksDb& db) {
  auto format = read(db, kFormatKey);
  if (!format) return base::fail(format.error());
  auto log = read(db, kLogKey);
  if (!log) return base::fail(log.error());
  const auto through = read(db, kThroughKey);
  if (!through) return base::fail(through.error());
  const auto position = events::parse_position_key(*through);
  if (!position)
    return base::fail(base::Kind::kCorrupt, "the index says 'through' in other than 8 bytes");
  return Meta{std::move(*format), model::LogId(std::move(*log)), *position};
}

void put_meta(events::RocksDb& db, const Meta& meta) {
  db.put(Family::kMeta, kFormatKey, meta.format, {});
  db.put(Family::kMeta, kLogKey, meta.log.str(), {});
  put_through(db, meta.through);
}

void put_through(events::RocksDb& db, model::Position through) {
  db.put(Family::kMeta, kThroughKey, events::PositionKey(through).view(), {});
}

}  // namespace karst::index
