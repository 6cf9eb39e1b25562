// lane_blocks.h - what a page shows beside ranges: samples, counters, waits,
// and memory by stack.
//
//   LaneBlocks lanes(trace, base_ns, limits, memory, tables);
//   tables.NumberStacks();
//   KYMO_RETURN_IF_ERROR(lanes.Write(sink));
//   lanes.WriteMeta(json);
//
// Times count from base_ns, the earliest time of the trace. Numbers are those
// of data_block.h:
//
//   samples    for each sample, by track: ns since the last one of the track,
//              stack, weight in ns (Signed)
//   counters   number of curves; for each: track, name (text), number of
//              points; for each of these: ns since the last one, value (Double)
//   waits      number; for each: track, kind (a text), ns since the base,
//              length, runnable ns (Signed), stack, waking track + 1, the
//              lock's holding track + 1, object's name (text), 1 if it was
//              open at the end + 2 if it was idle
//   waitsums   number of sums of all waits, short ones too; for each: stack,
//              kind (text), 1 if they were idle, ns, waits
//   memory     number of graphs; for each: title (text), number of stacks; for
//              each of these: stack, bytes (Signed), blocks
//   layers     number of pools of memory; for each: title (text), 1 if its
//              layers are operations, number of names, names (texts), number of
//              rows; for each row: ns since the last one, bytes of each name
//              and of all others (Signed)
//
// Of more samples than PageLimits has, a page has some, spread evenly. Of more
// waits, it has the longest. A counter has at most kMostPoints points.
#ifndef KYMO_EXPORTERS_HTML_LANE_BLOCKS_H_
#define KYMO_EXPORTERS_HTML_LANE_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "exporters/html/page_limits.h"
#include "exporters/html/used_tables.h"
#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/analysis/memory/memory_groups.h"
#include "profiler/analysis/memory/memory_layers.h"
#include "profiler/analysis/waits.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"
#include "profiler/text/json_writer.h"

namespace kymo::html {

inline constexpr size_t kMostPoints = 8'000;

class LaneBlocks {
 public:
  // All but `limits` must outlive the object.
  LaneBlocks(const model::Trace& trace, TimeNs base_ns,
             const PageLimits& limits,
             const analysis::LazyMemoryProfiles& memory, UsedTables& tables);

  absl::Status Write(ByteSink& sink);

  // How many samples of the track are shown.
  uint32_t SamplesOf(model::TrackIndex track) const {
    return sample_counts_[track];
  }
  // The members samples_left_out and waits_left_out.
  void WriteMeta(json::JsonWriter& json) const;

 private:
  struct MemoryGraph {
    std::string title;
    std::span<const analysis::StackMemory> stacks;
  };

  void ChooseSamples(uint64_t most);
  void ChooseWaits(uint64_t most);
  void FindMemory(const std::vector<analysis::MemoryProfile>& profiles);
  absl::Status WriteSamples(ByteSink& sink) const;
  absl::Status WriteCounters(ByteSink& sink);
  absl::Status WriteWaits(ByteSink& sink);
  absl::Status WriteWaitSums(ByteSink& sink);
  absl::Status WriteMemory(ByteSink& sink);
  absl::Status WriteLayers(ByteSink& sink);

  const model::Trace& trace_;
  UsedTables& tables_;
  const TimeNs base_ns_;
  std::vector<uint32_t> samples_;  // positions in the trace
  std::vector<uint32_t> sample_counts_;
  std::vector<uint32_t> waits_;  // positions
  uint64_t waits_left_out_ = 0;
  std::vector<bool> idle_;  // by wait of the trace
  std::vector<analysis::WaitGroup> wait_sums_;
  std::vector<analysis::StackMemory> allocated_;
  std::vector<MemoryGraph> memory_;  // of allocated_ and the profiles
  std::vector<analysis::MemoryLayers> layers_;
};

}  // namespace kymo::html

#endif  // KYMO_EXPORTERS_HTML_LANE_BLOCKS_H_
