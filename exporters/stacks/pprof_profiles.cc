#include "exporters/stacks/pprof_profiles.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "exporters/stacks/memory_stacks.h"
#include "exporters/stacks/pprof_writer.h"
#include "exporters/stacks/range_paths.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo::stacks {
namespace {

using model::StackId;
using model::Trace;
using model::TrackIndex;

std::string WithId(std::string_view name, int64_t id) {
  return name.empty() ? absl::StrCat(id)
                      : absl::StrCat(ToAbsl(name), " (", id, ")");
}

std::string ProcessText(const Trace& trace, int64_t pid) {
  std::string_view name;
  for (const model::Process& process : trace.processes()) {
    if (process.pid == pid) name = trace.Name(process.name);
  }
  return WithId(name, pid);
}

// Labels of a track's samples; `device` may be empty.
std::string TrackLabels(const Trace& trace, PprofWriter& pprof,
                        TrackIndex index, std::string_view device = {}) {
  const model::Track& track = trace.tracks()[index];
  const std::string process = ProcessText(trace, track.pid);
  const std::string line = WithId(trace.Name(track.name), track.id);
  std::vector<PprofWriter::Label> labels = {{"process", process}};
  labels.emplace_back(
      track.kind == model::TrackKind::kThread ? "thread" : "stream", line);
  if (!device.empty()) labels.emplace_back("device", device);
  return pprof.Labels(labels);
}

// Labels of each track, made when first asked for.
class Labels {
 public:
  Labels(const Trace& trace, PprofWriter& pprof)
      : trace_(trace), pprof_(pprof), texts_(trace.tracks().size()) {}

  const std::string& Get(TrackIndex track) {
    std::string& text = texts_[track];
    if (text.empty()) text = TrackLabels(trace_, pprof_, track);
    return text;
  }

 private:
  const Trace& trace_;
  PprofWriter& pprof_;
  std::vector<std::string> texts_;
};

// From the innermost frame.
std::vector<uint64_t> Locations(const Trace& trace, PprofWriter& pprof,
                                StackId stack) {
  std::vector<uint64_t> locations;
  const model::StackTable& stacks = trace.stacks();
  for (; stack != model::kEmptyStack; stack = stacks.parent(stack)) {
    locations.push_back(pprof.LocationOf(stacks.leaf(stack)));
  }
  return locations;
}

constexpr size_t kCountValue = 0;
constexpr size_t kTimeValue = 1;

// `values` has `types` entries, those of samples at `first`.
void AddSamples(const Trace& trace, PprofWriter& pprof, Labels& labels,
                std::vector<int64_t> values, size_t first) {
  std::map<std::pair<TrackIndex, StackId>, std::pair<int64_t, DurationNs>> sums;
  for (const model::StackSample& sample : trace.samples()) {
    auto& [count, time_ns] = sums[{sample.track, sample.stack}];
    ++count;
    time_ns += sample.weight_ns;
  }
  for (const auto& [key, sum] : sums) {
    const auto& [track, stack] = key;
    values[first + kCountValue] = sum.first;
    values[first + kTimeValue] = sum.second;
    pprof.AddSample(Locations(trace, pprof, stack), values, labels.Get(track));
  }
}

void AddRanges(const Trace& trace, PprofWriter& pprof, Labels& labels,
               std::vector<int64_t> values, size_t first) {
  const RangePaths paths(trace);
  std::vector<uint64_t> locations;
  for (const RangePath& path : paths.paths()) {
    locations.clear();
    for (const RangePath* at = &path;; at = &paths.paths()[at->parent]) {
      locations.push_back(pprof.LocationOf(at->name));
      if (at->parent == kNoPath) break;
    }
    values[first + kCountValue] = path.calls;
    values[first + kTimeValue] = path.self_ns;
    pprof.AddSample(locations, values, labels.Get(path.track));
  }
}

absl::Status WriteTimes(const Trace& trace, ByteSink& sink) {
  const bool has_samples = !trace.samples().empty();
  const bool has_ranges = HasRanges(trace) || !has_samples;
  PprofWriter pprof(trace, sink);
  if (has_samples) {
    pprof.AddSampleType("samples", "count");
    pprof.AddSampleType("cpu", "nanoseconds");
  }
  if (has_ranges) {
    pprof.AddSampleType("operations", "count");
    pprof.AddSampleType("self_time", "nanoseconds");
  }
  Labels labels(trace, pprof);
  const size_t ranges_first = has_samples ? 2 : 0;
  const std::vector<int64_t> zeros(ranges_first + (has_ranges ? 2 : 0));
  if (has_samples) AddSamples(trace, pprof, labels, zeros, 0);
  if (has_ranges) AddRanges(trace, pprof, labels, zeros, ranges_first);
  PprofInfo info = {.default_type = has_samples ? "cpu" : "self_time"};
  if (has_samples && trace.sampling_period_ns() > 0) {
    info.period_type = "cpu";
    info.period_unit = "nanoseconds";
    info.period = trace.sampling_period_ns();
  }
  return pprof.Finish(info);
}

absl::Status WriteMemory(const Trace& trace,
                         const std::vector<StackMemory>& sums, ByteSink& sink) {
  PprofWriter pprof(trace, sink);
  pprof.AddSampleType("alloc_objects", "count");
  pprof.AddSampleType("alloc_space", "bytes");
  pprof.AddSampleType("inuse_objects", "count");
  pprof.AddSampleType("inuse_space", "bytes");
  std::map<std::pair<TrackIndex, std::string>, std::string> labels;
  for (const StackMemory& sum : sums) {
    std::string& text = labels[{sum.track, sum.device}];
    if (text.empty()) {
      text = TrackLabels(trace, pprof, sum.track, sum.device);
    }
    const int64_t values[] = {sum.allocated.count(), sum.allocated.bytes,
                              sum.alive.count(), sum.alive.bytes};
    pprof.AddSample(Locations(trace, pprof, sum.stack), values, text);
  }
  PprofInfo info = {.default_type = "alloc_space"};
  if (trace.memory_sample_interval() > 0) {
    info.period_type = "space";
    info.period_unit = "bytes";
    info.period = static_cast<int64_t>(trace.memory_sample_interval());
  }
  return pprof.Finish(info);
}

// write(sink) makes the profile.
template <typename Write>
absl::Status WriteFile(const char* name, OutputDirectory& out,
                       std::vector<std::string>& names, const Write& write) {
  names.emplace_back(name);
  KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> file, out.Open(name));
  const std::unique_ptr<ByteSink> sink = NewGzipSink(std::move(file));
  KYMO_RETURN_IF_ERROR(write(*sink));
  return sink->Commit();
}

}  // namespace

absl::Status WritePprof(const Trace& trace, OutputDirectory& out,
                        std::vector<std::string>& names) {
  KYMO_RETURN_IF_ERROR(
      WriteFile("stacks.pb.gz", out, names,
                [&](ByteSink& sink) { return WriteTimes(trace, sink); }));
  const std::vector<StackMemory> memory = SumMemory(trace);
  if (memory.empty()) return absl::OkStatus();
  return WriteFile("stacks.memory.pb.gz", out, names, [&](ByteSink& sink) {
    return WriteMemory(trace, memory, sink);
  });
}

}  // namespace kymo::stacks
