// exec_watch.h - notices programs at whose start the kernel ends perf events.
//
//   ExecWatch watch;
//   watch.OnExec(pid);             // each record, in the order of time
//   watch.OnMap(pid);
//   if (watch.OnExit(pid)) ...     // the process goes on without events
//
// The kernel does so where a program gives more rights (set-uid, set-gid) or
// may be executed but not read. It does it right after the exec, before it maps
// the program, and the record is that of a thread's end. Every other program is
// mapped before it ends.
//
// Threads: none. If records are lost, what they told is not known: then a
// process counts as usual.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_EXEC_WATCH_H_
#define KYMO_BACKENDS_SAMPLING_PERF_EXEC_WATCH_H_

#include <cstdint>
#include <unordered_set>

namespace kymo::sampling {

class ExecWatch {
 public:
  void OnExec(uint32_t pid) { not_mapped_.insert(pid); }
  void OnMap(uint32_t pid) { not_mapped_.erase(pid); }
  // Returns whether the kernel ended the process's events.
  bool OnExit(uint32_t pid) { return not_mapped_.erase(pid) != 0; }
  void OnLost() { not_mapped_.clear(); }

 private:
  std::unordered_set<uint32_t> not_mapped_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_EXEC_WATCH_H_
