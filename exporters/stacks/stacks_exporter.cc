// Long, because it decides for each of the files whether there is one.
#include "exporters/stacks/stacks_exporter.h"

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "exporters/stacks/folded.h"
#include "exporters/stacks/memory_stacks.h"
#include "exporters/stacks/pprof_profiles.h"
#include "exporters/stacks/range_paths.h"
#include "exporters/stacks/speedscope.h"
#include "exporters/timeline/bounded_file.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/sample_weights.h"
#include "profiler/plugin/settings.h"

namespace kymo {
namespace {

using analysis::WindowSums;
using model::Trace;
using stacks::FoldedStacks;
using stacks::FrameTree;
using stacks::MemoryStacks;
using stacks::MemoryStackSums;
using stacks::Metric;
using stacks::RangePath;
using stacks::RangePaths;

constexpr char kFoldedFile[] = "stacks.folded";
constexpr char kRangesFile[] = "stacks.ranges.folded";
constexpr char kOffCpuFile[] = "stacks.off_cpu.folded";
constexpr char kWallFile[] = "stacks.wall.folded";
constexpr char kAllocatedFile[] = "stacks.memory.folded";
constexpr char kAliveFile[] = "stacks.memory.alive.folded";
constexpr char kSpeedscopeFile[] = "stacks.speedscope.json";
constexpr uint64_t kMostFiles = 6;  // of text

enum class Format { kFolded, kSpeedscope, kPprof };

struct Settings {
  std::vector<Format> formats = {Format::kFolded, Format::kSpeedscope,
                                 Format::kPprof};
  Metric metric = Metric::kWeight;
  bool threads = false;
  int64_t max_frames = 512;  // 0: any number
  double min_share = 0.001;  // of memory; 0: each stack

  bool operator==(const Settings&) const = default;

  bool Writes(Format format) const {
    return std::find(formats.begin(), formats.end(), format) != formats.end();
  }
};

SettingTable<Settings> StacksTable() {
  using S = Settings;
  return SettingTable<S>(
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
        .old_name = "threads"},
       {.name = "max_frames",
        .value = setting::Integer(&S::max_frames, 0, 1 << 30),
        .purpose = "Most frames of a stack. A deeper one keeps its outermost "
                   "frames and its innermost one; between these stands [N "
                   "frames folded]. 0 = all frames, which can make files of "
                   "many GB."},
       {.name = "min_share",
        .value = setting::Real(&S::min_share, 0, 1),
        .purpose = "Stacks of memory with less than this part of the bytes "
                   "(or blocks: metric) are [other] in folded stacks; pprof's "
                   "file has each of them. 0 = write each."}});
}

void FoldSamples(const Trace& trace, const std::vector<std::string>& roots,
                 Metric metric, FoldedStacks& folded) {
  std::vector<FrameTree::Place> places;
  for (const std::string& root : roots) places.push_back(folded.Root(root));
  absl::flat_hash_map<uint64_t, int64_t> weights;
  ForEachSampleWeight(trace, [&](const model::SampleSum& sum) {
    weights[FoldedStacks::Key(places[sum.track], sum.stack)] +=
        metric == Metric::kCount ? static_cast<int64_t>(sum.count)
                                 : sum.weight_ns;
  });
  folded.AddStacks({weights.begin(), weights.end()});
}

void FoldWaits(const std::vector<std::string>& roots,
               const std::vector<analysis::WaitGroup>& waits, Metric metric,
               FoldedStacks& folded) {
  std::vector<FrameTree::Place> places;
  for (const std::string& root : roots) places.push_back(folded.Root(root));
  folded.AddWaits(waits, places, metric);
}

void FoldRanges(const Trace& trace, const std::vector<std::string>& roots,
                Metric metric, FoldedStacks& folded) {
  const RangePaths paths(trace);
  std::vector<FrameTree::Place> places;
  for (const RangePath& path : paths.paths()) {
    const FrameTree::Place above = path.parent == stacks::kNoPath
                                       ? folded.Root(roots[path.track])
                                       : places[path.parent];
    places.push_back(folded.Below(above, folded.FrameOf(path.name)));
    folded.Add(places.back(),
               metric == Metric::kCount ? path.calls : path.self_ns);
  }
}

