// program_images.h - a process that execs goes on as another program.
//
//   const ProgramImages images(arena, epoch_offset_ns);
//   chunk.replaced_ns = images.ReplacedNs(chunk.view.stream);
//   EndReplaced(chunks, shard.block);
//
// The threads of the programs may have the same ids: what was open when one
// ended has nothing to do with what the next records.
#ifndef KYMO_BACKENDS_CPU_DECODE_PROGRAM_IMAGES_H_
#define KYMO_BACKENDS_CPU_DECODE_PROGRAM_IMAGES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "backends/cpu/decode/decode.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/arena.h"

namespace kymo::cpu {

class ProgramImages {
 public:
  // `arena` outlives this. `epoch_offset_ns` as in ArenaShardInput.
  ProgramImages(const record::Arena& arena, int64_t epoch_offset_ns);

  // When the program that the stream's thread was of was replaced; 0 if it was
  // not, or that is not known. Not before the exec, and before anything that
  // the next program records.
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

// Ends the ranges of replaced programs that are open, as open ones.
// REQUIRES: chunks of a stream stand together.
void EndReplaced(const std::vector<DecodedChunk>& chunks,
                 model::EventColumns& events);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_DECODE_PROGRAM_IMAGES_H_
