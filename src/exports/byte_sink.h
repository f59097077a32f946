// Bytes on their way to a file or to a pipe, kBufferBytes at a time. One owner, one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace karst::exports {

// Larger writes cost a sixth less CPU on a quiet machine, and two to four times as much on one
// whose cores and caches are shared.
inline constexpr std::size_t kBufferBytes = 128 << 10;

class ByteSink {
 public:
  // Does not own the descriptor. `name`: for messages.
  ByteSink(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {
    buffer_.reserve(kBufferBytes);
  }
  // Errors: kFull, kDenied; kGone when the reader of a pipe went away. Nothing more is written
  // then.
  base::Status write(std::string_view bytes);
  base::Status flush();
  std::uint64_t bytes() const { return bytes_; }  // given to write so far

 private:
  int descriptor_;
  std::string name_;
  std::string buffer_;
  std::uint64_t bytes_ = 0;
};

// A file that is whole or not there: made as PATH.part, readable by its owner alone, and renamed at
// the end. The destructor removes what was not finished. PATH.part is locked (flock) meanwhile, so
// that of two that write to one path the second is refused.
class OutputFile {
 public:
  // Errors: kDenied, kFull; kTaken when another process writes to it; kInvalid when `path` is no
  // file that can be replaced, or its folder is not there.
  static base::Result<OutputFile> make(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();
  int descriptor() const { return descriptor_; }
  const std::string& part_path() const { return part_path_; }
  // Synced and renamed. Errors: as above; kTaken when PATH.part is not what was made any more.
  base::Status finish();

 private:
  OutputFile(std::string path, int descriptor)
      : path_(std::move(path)), part_path_(path_ + ".part"), descriptor_(descriptor) {}
  bool is_ours() const;
  std::string path_;
  std::string part_path_;
  int descriptor_ = -1;  // -1: finished, or moved from
};

}  // namespace karst::exports
