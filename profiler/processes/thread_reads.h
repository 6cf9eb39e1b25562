// thread_reads.h - reads files and memory of a thread from outside.
//
//   std::array<char, 256> buffer;
//   if (auto text = ReadThreadFile(pid, tid, "syscall", buffer)) Parse(*text);
//
// Threads: any. A few microseconds.
#ifndef KYMO_PROFILER_PROCESSES_THREAD_READS_H_
#define KYMO_PROFILER_PROCESSES_THREAD_READS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kymo::processes {

// /proc/PID/task/TID/NAME, as much as fits into `buffer`. Nothing, and errno,
// if it cannot be read.
std::optional<std::string_view> ReadThreadFile(int64_t pid, int64_t tid,
                                               const char* name,
                                               std::span<char> buffer);

// False unless all bytes could be read, as process_vm_readv(2) permits it, and
// soon (profiler/processes/other_memory.h).
bool ReadThreadMemory(int64_t tid, uint64_t address,
                      std::span<std::byte> bytes);

}  // namespace kymo::processes

#endif  // KYMO_PROFILER_PROCESSES_THREAD_READS_H_
