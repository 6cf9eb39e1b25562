// mappings.h - where this process's code stands, for whoever reads its stacks.
//
// A collector reads stacks after the process has gone; the records of its
// mappings tell it which file an address belongs to.
//
// Threads: any. Standard library: nothing that needs linking.
#ifndef KYMO_PROFILER_RECORD_MAPPINGS_H_
#define KYMO_PROFILER_RECORD_MAPPINGS_H_

namespace kymo::record {

// Writes one record for each executable mapping of /proc/self/maps. Does
// nothing unless somebody wants stacks.
void RecordMappings() noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_MAPPINGS_H_
