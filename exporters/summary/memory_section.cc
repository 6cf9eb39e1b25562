#include "exporters/summary/memory_section.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/memory/allocation_frames.h"
#include "profiler/analysis/memory/memory_device.h"
#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/base/time.h"
#include "profiler/events/trace_events.h"

namespace kymo {
namespace {

using analysis::AllocationFrames;
using analysis::MemoryDetail;
using analysis::MemoryProfile;
using analysis::OperationMemory;
using analysis::StackMemory;
using json::JsonWriter;

constexpr size_t kMaxGroups = 50;
constexpr size_t kMaxSteps = 1000;

std::string_view SourceName(model::MemorySource source) {
  switch (source) {
    case model::MemorySource::kReported:
      return "reported";
    case model::MemorySource::kHeap:
      return "heap";
    case model::MemorySource::kMapped:
      return "mapped";
  }
  return "";
}

std::string_view DetailName(MemoryDetail detail) {
  switch (detail) {
    case MemoryDetail::kRecords:
      return "records";
    case MemoryDetail::kSamples:
      return "samples";
    case MemoryDetail::kCounts:
      return "counts";
  }
  return "";
}

class PoolWriter {
 public:
  PoolWriter(const model::Trace& trace, const MemoryProfile& profile,
             AllocationFrames& frames, JsonWriter& json)
      : trace_(trace), profile_(profile), frames_(frames), json_(json) {}

  void Write() {
    json_.BeginObject();
    WritePool();
    WriteTotals();
    if (profile_.detail != MemoryDetail::kCounts) {
      WritePeak();
      WriteStacks("leaks", profile_.leaks, BytesOf(profile_.leaks));
      json_.Key("runtime_kept");
      json_.BeginObject();
      json_.Member("count", profile_.runtime_kept.count);
      json_.Member("bytes", profile_.runtime_kept.bytes);
      json_.EndObject();
      if (profile_.detail == MemoryDetail::kRecords) WriteTemporary();
      WriteHistogram("size_histogram", "from_bytes", profile_.sizes);
      WriteHistogram("lifetime_histogram", "from_ns", profile_.lifetimes);
      WriteSteps();
    }
    json_.EndObject();
  }

 private:
  int64_t RelativeUs(TimeNs time_ns) const {
    return (time_ns - trace_.start_ns()) / kNsPerUs;
  }

  static int64_t BytesOf(const std::vector<StackMemory>& groups) {
    int64_t bytes = 0;
    for (const StackMemory& group : groups) bytes += group.bytes;
    return bytes;
  }

  void WritePool() {
    const analysis::MemoryPool& pool = profile_.pool;
    json_.Member("pid", pool.pid);
    json_.Member("process", pool.process == analysis::kNoProcess
                                ? int64_t{-1}
                                : int64_t{pool.process});
    json_.Member("source", SourceName(pool.source));
    json_.Member("device", analysis::MemoryDeviceName(
                               {static_cast<DeviceType>(pool.device_type),
                                pool.device_index}));
    json_.Member("detail", DetailName(profile_.detail));
  }

  void WriteTotals() {
    const analysis::MemoryTotals& totals = profile_.totals;
    json_.Key("totals");
    json_.BeginObject();
    json_.Member("allocations", totals.allocations);
    json_.Member("frees", totals.frees);
    json_.Member("allocated_bytes", totals.allocated_bytes);
    if (profile_.detail != MemoryDetail::kCounts) {
      json_.Member("freed_bytes", totals.freed_bytes);
      json_.Member("alive_bytes", totals.alive_bytes);
    }
    json_.Member("out_of_memory", totals.out_of_memory);
    json_.EndObject();
  }

  void WritePeak() {
    const analysis::MemoryPeak& peak = profile_.peak;
    json_.Key("peak");
    json_.BeginObject();
    json_.Member("bytes", peak.bytes);
    json_.Member("time_us", peak.bytes == 0 ? 0 : RelativeUs(peak.time_ns));
    WriteGroups("by_function", profile_.peak_by_function, peak.bytes,
                [&](const analysis::FunctionMemory& group) {
                  json_.Member("function", trace_.Name(group.id));
                });
    WriteStacks("by_stack", peak.by_stack, peak.bytes);
    WriteGroups("by_operation", peak.by_operation, peak.bytes,
                [&](const OperationMemory& group) {
                  json_.Member("operation", trace_.Name(group.id));
                });
    json_.EndObject();
  }

