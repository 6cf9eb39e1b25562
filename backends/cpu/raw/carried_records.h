// carried_records.h - what one window of chunks hands on to the next.
//
//   CarriedRecords carried;
//   for (each window, in the order of tickets) {
//     chunks += carried.views();                // and the window's own
//     decoded = DecodeChunks({chunks ...}, shard);
//     carried.Update(decoded, rest, shard);
//   }
//
// Carried are, as they were recorded, their payload included:
// - ranges whose end has not come yet. They count in the window with the end,
//   or in the last one;
// - ranges around what a thread records next. They have counted;
// - ends and payloads that stand in an earlier window than their range does.
// Events that do not count in a window have kEventRepeated there, so that every
// event counts once, and what is inside of it finds it in each window.
//
// A range that ends on another thread, in a later window, without having been
// said to be asynchronous, is around what its thread records until then.
//
// Memory: the open ranges of all threads, and the depth of the others.
#ifndef KYMO_BACKENDS_CPU_RAW_CARRIED_RECORDS_H_
#define KYMO_BACKENDS_CPU_RAW_CARRIED_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "backends/cpu/decode/decode.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/arena/layout.h"

namespace kymo::cpu {

// What comes after a window.
struct LaterWindows {
  bool is_last = false;  // nothing
  uint64_t first_ticket = 0;
  // Whether chunks of the stream do.
  std::function<bool(uint32_t stream)> has_stream;
};

class CarriedRecords {
 public:
  // One for each record; valid until Update.
  std::vector<record::ChunkView> views() const;

  // Marks events of `shard`, which `chunks` were decoded into, and carries
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

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_RAW_CARRIED_RECORDS_H_