// Self times of the call paths.
void FoldSums(const WindowSums& sums, FoldedStacks& folded) {
  std::vector<FrameTree::Place> places;
  for (const WindowSums::Path& path : sums.paths()) {
    const std::string_view name = sums.PathName(path);
    places.push_back(
        path.parent == WindowSums::kNoPath
            ? folded.Root(stacks::FrameText(name))
            : folded.Below(places[path.parent], folded.FrameOf(name)));
    folded.Add(places.back(), path.self_ns);
  }
}

// The text files of one run of the exporter.
class Files {
 public:
  // They get half of the bytes; the other half is for speedscope's file.
  Files(const Settings& settings, const ExportOptions& options,
        OutputDirectory& out, std::vector<std::string>& names)
      : settings_(settings),
        options_(options),
        out_(out),
        names_(names),
        bytes_left_(options.max_bytes / 2) {}

  // So many files at most will be written. What one leaves is for the next.
  void Expect(uint64_t files) { files_left_ = files; }

  FoldedStacks Empty(const Trace& trace) const {
    return FoldedStacks(trace, static_cast<uint32_t>(settings_.max_frames));
  }

  // Writes the file, without stacks that have less than `min_share` of all. If
  // folded stacks are not wanted, only counts those that are cut.
  absl::Status WriteFolded(FoldedStacks& folded, const char* name,
                           double min_share = 0) {
    const uint64_t cut = folded.folded_count();
    if (!settings_.Writes(Format::kFolded)) {
      NoteCut("stacks", cut);
      return absl::OkStatus();
    }
    const auto share = static_cast<int64_t>(
        std::ceil(min_share * static_cast<double>(folded.total())));
    int64_t fitting = 0;
    if (options_.max_bytes != 0) {
      uint64_t bytes = 0;
      fitting = folded.LeastWeight(bytes_left_ / files_left_, share, &bytes);
      files_left_ = std::max<uint64_t>(files_left_ - 1, 1);
      if (fitting > folded.total() + 1) {
        folded.Prune(fitting);
        return LeaveOut(name, folded);
      }
      bytes_left_ -= std::min(bytes, bytes_left_);
    }
    folded.Prune(std::max(share, fitting));
    names_.emplace_back(name);
    KYMO_RETURN_IF_ERROR(folded.Write(out_, name));
    NoteCut(name, cut);
    Note(name, folded.folded_count() - cut,
         fitting > share ? "[other], to stay within --max_size"
         : settings_.metric == Metric::kCount
             ? "[other], with less of the blocks than --stacks_min_share; 0 "
               "keeps all"
             : "[other], with less of the bytes than --stacks_min_share; 0 "
               "keeps all");
    return absl::OkStatus();
  }

 private:
  absl::Status LeaveOut(const char* name, const FoldedStacks& folded) {
    out_.Remove(name);  // an earlier run's
    if (options_.notes == nullptr) return absl::OkStatus();
    options_.notes->ledger.Add(model::Loss::kStacksFolded,
                               folded.folded_count());
    options_.notes->notices.push_back(
        absl::StrCat(name,
                     " is left out: its roots alone are too many for "
                     "its part of --max_size; --max_size=0 writes it"));
    return absl::OkStatus();
  }
  void NoteCut(const char* name, uint64_t stacks) {
    Note(name, stacks, "cut to --stacks_max_frames; 0 keeps all frames");
  }
  void Note(const char* name, uint64_t stacks, std::string_view what) {
    if (options_.notes == nullptr || stacks == 0) return;
    options_.notes->ledger.Add(model::Loss::kStacksFolded, stacks);
    options_.notes->notices.push_back(absl::StrCat(
        name, ": ", stacks, stacks == 1 ? " stack is " : " stacks are ",
        ToAbsl(what)));
  }

