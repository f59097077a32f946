// A table of the state: rows by key in key order, and a digest of them in O(changes): what was
// edited since it was last asked for is hashed then, once however often it was edited. A row takes
// part in digest and snapshot by its fields() (base/bytes.h). Plain value, one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/set_digest.h"

namespace karst::projections {

template <class Key, class Row>
class Table {
 public:
  struct Slot {
    Row row;
    base::Hash128 hash;
    bool stale = false;  // edited since: the hash is not in the digest
  };
  using Map = std::map<Key, Slot, std::less<>>;

  // `seed` tells this table's rows from equal rows of another table.
  explicit Table(std::uint64_t seed) : seed_(seed) {}
  // Moving keeps every row where it is; a copy's stale rows would be the other's.
  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

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
    if (!slot.stale) {
      if (!fresh) digest_.remove(slot.hash);
      stale_.push_back(&*at);
      slot.stale = true;
    }
    change(slot.row);
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
    if (at->second.stale) settle();
    digest_.remove(at->second.hash);
    slots_.erase(at);
    return true;
  }
  base::Hash128 digest() const {
    settle();
    return digest_.value();
  }

  void save(base::ByteWriter& writer) const {
    writer(static_cast<std::uint64_t>(slots_.size()));
    for (const auto& [key, slot] : slots_) writer(key, slot.row);
  }
  // Replaces the content. Damaged bytes leave the reader not ok().
  void load(base::ByteReader& reader) {
    slots_.clear();
    stale_.clear();
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
  void settle() const {
    for (typename Map::value_type* edited : stale_) {
      scratch_.clear();
      scratch_(edited->first, edited->second.row);
      edited->second.hash = base::hash128(scratch_.view(), seed_);
      edited->second.stale = false;
      digest_.add(edited->second.hash);
    }
    stale_.clear();
  }

  std::uint64_t seed_;
  Map slots_;
  mutable std::vector<typename Map::value_type*> stale_;
  mutable base::SetDigest digest_;
  mutable base::ByteWriter scratch_;
};

}  // namespace karst::projections
