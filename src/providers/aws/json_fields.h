// One list of fields, written into an object of JSON or read from it: fields_of(field, value) calls
// field(key, member) for each. Internal to what is logged as JSON.
#pragma once

#include <cstdint>
#include <string>

namespace karst::providers::aws {

// The text in a field; empty where there is none, or what is there is no text, or `object` is none.
template <class Json>
std::string text_of(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->template get<std::string>() : std::string();
}

template <class Json>
class WritingFields {
 public:
  explicit WritingFields(Json& object) : object_(object) {}
  void operator()(const char* key, const std::string& value) { object_[key] = value; }
  void operator()(const char* key, const std::int64_t& value) { object_[key] = value; }
  void operator()(const char* key, const bool& value) { object_[key] = value; }
  template <class T>
  void unless(T usual, const char* key, const T& value) {
    if (value != usual) object_[key] = value;
  }

 private:
  Json& object_;
};

// A field that is missing, or of another type, makes `ok` false.
template <class Json>
class ReadingFields {
 public:
  ReadingFields(const Json& object, bool& ok) : object_(object), ok_(ok) {}
  void operator()(const char* key, std::string& value) {
    read(key, value, [](const Json& at) { return at.is_string(); });
  }
  void operator()(const char* key, std::int64_t& value) {
    read(key, value, [](const Json& at) { return at.is_number_integer(); });
  }
  void operator()(const char* key, bool& value) {
    read(key, value, [](const Json& at) { return at.is_boolean(); });
  }
  // Not written when it is as usual, nor by versions that did not know it.
  template <class T>
  void unless(T usual, const char* key, T& value) {
    value = usual;
    if (object_.contains(key)) (*this)(key, value);
  }

 private:
  template <class T, class Is>
  void read(const char* key, T& value, const Is& is) {
    const auto at = object_.find(key);
    ok_ = ok_ && at != object_.end() && is(*at);
    if (ok_) value = at->template get<T>();
  }

  const Json& object_;
  bool& ok_;
};

}  // namespace karst::providers::aws
