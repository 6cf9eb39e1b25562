#include "backends/sampling/perf/cpu_watch.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <iterator>
#include <system_error>
#include <utility>

#include "backends/sampling/perf/go_first.h"
#include "profiler/base/descriptor.h"

namespace kymo::sampling {
namespace {

void StayOn(int cpu) {
  cpu_set_t* const set = CPU_ALLOC(static_cast<size_t>(cpu) + 1);
  if (set == nullptr) return;
  const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(cpu) + 1);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(static_cast<size_t>(cpu), bytes, set);
  // Not permitted: the target may not run there, either.
  (void)sched_setaffinity(0, bytes, set);
  CPU_FREE(set);
}

}  // namespace

bool CpuWatch::Start(std::vector<Cpu> cpus) {
  end_ = OwnedDescriptor(
      AboveStandardStreams(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  if (end_.get() < 0) return false;
  try {
    for (Cpu& cpu : cpus) {
      threads_.emplace_back([this, cpu = std::move(cpu)] { Run(cpu); });
    }
  } catch (const std::system_error&) {
    Stop();  // no thread
  }
  return is_running();
}

void CpuWatch::Stop() {
  if (!is_running()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(end_.get(), &one, sizeof(one));
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void CpuWatch::Run(const Cpu& cpu) const {
  StayOn(cpu.cpu);
  GoFirst();
  for (;;) {
    pollfd waited[] = {{end_.get(), POLLIN, 0}, {cpu.descriptor, POLLIN, 0}};
    poll(waited, std::size(waited), -1);
    if (waited[0].revents != 0) return;
    cpu.look();
    // Without its processes, an event is ready at all times.
    if ((waited[1].revents & ~POLLIN) != 0) return;
  }
}

}  // namespace kymo::sampling
