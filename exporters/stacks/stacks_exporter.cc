#include "exporters/stacks/stacks_exporter.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "exporters/stacks/folded.h"
#include "exporters/stacks/memory_stacks.h"
#include "exporters/stacks/pprof_profiles.h"
#include "exporters/stacks/range_paths.h"
#include "exporters/stacks/speedscope.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/settings.h"

namespace kymo {
namespace {

using analysis::WindowSums;
using model::Trace;
using stacks::Folded;
using stacks::FrameTexts;
using stacks::MemoryStacks;
using stacks::Metric;
using stacks::RangePath;
using stacks::RangePaths;
using stacks::WriteFolded;

constexpr char kFoldedFile[] = "stacks.folded";
constexpr char kRangesFile[] = "stacks.ranges.folded";

enum class Format { kFolded, kSpeedscope, kPprof };

struct Settings {
  std::vector<Format> formats = {Format::kFolded, Format::kSpeedscope,
                                 Format::kPprof};
  Metric metric = Metric::kWeight;
  bool threads = false;

  bool operator==(const Settings&) const = default;

  bool Writes(Format format) const {
    return std::find(formats.begin(), formats.end(), format) != formats.end();
  }
};

const SettingTable<Settings>& StacksTable() {
  using S = Settings;
  static const auto& table = *new SettingTable<S>(
      "stacks",
      {{.name = "formats",
        .value =
            setting::Words(&S::formats, {{"folded", Format::kFolded},
                                         {"speedscope", Format::kSpeedscope},
                                         {"pprof", Format::kPprof}}),
        .purpose = "What to write.",
        .old_name = "formats"},
       {.name = "metric",
        .value = setting::Word(&S::metric, {{"weight", Metric::kWeight},
                                            {"count", Metric::kCount}}),
        .purpose = "What folded stacks count: weight (ns, bytes) or count.",
        .old_name = "metric"},
       {.name = "threads",
        .value = setting::Switch(&S::threads),
        .purpose = "Begin each stack with a frame for its thread.",
        .old_name = "threads"}});
  return table;
}

Folded FoldSamples(const Trace& trace, const std::vector<std::string>& roots,
                   Metric metric) {
  stacks::StackWeights weights;
  for (const model::StackSample& sample : trace.samples()) {
    weights[stacks::StackKey(sample.track, sample.stack)] +=
        metric == Metric::kCount ? 1 : sample.weight_ns;
  }
  return stacks::FoldStacks(trace, roots, weights);
}

Folded FoldRanges(const Trace& trace, const std::vector<std::string>& roots,
                  Metric metric) {
  FrameTexts texts(trace);
  const RangePaths paths(trace);
  std::vector<std::string> lines;
  Folded folded;
  for (const RangePath& path : paths.paths()) {
    const std::string& above =
        path.parent == stacks::kNoPath ? roots[path.track] : lines[path.parent];
    lines.push_back(absl::StrCat(above, ";", texts.Get(path.name)));
    folded[lines.back()] +=
        metric == Metric::kCount ? path.calls : path.self_ns;
  }
  return folded;
}

// Self times of the call paths.
Folded FoldSums(const WindowSums& sums) {
  std::vector<std::string> lines;
  Folded folded;
  for (const WindowSums::Path& path : sums.paths()) {
    const std::string frame = stacks::FrameText(sums.PathName(path));
    lines.push_back(path.parent == WindowSums::kNoPath
                        ? frame
                        : absl::StrCat(lines[path.parent], ";", frame));
    if (path.self_ns > 0) folded[lines.back()] += path.self_ns;
  }
  return folded;
}

// As with the other formats, the names of the files are added to `names`.
absl::Status WriteFoldedFiles(const Trace& trace, const Settings& settings,
                              OutputDirectory& out,
                              std::vector<std::string>& names) {
  const std::vector<std::string> roots =
      stacks::StackRoots(trace, settings.threads);
  const Metric metric = settings.metric;
  const bool has_samples = !trace.samples().empty();
  names.emplace_back(kFoldedFile);
  KYMO_RETURN_IF_ERROR(WriteFolded(has_samples
                                       ? FoldSamples(trace, roots, metric)
                                       : FoldRanges(trace, roots, metric),
                                   out, names.back()));
  if (has_samples && stacks::HasRanges(trace)) {
    names.emplace_back(kRangesFile);
    KYMO_RETURN_IF_ERROR(
        WriteFolded(FoldRanges(trace, roots, metric), out, names.back()));
  }
  const std::vector<stacks::StackMemory> memory = stacks::SumMemory(trace);
  static constexpr std::pair<MemoryStacks, const char*> kMemoryFiles[] = {
      {MemoryStacks::kAllocated, "stacks.memory.folded"},
      {MemoryStacks::kAlive, "stacks.memory.alive.folded"}};
  for (const auto& [which, name] : kMemoryFiles) {
    const auto folded = stacks::FoldMemory(trace, memory, roots, which, metric);
    if (!folded) continue;
    names.emplace_back(name);
    KYMO_RETURN_IF_ERROR(WriteFolded(*folded, out, name));
  }
  return absl::OkStatus();
}

absl::Status WriteSpeedscopeFile(const Trace& trace, bool gzip,
                                 OutputDirectory& out,
                                 std::vector<std::string>& names) {
  names.push_back(gzip ? "stacks.speedscope.json.gz"
                       : "stacks.speedscope.json");
  KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink, out.Open(names.back()));
  if (gzip) sink = NewGzipSink(std::move(sink));
  KYMO_RETURN_IF_ERROR(stacks::WriteSpeedscope(trace, *sink));
  return sink->Commit();
}

class StacksExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    KYMO_ASSIGN_OR_RETURN(const Settings settings,
                          StacksTable().Read(options.settings));
    std::vector<std::string> names;
    if (absl::Status status = Write(trace, settings, options, out, names);
        !status.ok()) {
      for (const std::string& name : names) out.Remove(name);
      return status;
    }
    if (options.progress) options.progress(1.0);
    return names;
  }

  std::string BeyondSums(const ExportOptions& options) const override {
    // The formats beside folded stacks are left out unless they are asked for.
    const Settings of_sums = {.formats = {Format::kFolded}};
    for (const SettingInfo& setting : StacksTable().infos()) {
      const auto given = options.settings.find(setting.name);
      if (given == options.settings.end()) continue;
      const absl::StatusOr<Settings> settings =
          StacksTable().Read({*given}, of_sums);
      if (!settings.ok()) return "--export=stacks";
      if (*settings != of_sums) {
        return absl::StrCat("--", setting.name, "=", given->second);
      }
    }
    return "";
  }

  // Self times of ranges, without threads, as folded stacks. Samples are not
  // read in windows: they give all files.
  absl::StatusOr<std::vector<std::string>> ExportSums(
      const WindowSums& sums, const ExportOptions& options,
      OutputDirectory& out) const override {
    const Trace* const rest = sums.rest();
    std::vector<std::string> names;
    Folded ranges = FoldSums(sums);
    if (rest != nullptr && !rest->samples().empty()) {
      KYMO_ASSIGN_OR_RETURN(names, Export(*rest, options, out));
      if (stacks::HasRanges(*rest)) {
        const std::vector<std::string> roots =
            stacks::StackRoots(*rest, /*threads=*/false);
        for (const auto& [stack, weight] :
             FoldRanges(*rest, roots, Metric::kWeight)) {
          ranges[stack] += weight;
        }
      }
    }
    const char* const name = names.empty() ? kFoldedFile : kRangesFile;
    KYMO_RETURN_IF_ERROR(WriteFolded(ranges, out, name));
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.emplace_back(name);
    }
    if (options.progress) options.progress(1.0);
    return names;
  }

 private:
  static absl::Status Write(const Trace& trace, const Settings& settings,
                            const ExportOptions& options, OutputDirectory& out,
                            std::vector<std::string>& names) {
    const auto report = [&](double done) {
      if (options.progress) options.progress(done);
    };
    if (settings.Writes(Format::kFolded)) {
      KYMO_RETURN_IF_ERROR(WriteFoldedFiles(trace, settings, out, names));
      report(0.3);
    }
    if (settings.Writes(Format::kPprof)) {
      KYMO_RETURN_IF_ERROR(stacks::WritePprof(trace, out, names));
      report(0.6);
    }
    if (!settings.Writes(Format::kSpeedscope)) return absl::OkStatus();
    return WriteSpeedscopeFile(trace, options.gzip, out, names);
  }

  const PluginInfo info_ = {
      .name = "stacks",
      .purpose =
          "stacks for flame graphs, pprof and speedscope "
          "(stacks.folded, .pb.gz, .speedscope.json)",
      .settings = StacksTable().infos(),
      .exports_sums = true,
  };
};

}  // namespace

std::unique_ptr<TraceExporter> NewStacksExporter() {
  return std::make_unique<StacksExporter>();
}

}  // namespace kymo