  const Settings& settings_;
  const ExportOptions& options_;
  OutputDirectory& out_;
  std::vector<std::string>& names_;
  uint64_t bytes_left_;
  uint64_t files_left_ = 1;
};

// As with the other formats, the names of the files are added to `names`.
absl::Status WriteFoldedFiles(const Trace& trace, const MemoryStackSums& memory,
                              const Settings& settings,
                              const ExportOptions& options,
                              OutputDirectory& out,
                              std::vector<std::string>& names) {
  Files files(settings, options, out, names);
  const std::vector<std::string> roots =
      stacks::StackRoots(trace, settings.threads);
  const Metric metric = settings.metric;
  const bool has_samples = trace.has_samples();
  const bool has_ranges = !has_samples || stacks::HasRanges(trace);
  // Speedscope's file has ranges as they were, and no waits and no memory.
  const bool writes_all =
      settings.Writes(Format::kFolded) || settings.Writes(Format::kPprof);
  std::vector<analysis::WaitGroup> waits;
  if (writes_all) waits = analysis::WaitsByThreadAndPlace(trace);
  // Samples and waits have no count in common.
  const bool has_wall =
      !waits.empty() && has_samples && metric == Metric::kWeight;
  files.Expect(uint64_t{has_samples} + uint64_t{has_ranges} +
               uint64_t{!waits.empty()} + uint64_t{has_wall} +
               (memory.empty() ? 0 : 2));
  FoldedStacks sampled = files.Empty(trace);
  if (has_samples) {
    FoldSamples(trace, roots, metric, sampled);
    sampled.KeepWhole();
    KYMO_RETURN_IF_ERROR(files.WriteFolded(sampled, kFoldedFile));
  }
  if (!writes_all) return absl::OkStatus();
  if (has_ranges) {
    FoldedStacks folded = files.Empty(trace);
    FoldRanges(trace, roots, metric, folded);
    KYMO_RETURN_IF_ERROR(
        files.WriteFolded(folded, has_samples ? kRangesFile : kFoldedFile));
  }
  if (!waits.empty()) {
    FoldedStacks folded = files.Empty(trace);
    FoldWaits(roots, waits, metric, folded);
    KYMO_RETURN_IF_ERROR(files.WriteFolded(folded, kOffCpuFile));
  }
  if (has_wall) {
    sampled.Restore();
    FoldWaits(roots, waits, metric, sampled);
    KYMO_RETURN_IF_ERROR(files.WriteFolded(sampled, kWallFile));
  }
  static constexpr std::pair<MemoryStacks, const char*> kMemoryFiles[] = {
      {MemoryStacks::kAllocated, kAllocatedFile},
      {MemoryStacks::kAlive, kAliveFile}};
  for (const auto& [which, name] : kMemoryFiles) {
    FoldedStacks folded = files.Empty(trace);
    if (!stacks::FoldMemory(memory, roots, which, metric, folded)) continue;
    KYMO_RETURN_IF_ERROR(files.WriteFolded(folded, name, settings.min_share));
  }
  return absl::OkStatus();
}

absl::Status WriteSpeedscopeFile(const Trace& trace, const Settings& settings,
                                 const ExportOptions& options,
                                 OutputDirectory& out,
                                 std::vector<std::string>& names) {
  KYMO_ASSIGN_OR_RETURN(
      std::string name,
      timeline::WriteBounded(
          {.name = kSpeedscopeFile, .max_bytes = options.max_bytes / 2}, trace,
          options, out,
          [&](const Trace& shown, const timeline::FileForm&, ByteSink& sink) {
            return stacks::WriteSpeedscope(
                shown, static_cast<uint32_t>(settings.max_frames), sink);
          }));
  if (!name.empty()) names.push_back(std::move(name));
  return absl::OkStatus();
}

