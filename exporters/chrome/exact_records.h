// exact_records.h - members of the file that hold what traceEvents cannot.
//
//   const ExactRecords exact(trace, rows, base_ns, /*with_heap=*/true);
//   exact.StackNumber(record.stack);              // in an element's args
//   KYMO_RETURN_IF_ERROR(exact.Write(sink));      // behind traceEvents
//
// A flame chart shows samples to people. It does not tell when each sample was
// taken, what it weighs, and in which line it hit. Elements have no place for
// the stack of an allocation either. Kymo reads these members back
// (importers/chrome/exact_records.h); other readers pass over them:
//
//   "kymo_records_0": {"sampling_period_ns":1000000,
//     "memory_sample_interval":0,
//     "names":["main","a.cc"],           0 is the empty name, these are 1, 2...
//     "frames":[[1,2,0,7,4660,0]],       function, file, module, line, address,
//                                        flags (kFrameInlined and so on)
//     "stacks":[[0,0]],                  the stack around it, the frame; 0 is
//                                        the empty stack, these are 1, 2...
//     "rows":[[7,1000000000]],           pid, tid
//     "samples":[[0,1500,1000000,1]],    row, ns after the base, weight, stack
//     "allocations":[[7,7,3,2,4096]],    pid, tid, allocations, frees, bytes
//     "cpu_count":2,                     profiler/model/thread_states.h:
//     "cpu_limits":[[50000000,100000000,80,41,3000000000]],
//                                        quota, period, periods, throttled
//                                        periods, throttled time; none or one
//     "kymo_cpu_ns":400,
//     "threads":[[7,8,900,500,90,0,0,8,2,1,5100,6000,7,7]],
//                                        pid, tid, wall, on CPU, runnable,
//                                        unknown, open wait, voluntary and
//                                        involuntary switches, RunQueueTime,
//                                        begin and end since the epoch (0: not
//                                        known), pid and tid of the thread that
//                                        made it (0, 0: not known)
//     "min_wait_ns":100000,              profiler/model/waits.h:
//     "wait_rows":[[7,8]],               pid, tid
//     "sample_sums":[[0,1,500,90]],      samples that are only added up: row of
//                                        wait_rows, stack, count, weight
//     "parents":[[8,7]],                 of several processes: pid, pid of the
//                                        one that started it
//     "programs":[[8,0],[8,900]],        where an exec ended blocks of memory:
//                                        pid, ns after the base at which its
//                                        first and each later program began
//     "waits":[[0,1,0,1500,90,8,1,4660,3,1,5,1,6]],
//                                        row, WaitKind, 1 if it is open, ns
//                                        after the base, duration, 1 + runnable
//                                        (0: not known), stack, object, name,
//                                        1 + the waker's row (0: not known),
//                                        its stack, the same of the holder
//     "short_waits":[[0,1,1,4660,3,2,150,80]]},
//                                        row, WaitKind, stack, object, name,
//                                        count, duration, longest
//
// A member has about 1 MiB. The next one, "kymo_records_1", goes on with the
// lists; numbers count through.
#ifndef KYMO_EXPORTERS_CHROME_EXACT_RECORDS_H_
#define KYMO_EXPORTERS_CHROME_EXACT_RECORDS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "exporters/chrome/rows.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"

namespace kymo::chrome {

inline constexpr std::string_view kExactRecords = "kymo_records_";

enum FrameFlag : uint32_t {
  kFrameInlined = 1,
  kFrameKernel = 2,
  kFrameUnresolved = 4,
};

class ExactRecords {
 public:
  // `base_ns` is the zero of the file's times. Without `with_heap`, the records
  // of the heap are not in the file. `trace` and `rows` must outlive the
  // object.
  ExactRecords(const model::Trace& trace, const Rows& rows, TimeNs base_ns,
               bool with_heap);

  // The number of a stack of samples, waits or memory records. 0: empty.
  uint32_t StackNumber(model::StackId stack) const {
    return numbers_[Index(stack)];
  }

  // Writes members, `"key": value,\n` each, or nothing.
  absl::Status Write(ByteSink& sink) const;

 private:
  const model::Trace& trace_;
  const Rows& rows_;
  const TimeNs base_ns_;
  std::vector<uint32_t> numbers_;  // by stack; 0: not written
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_EXACT_RECORDS_H_
