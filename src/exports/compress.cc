#include "exports/compress.h"

#include <zstd.h>

#include "base/check.h"

namespace karst::exports {
namespace {

constexpr int kLevel = 3;  // zstd's own default

}  // namespace

Compressor::Compressor() : context_(ZSTD_createCCtx()) {
  KARST_CHECK(context_ != nullptr, "zstd has memory for a context");
}

Compressor::~Compressor() {
  ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(context_));
}

std::string Compressor::compress(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size = ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(context_), out.data(),
                                             out.size(), bytes.data(), bytes.size(), kLevel);
  KARST_CHECK(ZSTD_isError(size) == 0, "zstd fits into the bound that it gave");
  out.resize(size);
  return out;
}

}  // namespace karst::exports
