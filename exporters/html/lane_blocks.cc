#include "exporters/html/lane_blocks.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "exporters/html/data_block.h"
#include "exporters/html/event_blocks.h"
#include "exporters/html/shown_part.h"
#include "exporters/timeline/memory_counters.h"
#include "profiler/analysis/memory/memory_blocks.h"
#include "profiler/analysis/memory/memory_device.h"
#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/analysis/memory/memory_usage.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/sample_weights.h"
#include "profiler/model/thread_states.h"

namespace kymo::html {
namespace {

using analysis::StackMemorySums;
using model::CounterSample;
using model::Wait;

std::span<const Wait> WaitsOf(const model::Trace& trace) {
  if (trace.thread_states() == nullptr) return {};
  return trace.thread_states()->waits;
}

// Of the host's memory, by where it was allocated.
std::vector<analysis::StackMemory> Allocated(const model::Trace& trace) {
  StackMemorySums sums;
  const model::MemorySource source = analysis::HostSource(trace);
  const analysis::MemoryBlocks blocks(trace);
  for (model::MemoryIndex i = 0; i < trace.memory().size(); ++i) {
    const model::MemoryRecord& record = trace.memory()[i];
    if (record.source == source && blocks.IsAllocation(i) &&
        analysis::IsHostMemory(record)) {
      sums.Add(record.stack, blocks.AmountOf(i));
    }
  }
  std::vector<analysis::StackMemory> groups = sums.LargestFirst();
  if (trace.folded_memory() == nullptr) return groups;
  // A table of all stacks would take twice the memory.
  size_t count = groups.size();
  for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
    count += heap.stacks.size();
  }
  groups.reserve(count);
  for (const model::FoldedHeap& heap : trace.folded_memory()->heaps) {
    for (const model::FoldedStack& stack : heap.stacks) {
      groups.push_back(
          {stack.stack, stack.allocated.count, stack.allocated.bytes});
    }
  }
  analysis::JoinLargestFirst(groups);
  groups.shrink_to_fit();
  return groups;
}

std::string_view NameOfSource(model::MemorySource source) {
  switch (source) {
    case model::MemorySource::kReported:
      return "reported memory";
    case model::MemorySource::kHeap:
      return "heap";
    case model::MemorySource::kMapped:
      return "mapped memory";
  }
  return "memory";
}

std::string PoolName(const analysis::MemoryPool& pool) {
  std::string name = absl::StrCat(std::string(NameOfSource(pool.source)),
                                  " of process ", pool.pid);
  const analysis::MemoryDeviceId device = {
      static_cast<DeviceType>(pool.device_type), pool.device_index};
  if (!(device == analysis::MemoryDeviceId())) {
    absl::StrAppend(&name, " on ", analysis::MemoryDeviceName(device));
  }
  return name;
}

// One curve with few of its points: of each slot of time, the first, the least,
// the greatest and the last.
std::vector<CounterSample> Thinned(std::span<const CounterSample> curve) {
  if (curve.size() <= kMostPoints) return {curve.begin(), curve.end()};
  const TimeNs begin = curve.front().time_ns;
  const size_t slots = kMostPoints / 4;
  const DurationNs slot_ns =
      (curve.back().time_ns - begin) / static_cast<DurationNs>(slots) + 1;
  const auto is_less = [](const CounterSample& a, const CounterSample& b) {
    return a.value < b.value;
  };
  std::vector<CounterSample> kept;
  while (!curve.empty()) {
    const DurationNs slot = (curve.front().time_ns - begin) / slot_ns;
    size_t count = 1;
    while (count < curve.size() &&
           (curve[count].time_ns - begin) / slot_ns == slot) {
      ++count;
    }
    const auto part = curve.first(count);
    const auto [least, greatest] =
        std::minmax_element(part.begin(), part.end(), is_less);
    std::vector<size_t> places = {0, static_cast<size_t>(least - part.begin()),
                                  static_cast<size_t>(greatest - part.begin()),
                                  count - 1};
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    for (const size_t place : places) kept.push_back(part[place]);
    curve = curve.subspan(count);
  }
  return kept;
}

}  // namespace

