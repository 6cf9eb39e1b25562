// declarations.h - one function for each table, beside its columns.
//
// table.cc makes the list of them; others include table.h.
#ifndef KYMO_PROFILER_TABLES_DECLARATIONS_H_
#define KYMO_PROFILER_TABLES_DECLARATIONS_H_

#include "profiler/tables/table.h"

namespace kymo::tables {

// event_table.cc
Table EventsTable();

// event_parts.cc
Table NamesTable();
Table ArgsTable();
Table CountersTable();
Table StepsTable();
Table DeviceWorkTable();

// track_tables.cc
Table ProcessesTable();
Table ThreadsTable();
Table TracksTable();

// stack_tables.cc
Table SamplesTable();
Table StacksTable();
Table FramesTable();

// memory_tables.cc
Table MemoryTable();
Table AllocationsByStackTable();

// wait_table.cc
Table WaitsTable();

// trace_facts.cc
Table LedgerTable();
Table MetadataTable();
Table RanksTable();
Table CpuLimitsTable();

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_DECLARATIONS_H_
