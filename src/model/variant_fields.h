// fields() of variants (base/bytes.h): which alternative, then its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <variant>

namespace karst::model {

// Makes `value` hold a default alternative of that index; an unknown index leaves it as it is.
template <std::size_t I = 0, class... Alternatives>
void emplace_alternative(std::variant<Alternatives...>& value, std::uint64_t index) {
  if constexpr (I < sizeof...(Alternatives)) {
    if (I == index)
      value.template emplace<I>();
    else
      emplace_alternative<I + 1>(value, index);
  }
}

template <class Archive, class... Alternatives>
void variant_fields(Archive& a, std::variant<Alternatives...>& value) {
  std::uint64_t index = value.index();
  a(index);
  if (index != value.index()) emplace_alternative(value, index);
  std::visit([&](auto& alternative) { a(alternative); }, value);
}

}  // namespace karst::model