std::vector<std::string> FileNames() {
  std::vector<std::string> names = timeline::NamesOf(kSpeedscopeFile);
  names.insert(names.end(), {kFoldedFile, kRangesFile, kOffCpuFile, kWallFile,
                             kAllocatedFile, kAliveFile, stacks::kPprofFile,
                             stacks::kPprofMemoryFile});
  return names;
}

class StacksExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    KYMO_ASSIGN_OR_RETURN(const Settings settings,
                          table_.Read(options.settings));
    std::vector<std::string> names;
    if (absl::Status status = Write(trace, settings, options, out, names);
        !status.ok()) {
      for (const std::string& name : names) out.Remove(name);
      return status;
    }
    if (options.progress) options.progress(1.0);
    return names;
  }

  HeapRecordNeed HeapRecordsNeeded(const ExportOptions&) const override {
    return {.most = 0};
  }

  std::string BeyondSums(const ExportOptions& options) const override {
    // The formats beside folded stacks are left out unless they are asked for.
    const Settings of_sums = {.formats = {Format::kFolded}};
    for (const SettingInfo& setting : table_.infos()) {
      const auto given = options.settings.find(setting.name);
      if (given == options.settings.end()) continue;
      const absl::StatusOr<Settings> settings = table_.Read({*given}, of_sums);
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
    KYMO_ASSIGN_OR_RETURN(const Settings settings,
                          table_.Read(options.settings));
    const Trace nothing{model::TraceData()};
    const Trace& rest = sums.rest() == nullptr ? nothing : *sums.rest();
    std::vector<std::string> names;
    std::vector<std::string> of_ranges;
    Files files(settings, options, out, of_ranges);
    files.Expect(rest.has_samples() ? kMostFiles : 1);
    FoldedStacks ranges = files.Empty(rest);
    FoldSums(sums, ranges);
    if (rest.has_samples()) {
      ExportOptions of_rest = options;
      of_rest.max_bytes -= options.max_bytes / (2 * kMostFiles);
      KYMO_ASSIGN_OR_RETURN(names, Export(rest, of_rest, out));
      if (stacks::HasRanges(rest) && !sums.rest_has_windows_ranges()) {
        FoldRanges(rest, stacks::StackRoots(rest, /*threads=*/false),
                   Metric::kWeight, ranges);
      }
    }
    const char* const name = names.empty() ? kFoldedFile : kRangesFile;
    KYMO_RETURN_IF_ERROR(files.WriteFolded(ranges, name));
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
    // Speedscope's file has none.
    const Trace nothing{model::TraceData()};
    const MemoryStackSums memory(settings.Writes(Format::kFolded) ||
                                         settings.Writes(Format::kPprof)
                                     ? trace
                                     : nothing);
    if (settings.Writes(Format::kFolded) ||
        (options.notes != nullptr && settings.max_frames > 0)) {
      KYMO_RETURN_IF_ERROR(
          WriteFoldedFiles(trace, memory, settings, options, out, names));
      report(0.3);
    }
    if (settings.Writes(Format::kPprof)) {
      KYMO_RETURN_IF_ERROR(stacks::WritePprof(
          trace, memory, static_cast<uint32_t>(settings.max_frames), out,
          names));
      report(0.6);
    }
    if (!settings.Writes(Format::kSpeedscope)) return absl::OkStatus();
    return WriteSpeedscopeFile(trace, settings, options, out, names);
  }

  const SettingTable<Settings> table_ = StacksTable();
  const PluginInfo info_ = {
      .name = "stacks",
      .purpose =
          "stacks for flame graphs, pprof and speedscope "
          "(stacks.folded, .pb.gz, .speedscope.json)",
      .settings = table_.infos(),
      .takes_max_bytes = true,
      .exports_sums = true,
      .files = FileNames(),
  };
};

}  // namespace

std::unique_ptr<TraceExporter> NewStacksExporter() {
  return std::make_unique<StacksExporter>();
}

}  // namespace kymo
