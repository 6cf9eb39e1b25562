// loss_ledger.h - everything that a trace does not hold, as named counters.
//
// Loss is data: wherever something can be lost, a counter of this list says how
// often. Table footer, summary.json, exported metadata and --strict show it.
// Some counters are notes (`IsLoss` is false): worth saying, nothing missing.
#ifndef KYMO_PROFILER_MODEL_LOSS_LEDGER_H_
#define KYMO_PROFILER_MODEL_LOSS_LEDGER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kymo::model {

enum class Loss : uint8_t {
  kEventsDroppedArenaFull = 0,  // no free chunk when a thread needed one
  kEventsOverwritten,           // policy `overwrite`: the oldest made room
  kEventsDroppedInHandlers,     // a signal handler met the recorder's slow path
  kEventsDroppedNoStream,       // more threads than the stream table holds
  kNamesDroppedTableFull,       // events kept under "(name lost)"
  kArgumentsTruncated,          // argument or name longer than the limit
  kRecordsCorrupt,              // unreadable records of a broken target
  kEndsWithoutBegin,            // an end whose beginning was lost
  kEventsOutOfWindow,           // outside of the session
  kImpossibleTimestamps,        // end before start; clamped
  kRangesOverlapping,           // on one thread, neither nested nor apart
  kDrainBytesLost,              // the collector could not write them
  kSamplesLost,                 // the kernel dropped them (ring was full)
  kSamplesNotDelivered,         // CPU time ran that no tick sampled
  kStacksTruncated,             // deeper than the stack copy or frame limit
  kStacksIncomplete,            // unwinding stopped before the outermost frame
  kFramesUnresolved,            // shown as module+0x...
  kProcessesNotRecorded,        // children that could not be followed
  kHeapsNotWatched,             // processes with an allocator of their own
  kHeapSamplesLost,             // more live samples than their table holds
  kMemoryRecordsLeftOut,        // more than fit into memory for analysis
  kEventsNotImported,           // of kinds that no trace keeps
  kFilesCutOff,                 // imported, they end in the middle
  kFreesNotSeen,                // a block's address came again without a free
  kDeviceRecordsDropped,        // the driver's tracing had no buffer for them
  kDeviceBuffersLost,           // of a killed program, or another client's
  kDeviceTimesMissing,          // device activities without times; not shown
  kDeviceBeforeLaunch,          // they seem to begin before their launch
  kRangesOpenAtEnd,             // note: shown, ending with the trace
  kFreesOfUnknownBlocks,        // note: of blocks from before the recording
  kCount,
};

// lower_snake, stable; lives forever.
std::string_view LossName(Loss loss) noexcept;
// One sentence for people.
std::string_view LossMeaning(Loss loss) noexcept;
// False for counters that report without anything missing.
bool IsLoss(Loss loss) noexcept;

class LossLedger {
 public:
  void Add(Loss loss, uint64_t count) noexcept {
    counts_[static_cast<size_t>(loss)] += count;
  }
  uint64_t Get(Loss loss) const noexcept {
    return counts_[static_cast<size_t>(loss)];
  }
  void Merge(const LossLedger& other) noexcept {
    for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  // True when some counter that is a loss is not zero.
  bool AnythingLost() const noexcept;

 private:
  std::array<uint64_t, static_cast<size_t>(Loss::kCount)> counts_{};
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_LOSS_LEDGER_H_
