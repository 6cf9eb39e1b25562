#include "exporters/stacks/pprof_profiles.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "exporters/stacks/folded.h"
#include "exporters/stacks/frame_tree.h"
#include "exporters/stacks/memory_stacks.h"
#include "exporters/stacks/pprof_writer.h"
#include "exporters/stacks/range_paths.h"
#include "profiler/analysis/memory/memory_device.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/sample_weights.h"

namespace kymo::stacks {
namespace {

using model::FrameId;
using model::NameId;
using model::StackId;
using model::Trace;
using model::TrackIndex;

std::string WithId(std::string_view name, int64_t id) {
  return name.empty() ? absl::StrCat(id)
                      : absl::StrCat(ToAbsl(name), " (", id, ")");
}

std::string ProcessText(const Trace& trace, int64_t pid) {
  const model::Process* const process = trace.FindProcess(pid);
  return WithId(process == nullptr ? "" : trace.Name(process->name), pid);
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

// The values of a profile's samples, by stack. Frames of the tree are ids of
// frames or of names.
template <size_t kValues>
class Samples {
 public:
  Samples(const Trace& trace, uint32_t max_frames)
      : trace_(trace), tree_(max_frames), places_(trace.stacks(), tree_) {}

  // Whether the tree leaves frames of the stack out.
  bool Folds(StackId stack) const {
    return tree_.Folds(trace_.stacks().depth(stack));
  }

  // `root` is what the stacks of one label have in common.
  FrameTree::Place Root(uint32_t root) { return tree_.Root(root); }
  FrameTree::Place Below(const FrameTree::Place& parent, NameId name) {
    return tree_.Below(parent, Index(name));
  }
  FrameTree::Place Stack(const FrameTree::Place& root, StackId stack) {
    return places_.Get(root, stack,
                       [](model::FrameId frame) { return Index(frame); });
  }
  std::array<int64_t, kValues>& At(const FrameTree::Place& place) {
    value_of_.resize(tree_.node_count());
    uint32_t& value = value_of_[place.node];
    if (value == 0) {
      values_.emplace_back();
      value = static_cast<uint32_t>(values_.size());
    }
    return values_[value - 1];
  }

  // add(root, locations, values) of each stack that has values. location_of
  // makes a location of a frame.
  template <typename LocationOf, typename Add>
  void ForEach(PprofWriter& pprof, const LocationOf& location_of,
               const Add& add) const {
    std::vector<uint64_t> locations;
    for (uint32_t i = 0; i < value_of_.size(); ++i) {
      if (value_of_[i] == 0) continue;
      const std::array<int64_t, kValues>& values = values_[value_of_[i] - 1];
      if (values == std::array<int64_t, kValues>()) continue;
      locations.clear();
      uint32_t node = i;
      for (; tree_.parent(node) != FrameTree::kNoNode;
           node = tree_.parent(node)) {
        const uint32_t frame = tree_.frame(node);
        locations.push_back(
            frame == FrameTree::kFoldedFrames
                ? pprof.LocationOf(FoldedFramesText(tree_.folded_frames(node)))
                : location_of(frame));
      }
      add(tree_.frame(node), locations, values);
    }
  }

 private:
  const Trace& trace_;
  FrameTree tree_;
  StackPlaces places_;
  // By node: 1 + the index of its values; 0: none. Most nodes have none.
  std::vector<uint32_t> value_of_;
  std::vector<std::array<int64_t, kValues>> values_;
};

// What a profile of times can have for each stack, in the order of its types.
enum TimeValue : size_t {
  kSamples,
  kCpu,
  kWall,
  kOffCpu,
  kOperations,
  kSelfTime,
  kTimeValues
};
using TimeValues = std::array<int64_t, kTimeValues>;

constexpr std::pair<std::string_view, std::string_view> kTimeTypes[] = {
    {"samples", "count"},    {"cpu", "nanoseconds"},
    {"wall", "nanoseconds"}, {"off_cpu", "nanoseconds"},
    {"operations", "count"}, {"self_time", "nanoseconds"}};

// Whether a profile has each type.
using TimeTypes = std::array<bool, kTimeValues>;

// Writes times by track.
template <typename LocationOf>
void WriteTimesOf(const Samples<kTimeValues>& samples,
                  const LocationOf& location_of, const TimeTypes& types,
                  PprofWriter& pprof, Labels& labels) {
  std::vector<int64_t> values;
  samples.ForEach(pprof, location_of,
                  [&](TrackIndex track, std::span<const uint64_t> locations,
                      const TimeValues& sum) {
                    values.clear();
                    for (size_t i = 0; i < kTimeValues; ++i) {
                      if (types[i]) values.push_back(sum[i]);
                    }
                    pprof.AddSample(locations, values, labels.Get(track));
                  });
}

// Stacks of samples and waits.
void AddStacks(const Trace& trace, std::span<const analysis::WaitGroup> waits,
               uint32_t max_frames, const TimeTypes& types, PprofWriter& pprof,
               Labels& labels) {
  Samples<kTimeValues> samples(trace, max_frames);
  ForEachSampleWeight(trace, [&](const model::SampleSum& sampled) {
    auto& sum =
        samples.At(samples.Stack(samples.Root(sampled.track), sampled.stack));
    sum[kSamples] += static_cast<int64_t>(sampled.count);
    sum[kCpu] += sampled.weight_ns;
    sum[kWall] += sampled.weight_ns;
  });
  // What a thread waited for has numbers behind those of frames.
  const auto first_wait = static_cast<uint32_t>(trace.stacks().frame_count());
  std::vector<std::string> wait_frames;
  for (const analysis::WaitGroup& wait : waits) {
    const std::string text = WaitFrame(wait);
    const auto at = std::find(wait_frames.begin(), wait_frames.end(), text);
    const auto number = static_cast<uint32_t>(at - wait_frames.begin());
    if (at == wait_frames.end()) wait_frames.push_back(text);
    auto& sum = samples.At(
        samples.Below(samples.Stack(samples.Root(wait.track), wait.stack),
                      NameId{first_wait + number}));
    sum[kWall] += wait.duration_ns;
    sum[kOffCpu] += wait.duration_ns;
  }
  WriteTimesOf(
      samples,
      [&](uint32_t frame) {
        return frame < first_wait
                   ? pprof.LocationOf(FrameId{frame})
                   : pprof.LocationOf(wait_frames[frame - first_wait]);
      },
      types, pprof, labels);
}

void AddRanges(const Trace& trace, uint32_t max_frames, const TimeTypes& types,
               PprofWriter& pprof, Labels& labels) {
  const RangePaths paths(trace);
  Samples<kTimeValues> samples(trace, max_frames);
  std::vector<FrameTree::Place> places;
  for (const RangePath& path : paths.paths()) {
    places.push_back(samples.Below(
        path.parent == kNoPath ? samples.Root(path.track) : places[path.parent],
        path.name));
    auto& sum = samples.At(places.back());
    sum[kOperations] += path.calls;
    sum[kSelfTime] += path.self_ns;
  }
  WriteTimesOf(
      samples, [&](uint32_t name) { return pprof.LocationOf(NameId{name}); },
      types, pprof, labels);
}

absl::Status WriteTimes(const Trace& trace, uint32_t max_frames,
                        ByteSink& sink) {
  const bool has_samples = trace.has_samples();
  const std::vector<analysis::WaitGroup> waits =
      analysis::WaitsByThreadAndPlace(trace);
  const bool has_waits = !waits.empty();
  const bool has_ranges = HasRanges(trace) || (!has_samples && !has_waits);
  const TimeTypes types = {has_samples, has_samples, has_waits,
                           has_waits,   has_ranges,  has_ranges};
  PprofWriter pprof(trace, sink);
  for (size_t i = 0; i < kTimeValues; ++i) {
    if (types[i]) {
      pprof.AddSampleType(kTimeTypes[i].first, kTimeTypes[i].second);
    }
  }
  Labels labels(trace, pprof);
  if (has_samples || has_waits) {
    AddStacks(trace, waits, max_frames, types, pprof, labels);
  }
  if (has_ranges) AddRanges(trace, max_frames, types, pprof, labels);
  PprofInfo info = {.default_type = has_samples ? "cpu"
                                    : has_waits ? "off_cpu"
                                                : "self_time"};
  if (has_samples && trace.sampling_period_ns() > 0) {
    info.period_type = "cpu";
    info.period_unit = "nanoseconds";
    info.period = trace.sampling_period_ns();
  }
  return pprof.Finish(info);
}

// Whether both have the same labels.
bool HaveOneRoot(const StackMemory& a, const StackMemory& b) {
  return a.track == b.track && a.device == b.device;
}

// Texts of labels, one after the other for sums that have the same.
std::vector<std::string> LabelsOf(const Trace& trace,
                                  const MemoryStackSums& sums,
                                  PprofWriter& pprof) {
  std::vector<std::string> labels;
  StackMemory last;
  sums.ForEach([&](const StackMemory& sum) {
    if (!labels.empty() && HaveOneRoot(last, sum)) return;
    labels.push_back(TrackLabels(
        trace, pprof, sum.track,
        sum.device ? analysis::MemoryDeviceName(*sum.device) : std::string()));
    last = sum;
  });
  return labels;
}

absl::Status WriteMemory(const Trace& trace, uint32_t max_frames,
                         const MemoryStackSums& sums, ByteSink& sink) {
  PprofWriter pprof(trace, sink);
  pprof.AddSampleType("alloc_objects", "count");
  pprof.AddSampleType("alloc_space", "bytes");
  pprof.AddSampleType("inuse_objects", "count");
  pprof.AddSampleType("inuse_space", "bytes");
  const std::vector<std::string> labels = LabelsOf(trace, sums, pprof);
  // Only deep stacks need a tree, which takes more memory than the sums.
  Samples<4> deep(trace, max_frames);
  std::vector<uint64_t> locations;
  uint32_t root = 0;  // in `labels`
  std::optional<StackMemory> last;
  sums.ForEach([&](const StackMemory& sum) {
    if (last && !HaveOneRoot(*last, sum)) ++root;
    last = sum;
    const std::array<int64_t, 4> values = {sum.allocated.count(),
                                           sum.allocated.bytes,
                                           sum.alive.count(), sum.alive.bytes};
    if (values == std::array<int64_t, 4>()) return;
    if (deep.Folds(sum.stack)) {
      auto& of_stack = deep.At(deep.Stack(deep.Root(root), sum.stack));
      for (size_t i = 0; i < values.size(); ++i) of_stack[i] += values[i];
      return;
    }
    locations.clear();
    for (StackId stack = sum.stack; stack != model::kEmptyStack;
         stack = trace.stacks().parent(stack)) {
      locations.push_back(pprof.LocationOf(trace.stacks().leaf(stack)));
    }
    pprof.AddSample(locations, values, labels[root]);
  });
  deep.ForEach(
      pprof, [&](uint32_t frame) { return pprof.LocationOf(FrameId{frame}); },
      [&](uint32_t of, std::span<const uint64_t> frames, const auto& values) {
        pprof.AddSample(frames, values, labels[of]);
      });
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

absl::Status WritePprof(const Trace& trace, const MemoryStackSums& memory,
                        uint32_t max_frames, OutputDirectory& out,
                        std::vector<std::string>& names) {
  KYMO_RETURN_IF_ERROR(WriteFile(kPprofFile, out, names, [&](ByteSink& sink) {
    return WriteTimes(trace, max_frames, sink);
  }));
  if (memory.empty()) return absl::OkStatus();
  return WriteFile(kPprofMemoryFile, out, names, [&](ByteSink& sink) {
    return WriteMemory(trace, max_frames, memory, sink);
  });
}

}  // namespace kymo::stacks