LaneBlocks::LaneBlocks(const model::Trace& trace, TimeNs base_ns,
                       const PageLimits& limits,
                       const analysis::LazyMemoryProfiles& memory,
                       UsedTables& tables)
    : trace_(trace),
      tables_(tables),
      base_ns_(base_ns),
      sample_counts_(trace.tracks().size()) {
  ChooseSamples(limits.samples);
  ChooseWaits(limits.waits);
  if (!trace.memory().empty() || trace.folded_memory() != nullptr) {
    FindMemory(memory.Get());
  }
}

void LaneBlocks::ChooseSamples(uint64_t most) {
  const uint64_t all = trace_.samples().size();
  most = std::min(all, most);
  uint64_t spread = 0;
  for (uint32_t i = 0; i < all; ++i) {
    spread += most;
    if (spread < all) continue;
    spread -= all;
    samples_.push_back(i);
    ++sample_counts_[trace_.samples()[i].track];
    tables_.UseStack(trace_.samples()[i].stack);
  }
}

void LaneBlocks::ChooseWaits(uint64_t most) {
  const auto waits = WaitsOf(trace_);
  ShownPart part(most);
  for (const Wait& wait : waits) part.Count(wait.duration_ns);
  part.Decide();
  waits_left_out_ = part.left_out();
  for (uint32_t i = 0; i < waits.size(); ++i) {
    if (!part.Shows(waits[i].duration_ns)) continue;
    waits_.push_back(i);
    tables_.UseStack(waits[i].stack);
  }
  idle_ = analysis::IdleWaits(trace_);
  wait_sums_ = analysis::WaitsByPlace(trace_);
  for (const analysis::WaitGroup& sum : wait_sums_) tables_.UseStack(sum.stack);
}

void LaneBlocks::FindMemory(
    const std::vector<analysis::MemoryProfile>& profiles) {
  allocated_ = Allocated(trace_);
  memory_.push_back({"allocated", allocated_});
  layers_ = analysis::LayersOfMemory(trace_, profiles, {});
  for (const analysis::MemoryProfile& profile : profiles) {
    if (profile.detail == analysis::MemoryDetail::kCounts) continue;
    const std::string name = PoolName(profile.pool);
    memory_.push_back({"at the peak: " + name, profile.peak.by_stack});
    memory_.push_back({"never freed: " + name, profile.leaks});
  }
  std::erase_if(memory_,
                [](const auto& graph) { return graph.stacks.empty(); });
  for (const MemoryGraph& graph : memory_) {
    for (const auto& stack : graph.stacks) tables_.UseStack(stack.id);
  }
}

absl::Status LaneBlocks::Write(ByteSink& sink) {
  KYMO_RETURN_IF_ERROR(WriteSamples(sink));
  KYMO_RETURN_IF_ERROR(WriteCounters(sink));
  KYMO_RETURN_IF_ERROR(WriteWaits(sink));
  KYMO_RETURN_IF_ERROR(WriteWaitSums(sink));
  KYMO_RETURN_IF_ERROR(WriteMemory(sink));
  return WriteLayers(sink);
}

absl::Status LaneBlocks::WriteSamples(ByteSink& sink) const {
  DataBlock block("samples", sink);
  TimeNs last = base_ns_;
  model::TrackIndex track = model::kNoTrack;
  for (const uint32_t i : samples_) {
    const model::StackSample& sample = trace_.samples()[i];
    if (sample.track != track) last = base_ns_;
    track = sample.track;
    block.Unsigned(static_cast<uint64_t>(sample.time_ns - last));
    last = sample.time_ns;
    block.Unsigned(tables_.StackOf(sample.stack));
    block.Signed(sample.weight_ns);
  }
  return block.End();
}

absl::Status LaneBlocks::WriteCounters(ByteSink& sink) {
  std::vector<std::vector<CounterSample>> curves;
  std::span<const CounterSample> rest = trace_.counters();
  while (!rest.empty()) {
    size_t count = 1;
    while (count < rest.size() && rest[count].track == rest[0].track &&
           rest[count].name == rest[0].name) {
      ++count;
    }
    curves.push_back(Thinned(rest.first(count)));
    rest = rest.subspan(count);
  }
  const auto memory = timeline::MemoryCounters(trace_);
  DataBlock block("counters", sink);
  block.Unsigned(curves.size() + memory.size());
  const auto write = [&](model::TrackIndex track, uint32_t name,
                         std::span<const CounterSample> points) {
    block.Unsigned(track);
    block.Unsigned(name);
    block.Unsigned(points.size());
    TimeNs last = base_ns_;
    for (const CounterSample& point : points) {
      block.Unsigned(static_cast<uint64_t>(point.time_ns - last));
      block.Double(point.value);
      last = point.time_ns;
    }
  };
  for (const auto& curve : curves) {
    write(curve[0].track, tables_.TextOf(curve[0].name), curve);
  }
  for (const timeline::MemoryCounter& counter : memory) {
    std::vector<CounterSample> points;
    for (const analysis::CurvePoint& point : counter.points) {
      points.push_back({.time_ns = std::max(point.time, base_ns_),
                        .value = static_cast<double>(point.value)});
    }
    write(counter.track, tables_.TextOf(counter.name), Thinned(points));
  }
  return block.End();
}

