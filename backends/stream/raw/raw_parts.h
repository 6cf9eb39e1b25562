// raw_parts.h - reads the parts of a raw file (raw_file.h) before its chunks.
//
//   KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<RawParts> parts,
//                         RawParts::Open(path));
//   parts->fd(), parts->chunks_begin()     // where drained chunks stand
//   parts->TakeUndrained(tickets)          // those that are in the arena still
//
// Errors and trust: as ReadRawFile.
#ifndef KYMO_BACKENDS_STREAM_RAW_RAW_PARTS_H_
#define KYMO_BACKENDS_STREAM_RAW_RAW_PARTS_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/stream/raw/raw_header.h"
#include "profiler/base/clock.h"
#include "profiler/base/mapped/shrink_guard.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {

class RawParts {
 public:
  static absl::StatusOr<std::unique_ptr<RawParts>> Open(
      const std::string& path);
  ~RawParts();
  RawParts(const RawParts&) = delete;
  RawParts& operator=(const RawParts&) = delete;

  int fd() const { return file_.get(); }
  // A private copy; writes to it change neither the file nor the target.
  const record::Arena& arena() const { return arena_; }
  const RawHeader& header() const { return header_; }
  TickConverter clock() const;
  uint64_t chunks_begin() const;
  // Whether the recording was to keep only the newest records.
  bool overwrites() const;
  // As FillShard takes it. In a flight recorder's file, ranges that began
  // before the kept records are not missing.
  uint64_t first_ticket() const;
  uint64_t file_bytes() const { return file_bytes_; }

  // Views, valid as long as this object, of the chunks that nobody drained.
  // `drained` has the tickets of the chunks that the file has behind its
  // header.
  std::vector<record::ChunkView> TakeUndrained(
      const std::set<uint64_t>& drained);

 private:
  RawParts() = default;
  absl::Status Read(const std::string& path);
  void GiveBackHalfRead(const std::set<uint64_t>& drained);

  OwnedDescriptor file_;
  uint64_t file_bytes_ = 0;
  record::Arena arena_;
  ShrinkGuard guard_;
  RawHeader header_;
  std::vector<std::unique_ptr<record::Slot[]>> copies_;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_RAW_PARTS_H_
