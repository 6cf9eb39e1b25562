// raw_file.h - a recording in a file that survives the collector's death.
//
//   file = { arena, RawHeader page, drained chunks }
//
// The arena (profiler/record/arena/layout.h) is the memory that the recorded
// processes write into. The collector drained the chunks (chunk_store.h). The
// header has what only the collector knows, and the first page also has the
// version of Kymo that made the file (raw_version.h). So whichever process
// dies, the file has every record up to the last one. If the collector dies,
// only the clock is less exact: its second anchor is the last one written.
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
// Trust:   a raw file may hold anything, as an arena may. A process that may
//          write the file may also shorten it during the recording; the records
//          in the cut part are lost.
#ifndef KYMO_BACKENDS_STREAM_RAW_RAW_FILE_H_
#define KYMO_BACKENDS_STREAM_RAW_RAW_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/stream/raw/raw_header.h"
#include "profiler/base/mapped/shrink_guard.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/arena.h"

namespace kymo::stream {

// Whether the bytes begin with an arena's magic, as raw files do.
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
  int fd() const { return file_.get(); }
  // The offset at which drained chunks begin.
  uint64_t chunks_begin() const;

  // Writes the header. If writing fails, the old header stays.
  void Note(const RawHeader& header) const;

 private:
  RawFile() = default;

  OwnedDescriptor file_;
  record::Arena arena_;
  ShrinkGuard guard_;
};

struct RawRecording {
  model::TraceShard shard;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;  // of the last record, if the collector died
  bool is_complete = false;
  uint64_t cut_bytes = 0;  // after the last whole chunk
  uint64_t first_cut_byte = 0;
};

// A heap with more than `fold_heap_above` records becomes sums, as in
// DecodeInput, unless the program says what its memory is for. The file's
// memory is then given back while it is read.
absl::StatusOr<RawRecording> ReadRawFile(const std::string& path,
                                         uint64_t fold_heap_above = ~uint64_t{
                                             0});

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_RAW_FILE_H_
