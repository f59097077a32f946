// Canonical bytes of plain structs, written once per struct and used three times: for digests, for
// snapshots, and for content hashes. A struct takes part by a free function in its own namespace
// that names its fields in order:
//   template <class Archive> void fields(Archive& a, Pod& pod) { a(pod.uid, pod.name); }
// Numbers are 8 bytes little-endian, strings and vectors are preceded by their length, optionals by
// 0 or 1. Changing the order or adding a field changes digests and makes old snapshots unreadable
// (they carry a version and are disposable).
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/strong_id.h"

namespace karst::base {

class ByteWriter {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (write(values), ...);
  }
  void text(std::string_view text) {  // as a std::string is written
    raw(text.size());
    text.copy(room(text.size()), text.size());
  }
  void clear() { size_ = 0; }
  std::string_view view() const { return std::string_view(bytes_).substr(0, size_); }
  std::string take() {
    bytes_.resize(size_);
    size_ = 0;
    return std::move(bytes_);
  }

 private:
  // The next `size` bytes. A fold writes some 40 values an event: appending each to the string is a
  // call, this is a comparison.
  char* room(std::size_t size) {
    if (size_ + size > bytes_.size()) bytes_.resize(2 * (size_ + size));
    return bytes_.data() + std::exchange(size_, size_ + size);
  }
  void raw(std::uint64_t value) {
    static_assert(std::endian::native == std::endian::little);
    std::memcpy(room(8), &value, 8);
  }
  template <class T>
  void write(const T& value) {
    if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
      raw(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
    } else {
      fields(*this, const_cast<T&>(value));
    }
  }
  void write(const std::string& value) { text(value); }
  template <class Tag>
  void write(const StrongString<Tag>& id) {
    write(id.str());
  }
  template <class Tag, class Number>
  void write(const StrongNumber<Tag, Number>& id) {
    raw(static_cast<std::uint64_t>(id.value()));
  }
  template <class T>
  void write(const std::vector<T>& values) {
    raw(values.size());
    for (const T& value : values) write(value);
  }
  template <class T>
  void write(const std::optional<T>& value) {
    raw(value.has_value() ? 1 : 0);
    if (value) write(*value);
  }
  template <class A, class B>
  void write(const std::pair<A, B>& value) {
    write(value.first);
    write(value.second);
  }
  template <class K, class V, class C>
  void write(const std::map<K, V, C>& values) {
    raw(values.size());
    for (const auto& [key, value] : values) {
      write(key);
      write(value);
    }
  }
  template <class K, class C>
  void write(const std::set<K, C>& values) {
    raw(values.size());
    for (const K& value : values) write(value);
  }

  std::string bytes_;  // the first size_ of them are written
  std::size_t size_ = 0;
};

// Reads what ByteWriter wrote. Damaged input never reads out of bounds: it turns ok() false, and
// everything after it is empty.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  template <class... T>
  void operator()(T&... values) {
    (read(values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return rest_.empty(); }

 private:
  std::uint64_t raw() {
    if (rest_.size() < 8) {
      ok_ = false;
      rest_ = {};
      return 0;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, rest_.data(), 8);
    rest_.remove_prefix(8);
    return value;
  }
  // A length of elements that take at least one byte each.
  std::size_t length() {
    const std::uint64_t count = raw();
    if (count > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return 0;
    }
    return static_cast<std::size_t>(count);
  }
  template <class T>
  void read(T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(static_cast<std::underlying_type_t<T>>(raw()));
    } else if constexpr (std::is_same_v<T, bool>) {
      value = raw() != 0;
    } else if constexpr (std::is_integral_v<T>) {
      value = static_cast<T>(raw());
    } else {
      fields(*this, value);
    }
  }
  void read(std::string_view& text) {  // into the bytes that are read
    const std::size_t count = length();
    text = rest_.substr(0, count);
    rest_.remove_prefix(count);
  }
  void read(std::string& text) {
    std::string_view view;
    read(view);
    text.assign(view);
  }
  template <class Tag>
  void read(StrongString<Tag>& id) {
    std::string text;
    read(text);
    id = StrongString<Tag>(std::move(text));
  }
  template <class Tag, class Number>
  void read(StrongNumber<Tag, Number>& id) {
    id = StrongNumber<Tag, Number>(static_cast<Number>(raw()));
  }
  template <class T>
  void read(std::vector<T>& values) {
    values.clear();
    for (std::size_t left = length(); left > 0 && ok_; --left) read(values.emplace_back());
  }
  template <class T>
  void read(std::optional<T>& value) {
    value.reset();
    if (raw() != 0) read(value.emplace());
  }
  template <class A, class B>
  void read(std::pair<A, B>& value) {
    read(value.first);
    read(value.second);
  }
  template <class K, class V, class C>
  void read(std::map<K, V, C>& values) {
    values.clear();
    for (std::size_t left = length(); left > 0 && ok_; --left) {
      K key{};
      read(key);
      read(values[std::move(key)]);
    }
  }
  template <class K, class C>
  void read(std::set<K, C>& values) {
    values.clear();
    for (std::size_t left = length(); left > 0 && ok_; --left) {
      K key{};
      read(key);
      values.insert(std::move(key));
    }
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace karst::base
