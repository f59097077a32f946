// Text behind what a string holds already, in many small pieces: room is made for all of them at
// once, where each append of a std::string would be a call that looks for room of its own. Until
// the writer is gone, the string's end means nothing. One owner, one thread.
// Internal to events.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace karst::events {

class TextWriter {
 public:
  // `guess`: bytes that are likely to come; when there are more, more room is made.
  TextWriter(std::string& out, std::size_t guess) : out_(out), at_(out.size()) {
    out_.resize(at_ + guess);
    begin_ = out_.data();
    room_ = out_.size();
  }
  ~TextWriter() { out_.resize(at_); }
  TextWriter(const TextWriter&) = delete;
  TextWriter& operator=(const TextWriter&) = delete;

  void put(char c) {
    *reserve(1) = c;
    ++at_;
  }
  void put(std::string_view text) { at_ += text.copy(reserve(text.size()), text.size()); }
  void put_number(std::integral auto number) {
    constexpr std::size_t kDigitsMax = 20;  // of any 64 bits, with the sign
    char* const to = reserve(kDigitsMax);
    advance(static_cast<std::size_t>(std::to_chars(to, to + kDigitsMax, number).ptr - to));
  }
  // Where `size` bytes can be written; advance() then says how many were.
  char* reserve(std::size_t size) {
    if (room_ - at_ < size) grow(size);
    return begin_ + at_;
  }
  void advance(std::size_t size) { at_ += size; }

 private:
  void grow(std::size_t size) {
    out_.resize(2 * room_ + size);
    begin_ = out_.data();
    room_ = out_.size();
  }

  std::string& out_;
  char* begin_ = nullptr;
  std::size_t at_ = 0;
  std::size_t room_ = 0;
};

}  // namespace karst::events
