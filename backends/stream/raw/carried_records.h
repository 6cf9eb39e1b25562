// carried_records.h - the records that a window of chunks hands to the next.
//
//   CarriedRecords carried;
//   for (each window, in the order of tickets) {
//     chunks += carried.views();                // and the window's own
//     decoded = DecodeChunks({chunks ...}, shard);
//     carried.Update(decoded, rest, shard);
//   }
//
// It carries these records, unchanged and with their payload:
// - ranges whose end has not come yet. They count in the window with the end,
//   or in the last one;
// - ranges that enclose the next records of a thread. They have counted;
// - ends and payloads that stand in an earlier window than their range does.
// An event that does not count in a window has kEventRepeated there. So every
// event counts once, and the events that it encloses find it in each window.
//
// A range may end on another thread, in a later window, although the program
// did not call it asynchronous. It then encloses what its thread records until
// then.
//
// Memory: the open ranges of all threads, and the ranges that enclose the next
// records.
#ifndef KYMO_BACKENDS_STREAM_RAW_CARRIED_RECORDS_H_
#define KYMO_BACKENDS_STREAM_RAW_CARRIED_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/stream/decode/decode.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {

// The windows that follow the present one.
struct LaterWindows {
  bool is_last = false;  // no window follows
  // Whether a later window has the chunk of that ticket.
  std::function<bool(uint64_t ticket)> has_ticket;
  // Whether any later chunk belongs to the stream.
  std::function<bool(uint32_t stream)> has_stream;
};

class CarriedRecords {
 public:
  // One for each record; valid until Update.
  std::vector<record::ChunkView> views() const;
  // The same without the events that have counted.
  std::vector<record::ChunkView> UncountedViews() const;

  // Marks events of `shard`, into which `chunks` were decoded, and carries
  // those that later windows need.
  void Update(const std::vector<DecodedChunk>& chunks,
              const LaterWindows& later, model::TraceShard& shard);

 private:
  struct Record {
    record::ChunkView view;
    std::unique_ptr<record::Slot[]> slots;
    bool has_counted = false;
    TimeNs end_ns = 0;  // if it has
  };
  using Chunks = std::span<const DecodedChunk>;

  void Restore(Chunks chunks, model::EventColumns& events) const;
  void CarryStream(Chunks chunks, const LaterWindows& later,
                   model::EventColumns& events, std::vector<Record>& next);

  std::vector<Record> records_;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_RAW_CARRIED_RECORDS_H_
