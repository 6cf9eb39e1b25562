#include "profiler/parquet/zstd.h"

#include <zstd.h>

#include <algorithm>
#include <memory>
#include <new>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kymo::parquet {
namespace {

// Higher levels take several times as long for a few percent.
constexpr int kLevel = 1;

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

}  // namespace

std::string Compress(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(),
                                    bytes.size(), kLevel);
  // There is room for everything, so only memory can be missing.
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();
  packed.resize(size);
  return packed;
}

absl::StatusOr<std::string> Decompress(std::string_view packed, size_t size) {
  const std::unique_ptr<ZSTD_DStream, FreeStream> stream(ZSTD_createDStream());
  if (stream == nullptr) throw std::bad_alloc();
  std::string out;
  ZSTD_inBuffer input = {packed.data(), packed.size(), 0};
  size_t filled = 0;
  for (;;) {
    constexpr size_t kLeast = size_t{64} << 10;
    out.resize(std::min(size, std::max(kLeast, 2 * filled)));
    ZSTD_outBuffer output = {out.data(), out.size(), filled};
    const size_t left = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(left) != 0) {
      return absl::DataLossError(absl::StrCat(
          "a page that zstd cannot unpack (", ZSTD_getErrorName(left), ")"));
    }
    const bool is_stuck = output.pos == filled && input.pos == input.size;
    filled = output.pos;
    if (left == 0 || is_stuck || filled == size) break;
  }
  if (filled != size || input.pos != input.size) {
    return absl::DataLossError("a page that unpacks to another size");
  }
  return out;
}

}  // namespace kymo::parquet
