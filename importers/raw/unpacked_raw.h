// unpacked_raw.h - a raw file that someone compressed with gzip.
//
//   KYMO_ASSIGN_OR_RETURN(const UnpackedRaw raw,
//                         UnpackedRaw::Open(path, most_bytes));
//   ReadRawFile(raw.path());
//
// A raw file is read here and there, so it is unpacked into a file without a
// name in the folder for temporary files (TMPDIR). Its holes stay holes. A file
// that is not compressed is read where it is.
//
// Ownership: the file without a name is gone with this object, unless it is
//   open elsewhere.
// Errors: kResourceExhausted if it unpacks to more than `most_bytes`, or the
//   folder has no room. A stream that ends too early gives what is there.
#ifndef KYMO_IMPORTERS_RAW_UNPACKED_RAW_H_
#define KYMO_IMPORTERS_RAW_UNPACKED_RAW_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo {

class UnpackedRaw {
 public:
  static absl::StatusOr<UnpackedRaw> Open(const std::string& path,
                                          int64_t most_bytes);

  const std::string& path() const { return path_; }
  // With the name that the user knows.
  absl::Status Named(const absl::Status& status) const;

 private:
  std::string name_;
  std::string path_;
  OwnedDescriptor file_;
};

}  // namespace kymo

#endif  // KYMO_IMPORTERS_RAW_UNPACKED_RAW_H_
