// thread_counts.h - the page faults and the I/O of a thread, from /proc.
//
//   const model::ThreadCounts now = ReadThreadCounts(pid, tid);
//   const model::ThreadCounts since = Since(before, now);
//
// The files are there as long as the thread is: the main thread's until its
// parent has waited for the process. That of I/O is readable where the kernel
// permits ptrace(2).
//
// Threads: any. 15 us.
#ifndef KYMO_BACKENDS_OFF_CPU_LOOK_THREAD_COUNTS_H_
#define KYMO_BACKENDS_OFF_CPU_LOOK_THREAD_COUNTS_H_

#include <cstdint>
#include <string_view>

#include "profiler/model/thread_states.h"

namespace kymo::off_cpu {

// What cannot be read is not known.
model::ThreadCounts ReadThreadCounts(int64_t pid, int64_t tid);

// What was counted after `before`. If a number is smaller than before, it is
// that of another thread, and counts whole.
model::ThreadCounts Since(const model::ThreadCounts& before,
                          const model::ThreadCounts& now);

// Whether the thread runs no more code of its program, so its counts stay as
// they are: it has ended, or the kernel takes it apart.
bool IsEnding(int64_t pid, int64_t tid);

// --- its parts, for tests: files of proc(5) ---
bool IsEnding(std::string_view stat);
void ParseFaults(std::string_view stat, model::ThreadCounts& counts);
void ParseIo(std::string_view io, model::ThreadCounts& counts);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_LOOK_THREAD_COUNTS_H_
