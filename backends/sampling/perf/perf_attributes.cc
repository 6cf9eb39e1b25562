#include "backends/sampling/perf/perf_attributes.h"

#include <time.h>

namespace kymo::sampling {
namespace {

// Not in the oldest kernel headers that we build with.
#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4)
#endif

perf_event_attr MakeAttributes(perf_sw_ids event, const SampleParts& parts,
                               bool kernel) {
  perf_event_attr attr{};
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = event;
  attr.sample_type = parts.sample_type;
  attr.sample_regs_user = parts.sample_regs_user;
  attr.sample_stack_user = parts.sample_stack_user;
  attr.read_format = PERF_FORMAT_LOST;
  attr.disabled = 1;
  attr.enable_on_exec = 1;
  attr.inherit = 1;
  attr.exclude_kernel = kernel ? 0 : 1;
  attr.exclude_hv = 1;
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

}  // namespace

perf_event_attr SampleAttributes(const SampleParts& parts, uint64_t period_ns,
                                 bool kernel) {
  perf_event_attr attr =
      MakeAttributes(PERF_COUNT_SW_TASK_CLOCK, parts, kernel);
  attr.sample_period = period_ns;
  attr.exclude_callchain_kernel = 1;
  return attr;
}

void WakeAtEachSample(perf_event_attr& attr) {
  attr.watermark = 0;
  attr.wakeup_events = 1;
}

perf_event_attr SwitchAttributes(uint64_t sample_type) {
  // Switches are recorded although they happen in the kernel.
  perf_event_attr attr =
      MakeAttributes(PERF_COUNT_SW_DUMMY, {.sample_type = sample_type},
                     /*kernel=*/false);
  attr.context_switch = 1;
  return attr;
}

perf_event_attr SwitchStackAttributes(const SampleParts& parts) {
  perf_event_attr attr =
      MakeAttributes(PERF_COUNT_SW_CONTEXT_SWITCHES, parts, /*kernel=*/true);
  // Each one. By frequency, the kernel misses many: two switches in a row make
  // its period longer, and it stays so while a thread waits.
  attr.sample_period = 1;
  attr.exclude_callchain_user = 1;
  // The records of switches come with those.
  attr.mmap = attr.mmap2 = attr.build_id = 0;
  attr.comm = attr.comm_exec = attr.task = 0;
  return attr;
}

perf_event_attr WakeAttributes(const SampleParts& parts, uint64_t tracepoint) {
  perf_event_attr attr = SwitchStackAttributes(parts);
  attr.type = PERF_TYPE_TRACEPOINT;
  attr.config = tracepoint;
  return attr;
}

void WatchOwnThreads(perf_event_attr& attr) {
  attr.disabled = 0;
  attr.enable_on_exec = 0;
  attr.inherit_thread = 1;
}

void WatchRunningThread(perf_event_attr& attr) {
  attr.disabled = 0;
  attr.enable_on_exec = 0;
}

void WatchNothing(perf_event_attr& attr) {
  attr.disabled = 1;
  attr.enable_on_exec = 0;
  attr.inherit = 0;
  attr.inherit_thread = 0;
}

void WatchAllProcesses(perf_event_attr& attr) {
  if (attr.config == PERF_COUNT_SW_TASK_CLOCK) {
    attr.config = PERF_COUNT_SW_CPU_CLOCK;
    // Not a divisor of the kernel's tick. What begins at ticks, as a slice of
    // time on a busy machine does, would else be seen always or never.
    attr.sample_period -= attr.sample_period / 128;
  }
  attr.disabled = 0;
  attr.enable_on_exec = 0;
  attr.inherit = 0;
  attr.exclude_idle = 1;
}

}  // namespace kymo::sampling
