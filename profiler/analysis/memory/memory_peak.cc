#include "profiler/analysis/memory/memory_peak.h"

#include <cstddef>
#include <optional>

#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/open_events.h"
#include "profiler/base/parallel.h"
#include "profiler/base/per_worker.h"

namespace kymo::analysis {
namespace {

using model::MemoryEvent;
using model::MemoryIndex;
using model::MemoryRecord;

constexpr size_t kPeakGrain = 64 * 1024;

// Where a pool's live bytes were greatest for the first time.
struct Summit {
  int64_t bytes = 0;
  MemoryMoment moment;

  void Raise(const Summit& other) {
    if (other.bytes > bytes ||
        (other.bytes == bytes && other.moment < moment)) {
      *this = other;
    }
  }
};

struct MakeUp {
  StackMemorySums by_stack;
  OperationMemorySums by_operation;
};

class Peaks {
 public:
  Peaks(const model::Trace& trace, const MemoryPools& pools,
        const LiveBytes& live)
      : trace_(trace), pools_(pools), live_(live), blocks_(trace) {}

  std::vector<MemoryPeak> Run() {
    FindSummits();
    const std::vector<MakeUp> make_ups = AddBlocks();
    std::vector<MemoryPeak> peaks(pools_.size());
    for (size_t p = 0; p < peaks.size(); ++p) {
      if (summits_[p].bytes == 0) continue;
      peaks[p] = {.bytes = summits_[p].bytes,
                  .time_ns = summits_[p].moment.time_ns,
                  .by_stack = make_ups[p].by_stack.LargestFirst(),
                  .by_operation = make_ups[p].by_operation.LargestFirst()};
    }
    return peaks;
  }

 private:
  void FindSummits() {
    PerWorker<std::vector<Summit>> workers(
        [&] { return std::vector<Summit>(pools_.size()); });
    const auto memory = trace_.memory();
    ParallelFor(memory.size(), kPeakGrain, [&](size_t begin, size_t end) {
      std::vector<Summit>& summits = workers.Local();
      for (size_t i = begin; i < end; ++i) {
        if (memory[i].event != MemoryEvent::kAllocation) continue;
        const MemoryIndex index = static_cast<MemoryIndex>(i);
        summits[pools_.IndexOf(memory[i])].Raise(
            {live_.After(index), blocks_.MomentOf(index)});
      }
    });
    summits_.resize(pools_.size());
    workers.ForEach([&](const std::vector<Summit>& summits) {
      for (size_t p = 0; p < summits.size(); ++p) summits_[p].Raise(summits[p]);
    });
  }

  std::vector<MakeUp> AddBlocks() {
    PerWorker<std::vector<MakeUp>> workers(
        [&] { return std::vector<MakeUp>(pools_.size()); });
    ParallelFor(trace_.memory().size(), kPeakGrain,
                [&](size_t begin, size_t end) {
                  AddRange(static_cast<MemoryIndex>(begin),
                           static_cast<MemoryIndex>(end), workers.Local());
                });
    std::vector<MakeUp> all;
    workers.ForEach([&](std::vector<MakeUp>& part) {
      if (all.empty()) return all.swap(part);
      for (size_t p = 0; p < part.size(); ++p) {
        all[p].by_stack.Merge(part[p].by_stack);
        all[p].by_operation.Merge(part[p].by_operation);
      }
      part.clear();
    });
    all.resize(pools_.size());
    return all;
  }

  void AddRange(MemoryIndex begin, MemoryIndex end,
                std::vector<MakeUp>& make_ups) const {
    std::optional<OpenEvents> open;
    for (MemoryIndex i = begin; i < end; ++i) {
      const MemoryRecord& record = trace_.memory()[i];
      if (i == begin || record.track != trace_.memory()[i - 1].track) {
        open.emplace(trace_, record.track, record.time_ns);
      }
      if (!blocks_.IsAllocation(i)) continue;
      const size_t pool = pools_.IndexOf(record);
      if (!blocks_.IsAliveAfter(i, summits_[pool].moment)) continue;
      const MemoryAmount amount = blocks_.AmountOf(i);
      make_ups[pool].by_stack.Add(record.stack, amount);
      const model::EventIndex event = open->InnermostAt(record.time_ns);
      make_ups[pool].by_operation.Add(
          event == model::kNoEvent ? model::kEmptyName : trace_.name()[event],
          amount);
    }
  }

  const model::Trace& trace_;
  const MemoryPools& pools_;
  const LiveBytes& live_;
  const MemoryBlocks blocks_;
  std::vector<Summit> summits_;
};

}  // namespace

std::vector<MemoryPeak> MemoryPeaks(const model::Trace& trace,
                                    const MemoryPools& pools,
                                    const LiveBytes& live) {
  return Peaks(trace, pools, live).Run();
}

}  // namespace kymo::analysis
