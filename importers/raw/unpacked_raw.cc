#include "importers/raw/unpacked_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/whole_io.h"

namespace kymo {
namespace {

constexpr unsigned kPieceBytes = 64 << 10;

struct CloseGzip {
  void operator()(gzFile file) const { gzclose_r(file); }
};

std::string TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

bool IsNothing(const std::vector<char>& bytes, int size) {
  return std::all_of(bytes.begin(), bytes.begin() + size,
                     [](char byte) { return byte == 0; });
}

absl::Status CannotUnpack(const std::string& path) {
  return absl::ErrnoToStatus(
      errno, absl::StrCat("could not unpack ", path, "; try another TMPDIR"));
}

absl::Status Unpack(gzFile from, const std::string& path, int64_t most_bytes,
                    int to) {
  std::vector<char> piece(kPieceBytes);
  int64_t size = 0;
  for (;;) {
    const int got = gzread(from, piece.data(), kPieceBytes);
    if (got <= 0) break;
    if (got > most_bytes - size) {
      return absl::ResourceExhaustedError(absl::StrCat(
          path,
          " unpacks to more bytes than max_unpacked_bytes allows; raise "
          "the limit (--max_unpacked_mib) if you trust it"));
    }
    if (!IsNothing(piece, got) &&
        !WriteWhole(to, static_cast<uint64_t>(size), piece.data(),
                    static_cast<uint64_t>(got))) {
      return CannotUnpack(path);
    }
    size += got;
  }
  if (ftruncate(to, size) != 0) return CannotUnpack(path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<UnpackedRaw> UnpackedRaw::Open(const std::string& path,
                                              int64_t most_bytes) {
  UnpackedRaw raw;
  raw.name_ = path;
  raw.path_ = path;
  // The reader says what is wrong with a file that cannot be opened.
  const OwnedDescriptor packed(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  unsigned char magic[2] = {};
  if (!packed.is_open() ||
      pread(packed.get(), magic, sizeof(magic), 0) != sizeof(magic) ||
      magic[0] != 0x1f || magic[1] != 0x8b) {
    return raw;
  }
  const std::unique_ptr<gzFile_s, CloseGzip> from(
      gzopen(absl::StrCat("/proc/self/fd/", packed.get()).c_str(), "re"));
  raw.file_ = MakeUnnamedFile(TemporaryFolder());
  if (from == nullptr || !raw.file_.is_open()) return CannotUnpack(path);
  KYMO_RETURN_IF_ERROR(Unpack(from.get(), path, most_bytes, raw.file_.get()));
  raw.path_ = absl::StrCat("/proc/self/fd/", raw.file_.get());
  return raw;
}

absl::Status UnpackedRaw::Named(const absl::Status& status) const {
  if (path_ == name_) return status;
  return absl::Status(status.code(),
                      absl::StrReplaceAll(status.message(), {{path_, name_}}));
}

}  // namespace kymo
