#include "backends/off_cpu/off_cpu_backend.h"

#include <unistd.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/off_cpu/off_cpu_session.h"
#include "backends/sampling/elf_program.h"
#include "backends/sampling/perf_events.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

class OffCpuBackend final : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  // Thread times are no events.
  std::vector<model::ActivityType> activity_types() const override {
    return {};
  }

  absl::Status Availability(const SessionOptions& options) const override {
    if (options.target != TargetKind::kChildProcess) {
      return absl::FailedPreconditionError(
          "off_cpu watches a program from outside: start it with "
          "`bazel run //tools:profile -- --activities=off_cpu PROGRAM`");
    }
    // The kernel ends the events of an ordinary user at such a program's exec.
    if (geteuid() != 0 && !options.target_path.empty() &&
        sampling::InspectProgram(options.target_path).changes_user) {
      return absl::FailedPreconditionError(
          absl::StrCat(options.target_path,
                       " is set-uid or set-gid: only root may watch it; run "
                       "the command as root"));
    }
    return sampling::PerfEvents::ProbeSwitches();
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_RETURN_IF_ERROR(Availability(options));
    return off_cpu::NewOffCpuSession();
  }

 private:
  const PluginInfo info_ = {
      .name = "off_cpu",
      .purpose = "how long each thread ran, waited for a CPU and was blocked",
      .on_request = true};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewOffCpuBackend() {
  return std::make_unique<OffCpuBackend>();
}

}  // namespace kymo
