#include "backends/sampling/perf_events.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/sampling/perf/perf_attributes.h"
#include "backends/sampling/perf/tracepoint.h"
#include "profiler/base/owned_descriptor.h"

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
constexpr size_t kAllSwitchRingsBytes = size_t{128} << 20;

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
  std::unique_ptr<PerfEvents> events(new PerfEvents);
  events->layout_ = LayoutOf(settings);
  events->knows_lost_ = attr->read_format != 0;
  events->attr_ = *attr;
  if (pid == kAllProcesses) {
    WatchAllProcesses(*attr);
  } else if (pid == kRunningThreads || pid == kOwnThreads) {
    pid == kOwnThreads ? WatchOwnThreads(*attr) : WatchRunningThread(*attr);
    events->attr_ = *attr;
    WatchNothing(*attr);
    pid = 0;
  }
  const std::vector<int> cpus = OnlineCpus();
  const size_t largest_bytes =
      std::clamp(std::bit_floor(kAllRingsBytes / cpus.size()),
                 kSmallestRingBytes, kLargestRingBytes);
  const absl::Status status = events->OpenWithLargestRings(
      settings, *attr, pid, cpus, largest_bytes, kSmallestRingBytes);
  if (!status.ok()) return status;
  return events;
}

absl::Status PerfEvents::ProbeSwitches() {
  return UsableSwitchAttributes(PerfTarget::kProgram).status();
}

absl::StatusOr<std::unique_ptr<PerfEvents>> PerfEvents::OpenSmall(
    const perf_event_attr& attr, pid_t pid, size_t largest_bytes) {
  std::unique_ptr<PerfEvents> events(new PerfEvents);
  events->knows_lost_ = attr.read_format != 0;
  events->attr_ = attr;
  const std::vector<int> cpus = OnlineCpus();
  const absl::Status status = events->OpenWithLargestRings(
      {}, attr, pid, cpus,
      std::clamp(std::bit_floor(kAllSwitchRingsBytes / cpus.size()),
                 kSmallestSwitchRingBytes, largest_bytes),
      kSmallestSwitchRingBytes);
  if (!status.ok()) return status;
  return events;
}

absl::StatusOr<std::unique_ptr<PerfEvents>> PerfEvents::OpenSwitches(
    pid_t pid, PerfTarget target) {
  auto attr = UsableSwitchAttributes(target);
  if (!attr.ok()) return attr.status();
  const perf_event_attr of_threads = *attr;
  if (target == PerfTarget::kAllProcesses) {
    WatchAllProcesses(*attr);
    pid = kAllProcesses;
  } else if (target == PerfTarget::kRunningThreads) {
    WatchNothing(*attr);
    pid = 0;
  }
  auto events = OpenSmall(
      *attr, pid, geteuid() == 0 ? kRootSwitchRingBytes : kUserSwitchRingBytes);
  if (events.ok()) (*events)->attr_ = of_threads;
  return events;
}

absl::Status PerfEvents::ProbeSwitchStacks() {
  return UsableSwitchStackAttributes(PerfTarget::kProgram).status();
}

absl::StatusOr<std::unique_ptr<PerfEvents>> PerfEvents::OpenSwitchStacks(
    pid_t pid, PerfTarget target) {
  auto attr = UsableSwitchStackAttributes(target);
  if (!attr.ok()) return attr.status();
  const perf_event_attr of_threads = *attr;
  if (target == PerfTarget::kRunningThreads) {
    WatchNothing(*attr);
    pid = 0;
  }
  auto events = OpenStacks(*attr, kSwitchStackLayout, pid);
  if (events.ok()) (*events)->attr_ = of_threads;
  return events;
}

absl::StatusOr<std::unique_ptr<PerfEvents>> PerfEvents::OpenWakes(pid_t pid) {
  const auto tracepoint = FindWakeTracepoint();
  if (!tracepoint) return OpenError(EPERM, {});
  constexpr RecordLayout kLayout = RecordLayout::RawRegistersAndStack();
  perf_event_attr attr =
      WakeAttributes(PartsOf(kLayout, kRootSwitchStackBytes), *tracepoint);
  // It is closed once others of its tracepoint are open: to close the last one
  // takes the kernel 20 to 40 ms.
  OwnedDescriptor event;
  const int error = TryEvent(attr, event);
  if (error != 0) return OpenError(error, {});
  return OpenStacks(attr, kLayout, pid);
}

absl::StatusOr<std::unique_ptr<PerfEvents>> PerfEvents::OpenStacks(
    const perf_event_attr& attr, RecordLayout layout, pid_t pid) {
  auto events = OpenSmall(
      attr, pid,
      geteuid() == 0 ? 2 * kRootSwitchRingBytes : kUserSwitchRingBytes);
  if (events.ok()) (*events)->layout_ = layout;
  return events;
}

