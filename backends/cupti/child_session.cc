#include "backends/cupti/child_session.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cupti/decode/decode.h"
#include "backends/cupti/decode/device_metadata.h"
#include "backends/cupti/decode/remarks.h"
#include "backends/cupti/decode/saved_log.h"
#include "backends/cupti/nvtx_route.h"
#include "backends/cupti/target/injection.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"

namespace kymo::cupti {
namespace {

class ChildSession : public ActivitySession {
 public:
  ChildSession(const CuptiSettings& settings, std::string folder,
               std::string library_paths)
      : settings_(settings),
        folder_(std::move(folder)),
        library_paths_(std::move(library_paths)) {}
  ~ChildSession() override { RemoveLogs(); }

  absl::Status Prepare(TargetSetup* setup) override {
    const char* const other = getenv(kInjectionVariable);
    if (other != nullptr && *other != '\0') {
      return absl::FailedPreconditionError(
          absl::StrCat(kInjectionVariable, " is set to ", other,
                       ": CUDA takes one tool at a time; unset it"));
    }
    if (settings_.capture.flags & kCaptureMarkers) {
      KYMO_RETURN_IF_ERROR(RouteNvtx(library_paths_, setup));
    }
    // CUDA loads the library where the program initialises it; no other program
    // notices.
    setup->libraries.push_back({.variable = kInjectionVariable,
                                .file = kInjectedFile,
                                .next_variable = ""});
    Environment& environment = setup->environment;
    environment[kLogFolderVariable] =
        std::filesystem::absolute(folder_).string();
    environment[kCaptureVariable] =
        absl::StrCat(settings_.capture.flags, ":",
                     settings_.capture.buffer_bytes, ":", settings_.flush_ms);
    environment[kLibraryVariable] = library_paths_;
    return absl::OkStatus();
  }

  // The processes start by themselves, when they initialise CUDA.
  absl::Status Start(pid_t) override {
    started_ns_ = MonotonicNs();
    return absl::OkStatus();
  }
  absl::Status Stop() override { return absl::OkStatus(); }

  DurationNs StopLimitNs() const noexcept override { return kNoStopLimit; }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    std::vector<DecodedLog> decoded;
    std::string problem;
    uint32_t version = 0;
    for (const std::string& path : FindLogs(folder_)) {
      const absl::StatusOr<SavedLog> log = SavedLog::Map(path);
      if (!log.ok() || log->facts().state == LogState::kFailed) {
        problem = log.ok() ? absl::StrCat("process ", log->facts().pid, ": ",
                                          log->facts().problem)
                           : std::string(log.status().message());
        remarks_.push_back(problem);
        shard.ledger.Add(model::Loss::kProcessesNotRecorded, 1);
        continue;
      }
      const LogFacts& facts = log->facts();
      version = std::max(version, facts.cupti_version);
      decoded.push_back(DecodeLog(facts, log->records(),
                                  {.epoch_offset_ns = EpochOffsetNs(),
                                   .with_queries = settings_.with_queries},
                                  shard));
    }
    if (decoded.empty() && !problem.empty()) {
      remarks_.clear();
      return absl::FailedPreconditionError(problem);
    }
    AddDeviceMetadata(decoded, version, shard);
    for (std::string& remark : RemarksOf(decoded, version)) {
      remarks_.push_back(std::move(remark));
    }
    KYMO_RETURN_IF_ERROR(Save());
    return Collected{};
  }

  std::vector<std::string> Remarks() const override { return remarks_; }

 private:
  absl::Status Save() const {
    if (settings_.save_folder.empty()) return absl::OkStatus();
    std::error_code error;
    std::filesystem::create_directories(settings_.save_folder, error);
    for (const std::string& path : FindLogs(folder_)) {
      std::filesystem::copy(path, settings_.save_folder,
                            std::filesystem::copy_options::overwrite_existing,
                            error);
      if (error) {
        return absl::InternalError(absl::StrCat("cannot copy ", path, " to ",
                                                settings_.save_folder, ": ",
                                                error.message()));
      }
    }
    return absl::OkStatus();
  }

  void RemoveLogs() const {
    if (started_ns_ == 0) return;
    std::error_code error;
    for (const std::string& path : FindLogs(folder_)) {
      std::filesystem::remove(path, error);
    }
  }

  const CuptiSettings settings_;
  const std::string folder_;
  const std::string library_paths_;
  int64_t started_ns_ = 0;
  std::vector<std::string> remarks_;
};

}  // namespace

std::unique_ptr<ActivitySession> NewChildSession(
    const CuptiSettings& settings, const std::string& folder,
    const std::string& library_paths) {
  return std::make_unique<ChildSession>(settings, folder, library_paths);
}

}  // namespace kymo::cupti
