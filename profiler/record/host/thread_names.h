// thread_names.h - the names of this process's threads.
//
// A thread has the system's name (prctl). For a collector it is stored with
// each new chunk, since the program may be killed. A session of the process
// stores it with the thread's first chunk and when the session stops: so
// recording makes no system call.
// The program may set another one (kymo::SetThreadName, NVTX, ITT), for the
// calling thread or for any other, before or after that thread's first record.
//
// For the .cc files of this folder only. Knows own_host.h alone.
#ifndef KYMO_PROFILER_RECORD_HOST_THREAD_NAMES_H_
#define KYMO_PROFILER_RECORD_HOST_THREAD_NAMES_H_

#include "profiler/record/host/own_host.h"

namespace kymo::record {

// The system's names of all threads of this process that live.
void StoreNamesOfThreads() noexcept;
bool HasThreadName(const StreamEntry& entry) noexcept;

// Stores the calling thread's name: the system's,
void StoreThreadName(StreamEntry& entry) noexcept;
// the one that it has set itself, if any,
void StoreExplicitName(StreamEntry& entry) noexcept;
// and the one that another thread has given to it, if any.
void StoreNameFromOthers(Wiped* wiped, StreamEntry& entry) noexcept;

// HostApi's set_thread_name and name_thread.
void OwnSetThreadName(const char* text, uint64_t size) noexcept;
void OwnNameThread(int32_t tid, const char* text, uint64_t size) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_THREAD_NAMES_H_
