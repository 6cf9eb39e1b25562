// raw_windows.h - reads a raw file (raw_file.h) of any size, in parts that fit
// into memory.
//
//   KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<RawWindows> windows,
//                         RawWindows::Open(path));
//   while (!windows->is_done()) {
//     KYMO_ASSIGN_OR_RETURN(TraceWindow window, windows->Next());
//     ...                                 // as trace_windows.h shows
//   }
//
// Windows follow each other in the order in which chunks were taken.
// carried_records.h repeats the events that enclose later ones. Events have no
// stacks. Memory records are left out, and counted.
//
// Memory: the arena, two and a half times `window_bytes` with the window's
//   trace, and 48 bytes per chunk of 64 KiB.
// Errors and trust: as ReadRawFile. kDataLoss where the file cannot be read.
// Threads: one at a time; decoding uses all cores.
#ifndef KYMO_BACKENDS_STREAM_RAW_RAW_WINDOWS_H_
#define KYMO_BACKENDS_STREAM_RAW_RAW_WINDOWS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/stream/raw/carried_records.h"
#include "backends/stream/raw/raw_parts.h"
#include "profiler/base/column.h"
#include "profiler/base/time.h"
#include "profiler/plugin/trace_windows.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {

class RawWindows final : public TraceWindows {
 public:
  static constexpr uint64_t kWindowBytes = uint64_t{128} << 20;

  static absl::StatusOr<std::unique_ptr<RawWindows>> Open(
      const std::string& path, uint64_t window_bytes = kWindowBytes);

  bool is_done() const override { return is_done_; }
  absl::StatusOr<TraceWindow> Next() override;
  // Says whether nobody ended the recording, and whether the file was cut off.
  std::vector<std::string> Notes() const override;

  // The bytes of all chunks. Reading the whole takes this much, and about as
  // much again for the trace.
  uint64_t chunk_bytes() const { return chunk_bytes_; }
  // Whether somebody ended the recording.
  bool is_complete() const { return parts_->header().is_complete == 1; }
  // Bytes at the end of the file that are no whole chunk.
  uint64_t cut_bytes() const { return cut_bytes_; }

 private:
  // A chunk of the file, or one that nobody drained.
  struct IndexedChunk {
    record::ChunkView view;  // without slots, if it is in the file
    uint64_t at = 0;         // of its slots in the file
    uint32_t slots = 0;
  };

  RawWindows(std::unique_ptr<RawParts> parts, uint64_t window_bytes)
      : parts_(std::move(parts)), window_bytes_(window_bytes) {}
  void Index();
  void IndexFile();
  size_t EndOfWindow() const;
  absl::Status ReadChunks(size_t end, std::vector<record::ChunkView>& chunks);

  const std::unique_ptr<RawParts> parts_;
  const uint64_t window_bytes_;
  uint64_t chunk_bytes_ = 0;
  uint64_t cut_bytes_ = 0;
  std::vector<IndexedChunk> index_;  // by ticket, then first_index
  std::unordered_set<uint64_t> tickets_;
  std::unordered_map<uint32_t, uint64_t> last_ticket_of_;  // by stream
  size_t next_ = 0;                                        // in index_
  bool is_done_ = false;
  Column<std::byte> buffer_;  // of the window's slots
  CarriedRecords carried_;
  TimeNs last_time_ns_ = 0;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_RAW_WINDOWS_H_
