#include "backends/sampling/perf_events.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "profiler/base/descriptor.h"

namespace kymo::sampling {
namespace {

constexpr size_t kLargestRingBytes = size_t{8} << 20;
constexpr size_t kSmallestRingBytes = size_t{128} << 10;
constexpr size_t kAllRingsBytes = size_t{512} << 20;

// A record of a switch has 32 bytes, and the collector reads the rings every
// 5 ms. So the smallest is enough for 100,000 hand-overs of a CPU in a second,
// unless the collector waits for a CPU. What is lost is counted.
constexpr size_t kSmallestSwitchRingBytes = size_t{64} << 10;
// The memory that a user may lock is for the sampler's rings, too.
constexpr size_t kUserSwitchRingBytes = size_t{128} << 10;
constexpr size_t kRootSwitchRingBytes = size_t{1} << 20;

// Not in the oldest kernel headers that we build with.
#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

int OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu) noexcept {
  return AboveStandardStreams(static_cast<int>(
      syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
}

perf_event_attr MakeAttributes(const Settings& settings, bool kernel) {
  const RecordLayout layout = settings.unwind == UnwindMode::kDwarf
                                  ? RecordLayout::RegistersAndStack()
                                  : RecordLayout::Callchain();
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_TASK_CLOCK;
  attr.sample_period = static_cast<uint64_t>(settings.period_ns);
  attr.sample_type = layout.sample_type();
  if (layout.has_registers_and_stack) {
    attr.sample_regs_user = kSampledRegisterMask;
    attr.sample_stack_user =
        settings.stack_bytes != 0 ? settings.stack_bytes : kMaxStackBytes;
  }
  attr.read_format = PERF_FORMAT_LOST;
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  attr.inherit = 1;
  attr.exclude_kernel = kernel ? 0 : 1;
  attr.exclude_hv = 1;
  attr.exclude_callchain_kernel = 1;
  attr.mmap = 1;
  attr.mmap2 = 1;
  attr.build_id = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;  // a mark that is never reached: no wake-ups
  attr.wakeup_watermark = uint32_t{1} << 31;
  return attr;
}

perf_event_attr SwitchAttributes() {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.sample_type = RecordLayout().sample_type();
  attr.read_format = PERF_FORMAT_LOST;
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  attr.inherit = 1;
  attr.exclude_kernel = 1;  // switches are recorded nevertheless
  attr.exclude_hv = 1;
  attr.context_switch = 1;
  attr.comm = 1;
  attr.comm_exec = 1;
  attr.task = 1;
  attr.sample_id_all = 1;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.watermark = 1;  // a mark that is never reached: no wake-ups
  attr.wakeup_watermark = uint32_t{1} << 31;
  return attr;
}

// Makes of the event of a process one of all that a CPU runs.
void WatchAllProcesses(perf_event_attr& attr) {
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  // Not a divisor of the kernel's tick. What begins at ticks, as a slice of
  // time on a busy machine does, would else be seen always or never.
  attr.sample_period -= attr.sample_period / 128;
  attr.disabled = 0;
  attr.enable_on_exec = 0;
  attr.inherit = 0;
  attr.exclude_idle = 1;
}

// Removes one feature that older kernels do not know (lost counts: 6.0, build
// ids: 5.12). False if there is nothing left to remove.
bool Simplify(perf_event_attr& attr) {
  if (attr.read_format != 0) {
    attr.read_format = 0;
  } else if (attr.build_id) {
    attr.build_id = 0;
  } else {
    return false;
  }
  return true;
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

// The attributes with which this process can open the event on itself.
absl::StatusOr<perf_event_attr> UsableAttributes(const Settings& settings) {
  int error = 0;
  for (const bool kernel : {true, false}) {
    perf_event_attr attr = MakeAttributes(settings, kernel);
    do {
      const int fd = OpenEvent(attr, /*pid=*/0, /*cpu=*/-1);
      if (fd >= 0) {
        close(fd);
        return attr;
      }
      error = errno;
    } while ((error == EINVAL || error == E2BIG) && Simplify(attr));
    if (error != EACCES && error != EPERM) break;
  }
  return OpenError(error, settings);
}

// The same of switches.
absl::StatusOr<perf_event_attr> UsableSwitchAttributes() {
  perf_event_attr attr = SwitchAttributes();
  do {
    const int fd = OpenEvent(attr, /*pid=*/0, /*cpu=*/-1);
    if (fd >= 0) {
      close(fd);
      return attr;
    }
  } while ((errno == EINVAL || errno == E2BIG) && Simplify(attr));
  if (errno == EINVAL || errno == E2BIG) {
    return absl::UnavailableError(
        "this kernel does not record switches of threads; Linux does since "
        "4.3");
  }
  return OpenError(errno, {});
}

// Reads lists such as "0-3,8".
std::vector<int> OnlineCpus() {
  std::ifstream file("/sys/devices/system/cpu/online");
  std::vector<int> cpus;
  int first;
  while (file >> first) {
    int last = first;
    if (file.peek() == '-') file.ignore() >> last;
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (file.peek() == ',') file.ignore();
  }
  if (cpus.empty()) {
    for (int i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); ++i) cpus.push_back(i);
  }
  return cpus;
}

}  // namespace

PerfRules ReadPerfRules() {
  PerfRules rules;
  std::ifstream paranoid("/proc/sys/kernel/perf_event_paranoid");
  int level = 0;
  if (paranoid >> level) rules.paranoid = level;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    // 2: a filter decides on each system call (proc(5)).
    if (line == "Seccomp:\t2") rules.has_filter = true;
  }
  rules.is_root = geteuid() == 0;
  return rules;
}

std::string PerfRefusal(int error, const PerfRules& rules) {
  if (rules.has_filter && (error == EPERM || error == ENOSYS)) {
    return "a seccomp filter forbids it, whatever perf_event_paranoid is; "
           "start the container with --cap-add=PERFMON, or with "
           "--security-opt=seccomp=unconfined";
  }
  if (error == ENOSYS || error == ENOENT || error == EOPNOTSUPP) {
    return "this kernel has no perf events of software clocks";
  }
  const std::string text =
      absl::StrCat("perf_event_paranoid is ", rules.paranoid, "; ");
  // A level that already permits it: a security module forbids it, for example.
  if (rules.paranoid <= 1) {
    return absl::StrCat(text,
                        "that permits it, so another rule of this machine "
                        "forbids it (a security module, a container)");
  }
  // The kernel does not ask root, so this is root of a container.
  return absl::StrCat(
      text, "run `sysctl kernel.perf_event_paranoid=1` ",
      rules.is_root
          ? "on the host, or start this container with --cap-add=PERFMON"
          : "as root, or give the command CAP_PERFMON");
}

absl::StatusOr<PerfAccess> ProbePerf(const Settings& settings) {
  const auto attr = UsableAttributes(settings);
  if (!attr.ok()) return attr.status();
  return PerfAccess{.kernel = attr->exclude_kernel == 0};
}

uint32_t AutoStackBytes(size_t ring_bytes) {
  constexpr size_t kSamplesInRing = 30;
  constexpr size_t kLeast = 16384;
  const size_t bytes = ring_bytes / kSamplesInRing / 8 * 8;
  return static_cast<uint32_t>(
      std::clamp<size_t>(bytes, kLeast, kMaxStackBytes));
}

absl::StatusOr<std::unique_ptr<PerfEvents>> PerfEvents::Open(
    const Settings& settings, pid_t pid) {
  if (settings.stack_bytes != 0) return OpenWith(settings, pid);
  // How much memory the rings may have shows only when they are made.
  Settings chosen = settings;
  chosen.stack_bytes = kMaxStackBytes;
  auto events = OpenWith(chosen, pid);
  if (!events.ok() || (*events)->rings().empty()) return events;
  chosen.stack_bytes = AutoStackBytes((*events)->rings()[0].size_bytes());
  if (chosen.stack_bytes == kMaxStackBytes) return events;
  *events = nullptr;  // gives back the memory
  return OpenWith(chosen, pid);
}

absl::StatusOr<std::unique_ptr<PerfEvents>> PerfEvents::OpenWith(
    const Settings& settings, pid_t pid) {
  auto attr = UsableAttributes(settings);
  if (!attr.ok()) return attr.status();
  if (pid == kAllProcesses) WatchAllProcesses(*attr);
  std::unique_ptr<PerfEvents> events(new PerfEvents);
  events->layout_ = settings.unwind == UnwindMode::kDwarf
                        ? RecordLayout::RegistersAndStack()
                        : RecordLayout::Callchain();
  events->knows_lost_ = attr->read_format != 0;
  const std::vector<int> cpus = OnlineCpus();
  const absl::Status opened = events->OpenAll(settings, *attr, pid, cpus);
  if (!opened.ok()) return opened;
  // All rings have one size, because a user may lock only so much memory: what
  // a large first ring took would be missing for the last.
  const size_t largest_bytes =
      std::clamp(std::bit_floor(kAllRingsBytes / cpus.size()),
                 kSmallestRingBytes, kLargestRingBytes);
  const absl::Status mapped =
      events->MapLargestRings(largest_bytes, kSmallestRingBytes);
  if (!mapped.ok()) return mapped;
  return events;
}

absl::Status PerfEvents::ProbeSwitches() {
  return UsableSwitchAttributes().status();
}

absl::StatusOr<std::unique_ptr<PerfEvents>> PerfEvents::OpenSwitches(
    pid_t pid) {
  const auto attr = UsableSwitchAttributes();
  if (!attr.ok()) return attr.status();
  std::unique_ptr<PerfEvents> events(new PerfEvents);
  events->knows_lost_ = attr->read_format != 0;
  absl::Status status = events->OpenAll({}, *attr, pid, OnlineCpus());
  if (status.ok()) {
    status = events->MapLargestRings(
        geteuid() == 0 ? kRootSwitchRingBytes : kUserSwitchRingBytes,
        kSmallestSwitchRingBytes);
  }
  if (!status.ok()) return status;
  return events;
}

absl::Status PerfEvents::MapLargestRings(size_t largest_bytes,
                                         size_t smallest_bytes) {
  for (size_t bytes = largest_bytes; bytes >= smallest_bytes; bytes /= 2) {
    if (MapRings(bytes)) return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "perf events: no memory for rings of ", smallest_bytes,
      " bytes: ", strerror(errno),
      "; raise `sysctl kernel.perf_event_mlock_kb` or `ulimit -l`"));
}