absl::Status LaneBlocks::WriteWaits(ByteSink& sink) {
  const auto waits = WaitsOf(trace_);
  DataBlock block("waits", sink);
  block.Unsigned(waits_.size());
  for (const uint32_t i : waits_) {
    const Wait& wait = waits[i];
    block.Unsigned(wait.track);
    block.Unsigned(tables_.TextOf(std::string(model::NameOf(wait.kind))));
    block.Unsigned(static_cast<uint64_t>(wait.begin_ns - base_ns_));
    block.Unsigned(static_cast<uint64_t>(wait.duration_ns));
    block.Signed(wait.runnable_ns);
    block.Unsigned(tables_.StackOf(wait.stack));
    for (const model::TrackIndex other :
         {wait.waker, analysis::HolderOf(wait).track}) {
      block.Unsigned(other == model::kNoTrack ? 0 : other + 1);
    }
    block.Unsigned(tables_.TextOf(wait.object_name));
    block.Unsigned((wait.is_open ? 1 : 0) + (idle_[i] ? 2 : 0));
  }
  return block.End();
}

absl::Status LaneBlocks::WriteWaitSums(ByteSink& sink) {
  DataBlock block("waitsums", sink);
  block.Unsigned(wait_sums_.size());
  for (const analysis::WaitGroup& sum : wait_sums_) {
    block.Unsigned(tables_.StackOf(sum.stack));
    block.Unsigned(tables_.TextOf(std::string(model::NameOf(sum.kind))));
    block.Unsigned(sum.is_idle ? 1 : 0);
    block.Unsigned(static_cast<uint64_t>(sum.duration_ns));
    block.Unsigned(sum.count);
  }
  return block.End();
}

absl::Status LaneBlocks::WriteMemory(ByteSink& sink) {
  DataBlock block("memory", sink);
  block.Unsigned(memory_.size());
  for (const MemoryGraph& graph : memory_) {
    block.Unsigned(tables_.TextOf(graph.title));
    block.Unsigned(graph.stacks.size());
    for (const auto& stack : graph.stacks) {
      block.Unsigned(tables_.StackOf(stack.id));
      block.Signed(stack.bytes);
      block.Unsigned(static_cast<uint64_t>(stack.count));
    }
  }
  return block.End();
}

absl::Status LaneBlocks::WriteLayers(ByteSink& sink) {
  DataBlock block("layers", sink);
  block.Unsigned(layers_.size());
  for (const analysis::MemoryLayers& pool : layers_) {
    block.Unsigned(tables_.TextOf(PoolName(pool.pool)));
    block.Unsigned(pool.has_operations ? 1 : 0);
    block.Unsigned(pool.names.size());
    for (const model::NameId name : pool.names) {
      block.Unsigned(tables_.TextOf(name));
    }
    block.Unsigned(pool.rows.size());
    TimeNs last = base_ns_;
    for (const analysis::MemoryRow& row : pool.rows) {
      const TimeNs time_ns = std::max(row.time_ns, last);
      block.Unsigned(static_cast<uint64_t>(time_ns - last));
      last = time_ns;
      for (const int64_t bytes : row.bytes) block.Signed(bytes);
    }
  }
  return block.End();
}

void LaneBlocks::WriteMeta(json::JsonWriter& json) const {
  json.Member("samples_left_out",
              static_cast<int64_t>(trace_.samples().size() - samples_.size() +
                                   model::SummedSamples(trace_)));
  json.Member("waits_left_out", static_cast<int64_t>(waits_left_out_));
}

}  // namespace kymo::html
