// raw_file.h - a recording as it was recorded, in a file that survives.
//
//   file = { arena, RawHeader page, drained chunks }
//
// The arena (record/layout.h) is the very memory that the recorded processes
// write into, the chunks are those that the collector drained (chunk_store.h),
// the header says what only the collector knows. So whatever dies, and when,
// the file has everything up to the last record: of the collector's death only
// the clock suffers, whose second anchor is then the last one that was noted.
//
//   KYMO_ASSIGN_OR_RETURN(RawFile file, RawFile::Create("out/kymo.raw", ...));
//   file.arena()                     // to record into
//   file.Note(header)                // now and then
//
//   KYMO_ASSIGN_OR_RETURN(RawRecording raw, ReadRawFile("out/kymo.raw"));
//
// Errors:  creating: the errno's status, with the path; a file system that
//          cannot reserve space is kUnimplemented. Reading: kInvalidArgument
//          for a file of another kind or version.
// Trust:   a raw file may hold anything, as an arena may; and whoever may write
//          it may shorten it while it is recorded into, which costs what it
//          held.
#ifndef KYMO_BACKENDS_CPU_RAW_RAW_FILE_H_
#define KYMO_BACKENDS_CPU_RAW_RAW_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cpu/raw/raw_header.h"
#include "backends/cpu/raw/shrink_guard.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/arena.h"

namespace kymo::cpu {

// What raw files begin with: the magic of an arena.
bool BeginsLikeRawFile(std::string_view head);

class RawFile {
 public:
  // Makes the file, which replaces one of that name, and an arena at its front.
  static absl::StatusOr<RawFile> Create(const std::string& path,
                                        const record::ArenaOptions& options);
  RawFile(RawFile&& other) noexcept;
  RawFile& operator=(RawFile&& other) noexcept;
  ~RawFile();

  const record::Arena& arena() const { return arena_; }
  int fd() const { return fd_; }
  // Where drained chunks go.
  uint64_t chunks_begin() const;

  // Writes the header; what cannot be written stays as it was.
  void Note(const RawHeader& header) const;
  // Everything is drained: gives the disk back what the arena's chunks took.
  // Those of threads that outlive the recording stay; they may write there.
  void DropFreeChunks() const;

 private:
  RawFile() = default;

  int fd_ = -1;
  record::Arena arena_;
  ShrinkGuard guard_;
};

struct RawRecording {
  model::TraceShard shard;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;  // of the last record, if the collector did not end it
  bool is_complete = false;
  uint64_t cut_bytes = 0;  // at the end, that are no whole chunk
  uint64_t first_cut_byte = 0;
};

absl::StatusOr<RawRecording> ReadRawFile(const std::string& path);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_RAW_RAW_FILE_H_
