// parquet_exporter.h - the tables of a trace as Parquet files.
//
//   const std::unique_ptr<TraceExporter> exporter = NewParquetExporter();
//   exporter->Export(trace, {}, out);
//     // parquet/events/job=train/rank=3/part-0.parquet, parquet/tracks/...
//
// One file for each table of profiler/tables/table.h, with the same names of
// tables and columns as in SQL. The folders of many jobs and ranks may be put
// into one: docs/fleet.md has questions about all of them together.
//
// The rank is that of the trace; 0 if the program was not distributed. The job
// is the setting parquet_job, else the name of the trace's first process.
//
// Errors: those of the folder. All files are there, or none.
// Threads, ownership: those of TraceExporter.
#ifndef KYMO_EXPORTERS_PARQUET_PARQUET_EXPORTER_H_
#define KYMO_EXPORTERS_PARQUET_PARQUET_EXPORTER_H_

#include <memory>

#include "profiler/plugin/trace_exporter.h"

namespace kymo {

std::unique_ptr<TraceExporter> NewParquetExporter();

}  // namespace kymo

#endif  // KYMO_EXPORTERS_PARQUET_PARQUET_EXPORTER_H_
