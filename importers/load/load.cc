#include "importers/load/load.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "importers/load/find_importer.h"
#include "importers/load/id_space.h"
#include "importers/load/rank_clocks.h"
#include "importers/load/rank_metadata.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/recorded_by.h"
#include "profiler/normalize/normalize.h"

namespace kymo {
namespace {

absl::StatusOr<const TraceImporter*> ImporterOf(
    const std::string& path, const LoadOptions& options,
    const ImporterRegistry& importers) {
  if (options.importer.empty()) return FindImporter(path, importers);
  const TraceImporter* const importer = importers.Find(options.importer);
  if (importer == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("there is no importer '", options.importer,
                     "'; it is one of: ", importers.Names()));
  }
  return importer;
}

std::string_view FileName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// "python3" becomes "rank 3: python3", or "python3 (before.json.gz)".
void NameProcesses(std::string_view path, const std::optional<RankClock>& rank,
                   std::span<model::TraceShard> shards) {
  for (model::TraceShard& shard : shards) {
    for (model::Process& process : shard.processes) {
      const std::string_view name = shard.strings.Get(process.name);
      const std::string_view shown = name.empty() ? FileName(path) : name;
      process.name = shard.strings.Intern(
          rank ? absl::StrCat("rank ", rank->rank, ": ", ToAbsl(shown))
          : name.empty()
              ? std::string(shown)
              : absl::StrCat(ToAbsl(name), " (", ToAbsl(FileName(path)), ")"));
    }
  }
}

class Loader {
 public:
  Loader(const LoadOptions& options, const ImporterRegistry& importers,
         size_t file_count)
      : options_(options), importers_(importers), file_count_(file_count) {}

  absl::Status Add(const std::string& path) {
    KYMO_ASSIGN_OR_RETURN(const TraceImporter* const importer,
                          ImporterOf(path, options_, importers_));
    absl::StatusOr<ImportedTrace> imported =
        importer->Import(path, options_.import);
    if (!imported.ok()) return WithPath(path, imported.status());
    std::optional<int64_t> rank;
    LoadedFile& file = files_.emplace_back();
    file.path = path;
    file.importer = importer->info().name;
    file.findings = std::move(imported->findings);
    if (file_count_ > 1) {
      file.pids = ids_.Separate(imported->shards);
      const std::optional<RankClock> clock = FindRankClock(imported->shards);
      NameProcesses(path, clock, imported->shards);
      rank = RankOf(clock, imported->shards);
    }
    all_of_pytorch_ =
        all_of_pytorch_ &&
        std::any_of(
            imported->shards.begin(), imported->shards.end(),
            [](const auto& shard) { return model::IsOfPyTorch(shard); });
    windows_.push_back({.start_ns = imported->start_ns,
                        .end_ns = imported->end_ns,
                        .rank = rank,
                        .shards_begin = shards_.size(),
                        .shards_count = imported->shards.size()});
    std::move(imported->shards.begin(), imported->shards.end(),
              std::back_inserter(shards_));
    return absl::OkStatus();
  }

  absl::StatusOr<LoadedTrace> Finish() {
    const auto separate = FindSeparate();
    if (file_count_ > 1) Align();
    if (!all_of_pytorch_) {
      for (model::TraceShard& shard : shards_) model::UnmarkAsPyTorchs(shard);
    }
    KYMO_ASSIGN_OR_RETURN(model::Trace trace,
                          Normalize(std::move(shards_), WholeWindow()));
    return LoadedTrace{std::move(trace), std::move(files_), separate};
  }

 private:
  static absl::Status WithPath(const std::string& path,
                               const absl::Status& status) {
    const std::string_view message = ToStd(status.message());
    if (message.find(path) != message.npos) return status;
    return absl::Status(status.code(),
                        absl::StrCat(path, ": ", status.message()));
  }

  // The window and the shards of one file.
  struct FileWindow {
    TimeNs start_ns = 0;  // both 0: the file does not say
    TimeNs end_ns = 0;
    std::optional<int64_t> rank;
    size_t shards_begin = 0;  // into shards_
    size_t shards_count = 0;
  };

  static std::optional<int64_t> RankOf(
      const std::optional<RankClock>& clock,
      std::span<const model::TraceShard> shards) {
    if (clock) return clock->rank;
    const std::optional<RankMetadata> told = FindRankMetadata(shards);
    return told ? std::optional(told->rank) : std::nullopt;
  }

  // As the clocks of the files say: those of ranks may differ.
  std::optional<std::pair<size_t, size_t>> FindSeparate() const {
    for (size_t b = 1; b < windows_.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        const FileWindow& x = windows_[a];
        const FileWindow& y = windows_[b];
        const bool say_their_times = x.end_ns != 0 && y.end_ns != 0;
        if (say_their_times && (!x.rank || !y.rank || x.rank == y.rank) &&
            (x.end_ns < y.start_ns || y.end_ns < x.start_ns)) {
          return std::pair(a, b);
        }
      }
    }
    return std::nullopt;
  }

  void Align() {
    std::vector<RankFile> files;
    for (size_t i = 0; i < windows_.size(); ++i) {
      FileWindow& window = windows_[i];
      files.push_back({.shards = std::span(shards_).subspan(
                           window.shards_begin, window.shards_count),
                       .findings = &files_[i].findings,
                       .start_ns = &window.start_ns,
                       .end_ns = &window.end_ns});
    }
    for (model::TraceShard& shard : AlignRanks(files)) {
      shards_.push_back(std::move(shard));
    }
  }

  // That of the first event to that of the last, if a file does not say its
  // own.
  NormalizeOptions WholeWindow() const {
    NormalizeOptions whole = {.start_ns = windows_.front().start_ns,
                              .end_ns = windows_.front().end_ns};
    for (const FileWindow& window : windows_) {
      if (window.start_ns == 0 && window.end_ns == 0) return {};
      whole.start_ns = std::min(whole.start_ns, window.start_ns);
      whole.end_ns = std::max(whole.end_ns, window.end_ns);
    }
    return whole;
  }

  const LoadOptions& options_;
  const ImporterRegistry& importers_;
  const size_t file_count_;
  IdSpace ids_;
  bool all_of_pytorch_ = true;
  std::vector<FileWindow> windows_;  // by file, as files_
  std::vector<model::TraceShard> shards_;
  std::vector<LoadedFile> files_;
};

}  // namespace

absl::StatusOr<LoadedTrace> Load(const std::vector<std::string>& paths,
                                 const LoadOptions& options,
                                 const ImporterRegistry& importers) {
  Loader loader(options, importers, paths.size());
  for (const std::string& path : paths) {
    KYMO_RETURN_IF_ERROR(loader.Add(path));
  }
  return loader.Finish();
}

absl::StatusOr<std::optional<LargeTrace>> OpenLarge(
    const std::string& path, const LoadOptions& options,
    const ImporterRegistry& importers) {
  KYMO_ASSIGN_OR_RETURN(const TraceImporter* const importer,
                        ImporterOf(path, options, importers));
  return importer->OpenLarge(path, options.import);
}

}  // namespace kymo