  void WriteTemporary() {
    const analysis::TemporaryAllocations& temporary = profile_.temporary;
    const int64_t allocations =
        std::max<int64_t>(profile_.totals.allocations, 1);
    json_.Key("temporary");
    json_.BeginObject();
    json_.Member("count", temporary.count);
    json_.Member("bytes", temporary.bytes);
    json_.Key("share");
    json_.Double(static_cast<double>(temporary.count) /
                 static_cast<double>(allocations));
    WriteStacks("by_stack", temporary.by_stack, temporary.bytes);
    json_.EndObject();
  }

  void WriteStacks(std::string_view key, const std::vector<StackMemory>& stacks,
                   int64_t all_bytes) {
    WriteGroups(key, stacks, all_bytes, [&](const StackMemory& group) {
      json_.Member("place", PlaceOf(group.id));
      json_.Key("stack");
      json_.BeginArray();
      for (const std::string& frame : StackEntries(trace_, group.id)) {
        json_.String(frame);
      }
      json_.EndArray();
    });
  }

  // The innermost function that is neither an allocator's nor a library's.
  std::string_view PlaceOf(model::StackId stack) {
    return trace_.Name(frames_.OwnFunction(stack));
  }

  // `groups`, largest first, of blocks of `all_bytes`.
  template <typename Group, typename WriteId>
  void WriteGroups(std::string_view key, const std::vector<Group>& groups,
                   int64_t all_bytes, const WriteId& write_id) {
    json_.Key(key);
    json_.BeginArray();
    const size_t shown = std::min(groups.size(), kMaxGroups);
    int64_t other_bytes = all_bytes;
    for (size_t i = 0; i < shown; ++i) {
      json_.BeginObject();
      write_id(groups[i]);
      json_.Member("count", groups[i].count);
      json_.Member("bytes", groups[i].bytes);
      json_.EndObject();
      other_bytes -= groups[i].bytes;
    }
    if (shown < groups.size() || other_bytes != 0) {
      int64_t other_count = 0;
      for (size_t i = shown; i < groups.size(); ++i) {
        other_count += groups[i].count;
      }
      json_.BeginObject();
      json_.Member("others", static_cast<int64_t>(groups.size() - shown));
      json_.Member("count", other_count);
      json_.Member("bytes", other_bytes);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void WriteHistogram(std::string_view key, std::string_view from_key,
                      const analysis::PowerHistogram& histogram) {
    json_.Key(key);
    json_.BeginArray();
    for (size_t i = 0; i < histogram.size(); ++i) {
      if (histogram[i] == 0) continue;
      json_.BeginObject();
      json_.Member(from_key, analysis::HistogramBegin(i));
      json_.Member("count", histogram[i]);
      json_.EndObject();
    }
    json_.EndArray();
  }

  void WriteSteps() {
    json_.Key("steps");
    json_.BeginArray();
    const size_t shown = std::min(profile_.steps.size(), kMaxSteps);
    for (size_t i = 0; i < shown; ++i) {
      const analysis::MemoryStep& step = profile_.steps[i];
      json_.BeginObject();
      json_.Member("number", step.number);
      json_.Member("start_us", RelativeUs(step.start_ns));
      json_.Member("end_us", RelativeUs(step.end_ns));
      json_.Member("live_begin_bytes", step.live_begin_bytes);
      json_.Member("live_end_bytes", step.live_end_bytes);
      json_.Member("allocations", step.allocations);
      json_.Member("allocated_bytes", step.allocated_bytes);
      json_.EndObject();
    }
    json_.EndArray();
    json_.Member("step_count", static_cast<int64_t>(profile_.steps.size()));
  }

  const model::Trace& trace_;
  const MemoryProfile& profile_;
  AllocationFrames& frames_;
  JsonWriter& json_;
};

}  // namespace

void WriteMemory(const model::Trace& trace,
                 const analysis::LazyMemoryProfiles& memory, JsonWriter& json) {
  const std::vector<MemoryProfile>& profiles = memory.Get();
  if (profiles.empty()) return;
  json.Key("memory");
  json.BeginObject();
  json.Key("sample_interval_bytes");
  json.Double(trace.memory_sample_interval());
  json.Key("pools");
  json.BeginArray();
  AllocationFrames frames(trace);
  for (const MemoryProfile& profile : profiles) {
    PoolWriter(trace, profile, frames, json).Write();
  }
  json.EndArray();
  json.EndObject();
}

}  // namespace kymo
