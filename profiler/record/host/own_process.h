// own_process.h - adds this process to its collector's table of processes.
//
// For the .cc files of this folder only. Knows own_host.h alone.
#ifndef KYMO_PROFILER_RECORD_HOST_OWN_PROCESS_H_
#define KYMO_PROFILER_RECORD_HOST_OWN_PROCESS_H_

#include "profiler/record/host/own_host.h"

namespace kymo::record {

// Adds this process to the table, once, and again in a forked child.
// REQUIRES: the lock, and an arena.
void RegisterProcess(Wiped* wiped) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_OWN_PROCESS_H_
