#include "backends/off_cpu/off_cpu_backend.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/off_cpu/calls/wait_ring_reader.h"
#include "backends/off_cpu/off_cpu_session.h"
#include "backends/off_cpu/own/own_session.h"
#include "backends/off_cpu/running/running_processes.h"
#include "backends/off_cpu/totals_session.h"
#include "backends/sampling/elf_program.h"
#include "backends/sampling/perf_events.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

// What Yama (kernel.yama.ptrace_scope) or another rule keeps from this user.
std::string LookLimitation(const RunningTarget& running) {
  for (const pid_t pid : running.pids) {
    const std::string file = absl::StrCat("/proc/", pid, "/syscall");
    const int fd =
        AboveStandardStreams(open(file.c_str(), O_RDONLY | O_CLOEXEC));
    char text[16];
    const bool is_refused = (fd < 0 || read(fd, text, sizeof(text)) < 0) &&
                            (errno == EACCES || errno == EPERM);
    if (fd >= 0) close(fd);
    if (!is_refused) continue;
    const char* help = "; run the command as root";
    if (geteuid() == 0) {
      help = ", as it has rights that this command lacks";
    } else if (access("/proc/sys/kernel/yama/ptrace_scope", F_OK) == 0) {
      help =
          "; run the command as root, or set `sysctl "
          "kernel.yama.ptrace_scope=0`";
    }
    return absl::StrCat(
        "where threads wait is not recorded, only for how long: process ", pid,
        " may not be looked into", help);
  }
  return {};
}

// Whether the kernel records the target's switches for this user.
absl::Status CheckSwitches(const SessionOptions& options) {
  KYMO_RETURN_IF_ERROR(sampling::PerfEvents::ProbeSwitches());
  return options.target == TargetKind::kRunningProcesses
             ? off_cpu::CheckProcesses(options.running)
             : absl::OkStatus();
}

class OffCpuBackend final : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  // Thread times are no events.
  std::vector<model::ActivityType> activity_types() const override {
    return {};
  }

  // A program is watched by default, but not the process of a session.
  bool IsWanted(const std::set<std::string>& named,
                const SessionOptions& options) const override {
    return named.contains(info_.name) ||
           (named.empty() && options.target != TargetKind::kThisProcess);
  }

  bool CanAttach() const override { return true; }

  absl::Status Availability(const SessionOptions& options) const override {
    if (options.target == TargetKind::kThisProcess) return absl::OkStatus();
    // This is asked some time before the program starts.
    off_cpu::WaitRingReader::BeginClock();
    const std::string obstacle =
        sampling::ObstacleToEvents(options.target_path);
    if (!obstacle.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat(options.target_path, " ", obstacle));
    }
    return absl::OkStatus();
  }

  std::string Limitation(const SessionOptions& options) const override {
    const absl::Status status = CheckSwitches(options);
    if (status.ok()) return LookLimitation(options.running);
    return absl::StrCat(
        "only the total times of threads are recorded, not their waits: ",
        status.message());
  }

  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    KYMO_RETURN_IF_ERROR(Availability(options));
    if (options.target == TargetKind::kThisProcess) {
      return off_cpu::NewOwnSession();
    }
    const bool has_switches = CheckSwitches(options).ok();
    if (options.target == TargetKind::kRunningProcesses) {
      // There are no hooks: only samples see short waits. They are not
      // permitted to everybody.
      return has_switches
                 ? off_cpu::NewOffCpuSession(
                       off_cpu::StackSource::kSamplesAndLooks, options.running)
                 : off_cpu::NewTotalsSession(options.running);
    }
    if (!has_switches) {
      return off_cpu::NewTotalsSession();
    }
    const bool has_looks_only =
        options.is_default && sampling::HooksSeeWaits(options.target_path);
    return off_cpu::NewOffCpuSession(
        has_looks_only ? off_cpu::StackSource::kLooks
                       : off_cpu::StackSource::kSamplesAndLooks);
  }

 private:
  const PluginInfo info_ = {
      .name = "off_cpu",
      .purpose = "how long each thread ran, waited for a CPU and was blocked"};
};

}  // namespace

std::unique_ptr<ActivityBackend> NewOffCpuBackend() {
  return std::make_unique<OffCpuBackend>();
}

}  // namespace kymo
