#include "tests/events/fill.h"

#include <gtest/gtest.h>

#include <array>
#include <concepts>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>
#include <variant>

#include "tests/events/parts.h"

namespace karst::events::testing {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

// Converts to any member, so that an aggregate's members can be counted.
struct Anything {
  template <class T>
    requires(!IsOptional<T>::value)
  operator T() const;
};

namespace {

template <class T, class... Members>
consteval std::size_t member_count() {
  if constexpr (requires { T{Members{}..., Anything{}}; })
    return member_count<T, Members..., Anything>();
  else
    return sizeof...(Members);
}

// Not part of the template below: a gtest expectation for every type would cost a minute of
// compiling.
void expect_all(std::size_t walked, std::size_t members, const char* type) {
  EXPECT_EQ(walked, members) << "a member of " << type << " is left out";
}

// Walks every member of a value and hands the leaves to `Derived::leaf`.
template <class Derived>
class Walk {
 public:
  template <class... T>
  void operator()(T&... members) {
    count_ += sizeof...(T);
    (value(members), ...);
  }

 protected:
  template <class T>
  [[gnu::noinline]] void value(T& v) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T> || std::same_as<T, std::string>) {
      self().leaf(v);
    } else {
      const std::size_t outer = std::exchange(count_, 0);
      if constexpr (requires { parts(self(), v); })
        parts(self(), v);
      else
        fields(self(), v);
      expect_all(count_, member_count<T>(), typeid(T).name());
      count_ = outer;
    }
  }
  template <class Tag>
  void value(base::StrongString<Tag>& id) {
    std::string text = id.str();
    self().leaf(text);
    id = base::StrongString<Tag>(text);
  }
  template <class Tag, class Number>
  void value(base::StrongNumber<Tag, Number>& id) {
    Number number = id.value();
    self().leaf(number);
    id = base::StrongNumber<Tag, Number>(number);
  }
  template <class A, class B>
  void value(std::pair<A, B>& v) {
    value(v.first);
    value(v.second);
  }
  template <class T>
  [[gnu::noinline]] void value(std::vector<T>& values) {
    self().size(values);
    for (T& v : values) value(v);
  }
  template <class T>
  void value(std::optional<T>& v) {
    self().presence(v);
    if (v) value(*v);
  }
  template <std::size_t N>
  void value(std::array<std::uint8_t, N>& bytes) {
    for (std::uint8_t& byte : bytes) self().leaf(byte);
  }
  void value(model::CommandSpec& spec) {
    std::visit([&](auto& alternative) { value(alternative); }, spec);
  }
  void value(model::NamedObject& object) {
    std::visit([&](auto& alternative) { value(alternative); }, object);
  }

 private:
  Derived& self() { return static_cast<Derived&>(*this); }
  std::size_t count_ = 0;
};

// Every member gets a value of its own that is not its default.
class FillAll : public Walk<FillAll> {
 public:
  template <class T>
  [[gnu::noinline]] void leaf(T& v) {
    ++n_;
    if constexpr (std::is_same_v<T, bool>)
      v = !v;
    else if constexpr (std::is_enum_v<T>)
      v = static_cast<T>((static_cast<int>(v) + 1) % kValues<T>);
    else if constexpr (std::is_same_v<T, std::string>)
      v = "text " + std::to_string(n_);
    else
      v = static_cast<T>(n_ * 1'000'003);
  }
  template <class T>
  void size(std::vector<T>& v) {
    v.resize(2);
  }
  template <class T>
  void presence(std::optional<T>& v) {
    v.emplace();
  }

 private:
  std::int64_t n_ = 0;
};

// Anything at all, extremes and empties often.
class FillRandom : public Walk<FillRandom> {
 public:
  explicit FillRandom(std::uint64_t seed) : random_(seed) {}
  template <class T>
  [[gnu::noinline]] void leaf(T& v) {
    if constexpr (std::is_same_v<T, bool>) {
      v = pick(2) == 1;
    } else if constexpr (std::is_enum_v<T>) {
      v = static_cast<T>(pick(static_cast<std::uint64_t>(kValues<T>)));
    } else if constexpr (std::is_same_v<T, std::string>) {
      v.clear();
      for (std::uint64_t left = pick(3) * pick(20); left > 0; --left)
        v += static_cast<char>(pick(256));
    } else {
      const T extremes[] = {T{0}, T{1}, std::numeric_limits<T>::min(),
                            std::numeric_limits<T>::max()};
      v = pick(2) == 0 ? extremes[pick(4)] : static_cast<T>(random_());
    }
  }
  template <class T>
  void size(std::vector<T>& v) {
    v.resize(pick(4));
  }
  template <class T>
  void presence(std::optional<T>& v) {
    v.reset();
    if (pick(2) == 1) v.emplace();
  }

 private:
  std::uint64_t pick(std::uint64_t count) { return random_() % count; }
  std::mt19937_64 random_;
};

// Canonical bytes of every member.
class Bytes : public Walk<Bytes> {
 public:
  template <class T>
  [[gnu::noinline]] void leaf(T& v) {
    writer_(v);
  }
  template <class T>
  void size(std::vector<T>& v) {
    writer_(v.size());
  }
  template <class T>
  void presence(std::optional<T>& v) {
    writer_(v.has_value());
  }
  std::string take() { return writer_.take(); }

 private:
  base::ByteWriter writer_;
};

template <class Archive>
void walk(Archive& archive, Body& body) {
  std::visit([&](auto& value) { archive(value); }, body);
}
// A default body of every event type there is.
template <std::size_t I = 0>
void add_commands(std::vector<Body>& bodies) {
  if constexpr (I < std::variant_size_v<model::CommandSpec>) {
    model::Command command;
    command.spec.emplace<I>();
    bodies.emplace_back(command);
    add_commands<I + 1>(bodies);
  }
}
template <std::size_t I = 0>
void add_named(std::vector<Body>& bodies) {
  if constexpr (I < std::variant_size_v<model::NamedObject>) {
    bodies.emplace_back(ObjectObserved{model::NamedObject(std::in_place_index<I>)});
    add_named<I + 1>(bodies);
  }
}
template <std::size_t I = 0>
void add_bodies(std::vector<Body>& bodies) {
  if constexpr (I < std::variant_size_v<Body>) {
    if constexpr (std::is_same_v<std::variant_alternative_t<I, Body>, model::Command>)
      add_commands(bodies);
    else if constexpr (std::is_same_v<std::variant_alternative_t<I, Body>, ObjectObserved>)
      add_named(bodies);
    else
      bodies.emplace_back(std::in_place_index<I>);
    add_bodies<I + 1>(bodies);
  }
}
}  // namespace

std::string canonical(Body body) {
  Bytes bytes;
  walk(bytes, body);
  return std::to_string(static_cast<int>(type_of(body))) + bytes.take();
}

std::vector<Body> default_bodies() {
  std::vector<Body> bodies;
  add_bodies(bodies);
  return bodies;
}
std::vector<Body> full_bodies() {
  std::vector<Body> bodies = default_bodies();
  for (Body& body : bodies) {
    FillAll fill;
    walk(fill, body);
  }
  return bodies;
}

std::vector<Body> random_bodies(std::uint64_t seed) {
  FillRandom fill(seed);
  std::vector<Body> bodies = default_bodies();
  for (Body& body : bodies) walk(fill, body);
  return bodies;
}

}  // namespace karst::events::testing
