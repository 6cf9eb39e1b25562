#include "backends/mpi/mpi_backend.h"

#include <stdlib.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "backends/stream/stream_session.h"
#include "profiler/base/job_rank.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/settings.h"

namespace kymo {
namespace {

struct MpiSettings {
  bool capture = true;
};

SettingTable<MpiSettings> MpiTable() {
  using S = MpiSettings;
  return SettingTable<S>(
      "mpi",
      {{.name = "capture",
        .value = setting::Switch(&S::capture),
        .purpose = "Record calls of MPI if mpirun or srun started the "
                   "command. 0: for programs that have a tool of their own "
                   "before MPI which must come first."}});
}

class MpiBackend : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  std::vector<model::ActivityType> activity_types() const override {
    return {model::ActivityType::kCpuOp, model::ActivityType::kUserAnnotation,
            model::ActivityType::kCpuInstantEvent};
  }

  absl::Status Availability(const SessionOptions& options) const override {
    if (options.target == TargetKind::kChildProcess) return absl::OkStatus();
    return absl::UnimplementedError(
        "a program does not record its own calls of MPI; start it by "
        "kymo profile --activities=cpu,mpi");
  }

  bool IsWanted(const std::set<std::string>& named,
                const SessionOptions& options) const override {
    if (named.contains(info_.name)) return true;
    if (options.target != TargetKind::kChildProcess || !named.empty()) {
      return false;
    }
    const absl::StatusOr<MpiSettings> settings =
        MpiTable().Read(options.settings);
    const std::optional<JobRank> rank = FindJobRank(getenv);
    return settings.ok() && settings->capture && rank && rank->may_use_mpi;
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_ASSIGN_OR_RETURN(const MpiSettings settings,
                          MpiTable().Read(options.settings));
    if (!settings.capture) {
      return absl::InvalidArgumentError(
          "the activity mpi is asked for, and mpi_capture=0 forbids it: leave "
          "one of them out");
    }
    return stream::NewStreamSession(
        options, {.ranges = true,
                  .libraries = {{.variable = kPreloadVariable,
                                 .file = "libkymo_mpi.so"}}});
  }

 private:
  const PluginInfo info_ = {.name = "mpi",
                            .purpose = "calls of MPI, messages and requests",
                            .settings = MpiTable().infos()};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewMpiBackend() {
  return std::make_unique<MpiBackend>();
}

}  // namespace kymo