absl::Status PerfEvents::AlsoWatch(pid_t tid) {
  for (size_t ring = 0; ring < fds_.size(); ++ring) {
    const int fd = OpenEvent(attr_, tid, cpus_[ring]);
    if (fd < 0) {
      if (errno == ENODEV) continue;  // a CPU that went offline
      if (errno != ESRCH) return OpenError(errno, {});
      return absl::NotFoundError(
          absl::StrCat("perf events: thread ", tid, " is gone"));
    }
    more_fds_.push_back({fd, ring, tid});
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, fds_[ring]) != 0) {
      return absl::UnavailableError(absl::StrCat(
          "perf events: threads cannot share a ring: ", strerror(errno)));
    }
  }
  return absl::OkStatus();
}

void PerfEvents::Unwatch(pid_t tid) {
  std::erase_if(more_fds_, [tid](const ThreadEvent& event) {
    if (event.tid == tid) close(event.fd);
    return event.tid == tid;
  });
}

// All rings have one size, because a user may lock only so much memory: what a
// large first ring took would be missing for the last.
absl::Status PerfEvents::OpenWithLargestRings(
    const Settings& settings, const perf_event_attr& attr, pid_t pid,
    const std::vector<int>& cpus, size_t largest_bytes, size_t smallest_bytes) {
  for (size_t bytes = largest_bytes; bytes >= smallest_bytes; bytes /= 2) {
    const absl::Status opened = OpenAll(settings, attr, pid, cpus);
    if (!opened.ok()) return opened;
    if (MapRings(bytes)) return absl::OkStatus();
    // To map an event a second time takes 7 to 15 ms; to open it again, 10 us.
    const int error = errno;
    Close();
    errno = error;
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "perf events: no memory for rings of ", smallest_bytes,
      " bytes: ", strerror(errno),
      "; raise `sysctl kernel.perf_event_mlock_kb` or `ulimit -l`"));
}

absl::Status PerfEvents::OpenAll(const Settings& settings,
                                 const perf_event_attr& attr, pid_t pid,
                                 const std::vector<int>& cpus) {
  // As of WatchNothing.
  watches_nothing_ = attr.disabled != 0 && attr.enable_on_exec == 0;
  for (const int cpu : cpus) {
    const int fd = OpenEvent(attr, pid, cpu);
    if (fd >= 0) {
      fds_.push_back(fd);
      cpus_.push_back(cpu);
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
    if (address == MAP_FAILED) return false;
    mappings_.push_back({address, size_bytes});
    rings_.emplace_back(static_cast<perf_event_mmap_page*>(address),
                        static_cast<const std::byte*>(address) + page_bytes,
                        ring_bytes);
  }
  return true;
}

void PerfEvents::Close() noexcept {
  for (const Mapping& mapping : mappings_) {
    munmap(mapping.address, mapping.size_bytes);
  }
  for (const int fd : fds_) close(fd);
  for (const ThreadEvent& event : more_fds_) close(event.fd);
  mappings_.clear();
  rings_.clear();
  fds_.clear();
  cpus_.clear();
  more_fds_.clear();
}

void PerfEvents::Disable() noexcept {
  for (const int fd : fds_) ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
  for (const ThreadEvent& event : more_fds_) {
    ioctl(event.fd, PERF_EVENT_IOC_DISABLE, 0);
  }
}

void PerfEvents::Pause(size_t ring) noexcept {
  ForRing(ring, PERF_EVENT_IOC_DISABLE);
}

void PerfEvents::Resume(size_t ring) noexcept {
  ForRing(ring, PERF_EVENT_IOC_ENABLE);
}

void PerfEvents::ForRing(size_t ring, unsigned long request) noexcept {
  if (!watches_nothing_) ioctl(fds_[ring], request, 0);
  for (const ThreadEvent& event : more_fds_) {
    if (event.ring == ring) ioctl(event.fd, request, 0);
  }
}

PerfTotals PerfEvents::ReadTotals() const noexcept {
  PerfTotals totals{.knows_lost = knows_lost_};
  const auto add = [&](int fd) {
    uint64_t values[2] = {0, 0};
    if (read(fd, values, sizeof(values)) <= 0) return;
    totals.cpu_time_ns += values[0];
    totals.lost_records += values[1];
  };
  for (const int fd : fds_) add(fd);
  for (const ThreadEvent& event : more_fds_) add(event.fd);
  return totals;
}

}  // namespace kymo::sampling
