// go_first.h - gives this thread the CPU before other programs' threads.
//
//   std::thread([] { GoFirst(); ... });
//
// For short work that must be done soon. Where it is permitted (root,
// CAP_SYS_NICE), the thread has a real-time priority, the lowest, or else the
// lowest nice value. For others, the kernel decides, and from Linux 6.12 on
// mostly prefers the thread that says that it needs a CPU for a shorter time.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_GO_FIRST_H_
#define KYMO_BACKENDS_SAMPLING_PERF_GO_FIRST_H_

namespace kymo::sampling {

void GoFirst();

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_GO_FIRST_H_
