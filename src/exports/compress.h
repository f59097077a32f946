// Zstandard, one frame at a time. One owner, one thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace karst::exports {

class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  std::string compress(std::string_view bytes);

 private:
  void* context_;
};

}  // namespace karst::exports
