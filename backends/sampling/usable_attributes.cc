#include "backends/sampling/usable_attributes.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/sampling/perf/perf_rules.h"
#include "profiler/base/descriptor.h"

namespace kymo::sampling {
namespace {

// Removes one feature that older kernels do not know (lost counts: 6.0, events
// for threads alone: 5.13, build ids: 5.12). False if there is nothing left to
// remove.
bool Simplify(perf_event_attr& attr) {
  if (attr.read_format != 0) {
    attr.read_format = 0;
  } else if (attr.inherit_thread) {
    attr.inherit_thread = 0;
  } else if (attr.build_id) {
    attr.build_id = 0;
  } else {
    return false;
  }
  return true;
}

void SetTarget(PerfTarget target, perf_event_attr& attr) {
  switch (target) {
    case PerfTarget::kProgram:
    case PerfTarget::kAllProcesses:  // tried on this process
      break;
    case PerfTarget::kThreadOfThisProcess:
      WatchOwnThreads(attr);
      break;
    case PerfTarget::kRunningThreads:
      WatchRunningThread(attr);
      break;
  }
}

}  // namespace

RecordLayout LayoutOf(const Settings& settings) {
  return settings.unwind == UnwindMode::kDwarf
             ? RecordLayout::RegistersAndStack()
             : RecordLayout::Callchain();
}

SampleParts PartsOf(RecordLayout layout, uint32_t stack_bytes) {
  SampleParts parts = {.sample_type = layout.sample_type()};
  if (layout.has_registers_and_stack) {
    parts.sample_regs_user = kSampledRegisterMask;
    parts.sample_stack_user = stack_bytes;
  }
  return parts;
}

int OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu) noexcept {
  return AboveStandardStreams(static_cast<int>(
      syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

absl::Status OpenError(int error, const Settings& settings) {
  const bool is_missing =
      error == ENOSYS || error == ENOENT || error == EOPNOTSUPP;
  if (error == EACCES || error == EPERM || is_missing) {
    const std::string text = absl::StrCat("perf_event_open is not permitted: ",
                                          PerfRefusal(error, ReadPerfRules()));
    return is_missing ? absl::UnavailableError(text)
                      : absl::PermissionDeniedError(text);
  }
  if (error == EMFILE) {
    return absl::ResourceExhaustedError(
        "perf_event_open: too many open files, one is needed per CPU: raise "
        "`ulimit -n`");
  }
  return absl::UnavailableError(absl::StrCat(
      "perf_event_open: ", strerror(error), " (period ", settings.period_ns,
      " ns, stack_bytes ", settings.stack_bytes, ")"));
}

int TryEvent(perf_event_attr& attr) {
  OwnedDescriptor event;
  return TryEvent(attr, event);
}

int TryEvent(perf_event_attr& attr, OwnedDescriptor& event) {
  for (;;) {
    event = OwnedDescriptor(OpenEvent(attr, /*pid=*/0, /*cpu=*/-1));
    if (event.is_open()) return 0;
    const int error = errno;
    if ((error != EINVAL && error != E2BIG) || !Simplify(attr)) return error;
  }
}

absl::StatusOr<perf_event_attr> UsableAttributes(const Settings& settings) {
  int error = 0;
  for (const bool kernel : {true, false}) {
    perf_event_attr attr =
        SampleAttributes(PartsOf(LayoutOf(settings), settings.stack_bytes != 0
                                                         ? settings.stack_bytes
                                                         : kMaxStackBytes),
                         static_cast<uint64_t>(settings.period_ns), kernel);
    if (settings.reads_python) WakeAtEachSample(attr);
    error = TryEvent(attr);
    if (error == 0) return attr;
    if (error != EACCES && error != EPERM) break;
  }
  return OpenError(error, settings);
}

absl::StatusOr<perf_event_attr> UsableSwitchAttributes(PerfTarget target) {
  perf_event_attr attr = SwitchAttributes(RecordLayout().sample_type());
  SetTarget(target, attr);
  const int error = TryEvent(attr);
  if (error == 0) return attr;
  if (error == EINVAL || error == E2BIG) {
    return absl::UnavailableError(
        "this kernel does not record switches of threads; Linux does since "
        "4.3");
  }
  return OpenError(error, {});
}

absl::StatusOr<perf_event_attr> UsableSwitchStackAttributes(PerfTarget target) {
  perf_event_attr attr = SwitchStackAttributes(
      PartsOf(kSwitchStackLayout,
              geteuid() == 0 ? kRootSwitchStackBytes : kUserSwitchStackBytes));
  SetTarget(target, attr);
  const int error = TryEvent(attr);
  if (error != 0) return OpenError(error, {});
  return attr;
}

}  // namespace kymo::sampling