absl::Status PerfEvents::OpenAll(const Settings& settings, perf_event_attr attr,
                                 pid_t pid, const std::vector<int>& cpus) {
  for (const int cpu : cpus) {
    const int fd = OpenEvent(attr, pid, cpu);
    if (fd >= 0) {
      fds_.push_back(fd);
    } else if (errno == ESRCH) {
      return absl::NotFoundError(
          absl::StrCat("perf events: process ", pid, " is gone"));
    } else if (errno != ENODEV) {  // a CPU that went offline
      return OpenError(errno, settings);
    }
  }
  return absl::OkStatus();
}

bool PerfEvents::MapRings(size_t ring_bytes) {
  const auto page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t size_bytes = page_bytes + ring_bytes;
  for (const int fd : fds_) {
    void* const address =
        mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (address == MAP_FAILED) {
      const int error = errno;
      Unmap();
      errno = error;
      return false;
    }
    mappings_.push_back({address, size_bytes});
    rings_.emplace_back(static_cast<perf_event_mmap_page*>(address),
                        static_cast<const std::byte*>(address) + page_bytes,
                        ring_bytes);
  }
  return true;
}

void PerfEvents::Unmap() noexcept {
  for (const Mapping& mapping : mappings_) {
    munmap(mapping.address, mapping.size_bytes);
  }
  mappings_.clear();
  rings_.clear();
}

PerfEvents::~PerfEvents() {
  Unmap();
  for (const int fd : fds_) close(fd);
}

void PerfEvents::Disable() noexcept {
  for (const int fd : fds_) ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

PerfTotals PerfEvents::ReadTotals() const noexcept {
  PerfTotals totals{.knows_lost = knows_lost_};
  for (const int fd : fds_) {
    uint64_t values[2] = {0, 0};
    if (read(fd, values, sizeof(values)) <= 0) continue;
    totals.cpu_time_ns += values[0];
    totals.lost_records += values[1];
  }
  return totals;
}

}  // namespace kymo::sampling
