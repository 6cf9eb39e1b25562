// thread_names.h - the names of this process's threads.
//
// A thread has the system's name (prctl), which is stored with each new chunk.
// The program may set another one (kymo::SetThreadName, NVTX, ITT), for the
// calling thread or for any other, before or after that thread's first record.
//
// For the .cc files of this folder only. Knows own_host.h alone.
#ifndef KYMO_PROFILER_RECORD_HOST_THREAD_NAMES_H_
#define KYMO_PROFILER_RECORD_HOST_THREAD_NAMES_H_

#include "profiler/record/host/own_host.h"

namespace kymo::record {

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
