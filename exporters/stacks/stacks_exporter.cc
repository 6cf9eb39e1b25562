#include "exporters/stacks/stacks_exporter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "exporters/stacks/folded.h"
#include "exporters/stacks/memory_stacks.h"
#include "profiler/analysis/call_tree.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

using model::EventIndex;
using model::NameId;
using model::Trace;
using model::TrackIndex;
using stacks::Folded;
using stacks::FrameTexts;
using stacks::MemoryStacks;
using stacks::WriteFolded;

Folded FoldSamples(const Trace& trace, const std::vector<std::string>& roots) {
  stacks::StackWeights weights;
  for (const model::StackSample& sample : trace.samples()) {
    weights[stacks::StackKey(sample.track, sample.stack)] += sample.weight_ns;
  }
  return stacks::FoldStacks(trace, roots, weights);
}

// Paths of ranges as a prefix tree, so that text is made once per path.
class PathTree {
 public:
  static constexpr uint32_t kNoPath = ~uint32_t{0};

  // `parent` kNoPath: a top-level range of `track`.
  uint32_t Push(uint32_t parent, TrackIndex track, NameId name) {
    const uint64_t above =
        parent == kNoPath ? uint64_t{1} << 32 | track : parent;
    const auto [it, is_new] =
        ids_[above].try_emplace(name, static_cast<uint32_t>(nodes_.size()));
    if (is_new) nodes_.push_back({parent, track, name, 0});
    return it->second;
  }

  void Add(uint32_t path, DurationNs ns) { nodes_[path].ns += ns; }

  Folded Fold(const Trace& trace, const std::vector<std::string>& roots) {
    FrameTexts texts(trace);
    std::vector<std::string> lines(nodes_.size());
    Folded folded;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      const std::string& above =
          node.parent == kNoPath ? roots[node.track] : lines[node.parent];
      lines[i] = absl::StrCat(above, ";", texts.Get(node.name));
      folded[lines[i]] += node.ns;
    }
    return folded;
  }

 private:
  struct Node {
    uint32_t parent;
    TrackIndex track;
    NameId name;
    DurationNs ns;
  };
  std::unordered_map<uint64_t, std::unordered_map<NameId, uint32_t>> ids_;
  std::vector<Node> nodes_;
};

Folded FoldRanges(const Trace& trace, const std::vector<std::string>& roots) {
  const auto self = analysis::SelfTimes(trace);
  std::vector<uint32_t> path_of_event(trace.event_count());
  PathTree paths;
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.flags()[i] & (model::kEventInstant | model::kEventAsync)) {
      continue;  // no self time, no children
    }
    const EventIndex parent = trace.parent()[i];
    path_of_event[i] = paths.Push(
        parent == model::kNoEvent ? PathTree::kNoPath : path_of_event[parent],
        trace.track()[i], trace.name()[i]);
    paths.Add(path_of_event[i], self[i]);
  }
  return paths.Fold(trace, roots);
}

bool HasRanges(const Trace& trace) {
  return std::any_of(
      trace.flags().begin(), trace.flags().end(),
      [](uint8_t flags) { return (flags & model::kEventInstant) == 0; });
}

absl::StatusOr<bool> WithThreads(const ExportOptions& options) {
  const auto setting = options.settings.find("threads");
  if (setting == options.settings.end() || setting->second == "0") {
    return false;
  }
  if (setting->second == "1") return true;
  return absl::InvalidArgumentError(absl::StrCat(
      "stacks: setting threads is '", setting->second, "', not 0 or 1"));
}

// Adds the names of the files to `names`.
absl::Status Write(const Trace& trace, bool with_threads, OutputDirectory& out,
                   std::vector<std::string>& names) {
  const std::vector<std::string> roots =
      stacks::StackRoots(trace, with_threads);
  const bool has_samples = !trace.samples().empty();
  names.push_back("stacks.folded");
  KYMO_RETURN_IF_ERROR(WriteFolded(
      has_samples ? FoldSamples(trace, roots) : FoldRanges(trace, roots), out,
      names.back()));
  if (has_samples && HasRanges(trace)) {
    names.push_back("stacks.ranges.folded");
    KYMO_RETURN_IF_ERROR(
        WriteFolded(FoldRanges(trace, roots), out, names.back()));
  }
  static constexpr std::pair<MemoryStacks, const char*> kMemoryFiles[] = {
      {MemoryStacks::kAllocated, "stacks.memory.folded"},
      {MemoryStacks::kAlive, "stacks.memory.alive.folded"}};
  for (const auto& [which, name] : kMemoryFiles) {
    const auto folded = stacks::FoldMemory(trace, roots, which);
    if (!folded) continue;
    names.emplace_back(name);
    KYMO_RETURN_IF_ERROR(WriteFolded(*folded, out, name));
  }
  return absl::OkStatus();
}

class StacksExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    KYMO_ASSIGN_OR_RETURN(const bool with_threads, WithThreads(options));
    std::vector<std::string> names;
    try {
      KYMO_RETURN_IF_ERROR(Write(trace, with_threads, out, names));
    } catch (const std::bad_alloc&) {
      return absl::ResourceExhaustedError("not enough memory to fold stacks");
    }
    if (options.progress) options.progress(1.0);
    return names;
  }

 private:
  const PluginInfo info_ = {
      .name = "stacks",
      .purpose = "folded stacks for flame graphs (stacks.folded)",
      .options = {{"threads", "0", "1: a frame for the thread"}},
  };
};

}  // namespace

std::unique_ptr<TraceExporter> NewStacksExporter() {
  return std::make_unique<StacksExporter>();
}

}  // namespace kymo
