// mappings.h - where this process's code is, for the reader of its stacks.
//
// A collector reads stacks after the process has gone. The records of the
// process's mappings tell it which file an address belongs to.
//
// Knows own_host.h and thread_streams.h. The host calls it for the first stack.
//
// Threads: any. Standard library: nothing that needs linking.
#ifndef KYMO_PROFILER_RECORD_HOST_MAPPINGS_H_
#define KYMO_PROFILER_RECORD_HOST_MAPPINGS_H_

namespace kymo::record {

// Writes one record for each executable mapping of /proc/self/maps into the
// calling thread's stream.
void RecordMappings() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_MAPPINGS_H_
