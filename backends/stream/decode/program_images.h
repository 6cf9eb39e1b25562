// program_images.h - a process that execs goes on as another program.
//
//   const ProgramImages images(arena, epoch_offset_ns);
//   chunk.replaced_ns = images.ReplacedNs(chunk.view.stream);
//   EndReplaced(chunks, shard.block);
//
// Threads of the old and the new program may have the same ids. Ranges that are
// open when the old one ends do not enclose what the new one records.
#ifndef KYMO_BACKENDS_STREAM_DECODE_PROGRAM_IMAGES_H_
#define KYMO_BACKENDS_STREAM_DECODE_PROGRAM_IMAGES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "backends/stream/decode/decode.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/arena.h"

namespace kymo::stream {

class ProgramImages {
 public:
  // `arena` outlives this. `epoch_offset_ns` as in ArenaShardInput.
  ProgramImages(const record::Arena& arena, int64_t epoch_offset_ns);

  // The time at which exec replaced the stream's program; 0 if it did not or
  // the time is unknown. It is not before the exec, and before all records of
  // the next program.
  TimeNs ReplacedNs(uint32_t stream) const;

 private:
  // A program begins in a process.
  struct Begin {
    int64_t monotonic_ns = 0;
    uint64_t image = 0;  // 0 = of a program that did not attach
  };

  const record::Arena& arena_;
  const int64_t epoch_offset_ns_;
  std::map<int32_t, std::vector<Begin>> begins_;  // by pid; in order
};

// Ends the open ranges of replaced programs; they still count as open ranges.
// REQUIRES: chunks of a stream stand together.
void EndReplaced(const std::vector<DecodedChunk>& chunks,
                 model::EventColumns& events);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_PROGRAM_IMAGES_H_
