// A table of the state: rows by key in key order, and a digest of them that is kept up to date by
// every edit. A row takes part in digest and snapshot by its fields() (base/bytes.h). Plain value,
// one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/set_digest.h"

namespace karst::projections {

template <class Key, class Row>
class Table {
 public:
  struct Slot {
    Row row;
    base::Hash128 hash;
  };
  using Map = std::map<Key, Slot, std::less<>>;

  // `seed` tells this table's rows from equal rows of another table.
  explicit Table(std::uint64_t seed) : seed_(seed) {}

  template <class K>
  const Row* find(const K& key) const {
    const auto at = slots_.find(key);
    return at == slots_.end() ? nullptr : &at->second.row;
  }
  bool contains(const Key& key) const { return slots_.contains(key); }
  std::size_t size() const { return slots_.size(); }
  const Map& slots() const { return slots_; }

  // Changes the row of `key`, made fresh if there was none. Returns the row after the change.
  template <class Change>
  const Row& edit(const Key& key, Change&& change) {
    auto [at, fresh] = slots_.try_emplace(key);
    Slot& slot = at->second;
    if (!fresh) digest_.remove(slot.hash);
    change(slot.row);
    slot.hash = hash_of(at->first, slot.row);
    digest_.add(slot.hash);
    return slot.row;
  }
  // Changes the row of `key` if there is one. False when there is none.
  template <class Change>
  bool edit_if(const Key& key, Change&& change) {
    if (!slots_.contains(key)) return false;
    edit(key, std::forward<Change>(change));
    return true;
  }
  bool erase(const Key& key) {
    const auto at = slots_.find(key);
    if (at == slots_.end()) return false;
    digest_.remove(at->second.hash);
    slots_.erase(at);
    return true;
  }
  base::Hash128 digest() const { return digest_.value(); }

  void save(base::ByteWriter& writer) const {
    writer(static_cast<std::uint64_t>(slots_.size()));
    for (const auto& [key, slot] : slots_) writer(key, slot.row);
  }
  // Replaces the content. Damaged bytes leave the reader not ok().
  void load(base::ByteReader& reader) {
    slots_.clear();
    digest_ = {};
    std::uint64_t count = 0;
    reader(count);
    for (; count > 0 && reader.ok(); --count) {
      Key key{};
      Row row{};
      reader(key, row);
      if (reader.ok()) edit(key, [&](Row& stored) { stored = std::move(row); });
    }
  }

 private:
  base::Hash128 hash_of(const Key& key, const Row& row) {
    scratch_.clear();
    scratch_(key, row);
    return base::hash128(scratch_.view(), seed_);
  }

  std::uint64_t seed_;
  Map slots_;
  base::SetDigest digest_;
  base::ByteWriter scratch_;
};

}  // namespace karst::projections
