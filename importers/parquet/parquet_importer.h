// parquet_importer.h - the `parquet` importer: files that --export=parquet
// wrote.
//
//   report out/parquet/events/job=a/rank=3/part-0.parquet
//   report out                             # with all ranks that are in it
//
// A path of any table's file stands for the trace: part_files.h finds the other
// tables. What one table says and another does not is read anew from the
// events, so tables and averages are those of the trace. Some facts are in no
// table: sums of a heap that was too large for records (folded_memory.h), and
// names of losses of loaded backends. Findings tell:
//
//   table_missing   note   a table has no file beside the others
#ifndef KYMO_IMPORTERS_PARQUET_PARQUET_IMPORTER_H_
#define KYMO_IMPORTERS_PARQUET_PARQUET_IMPORTER_H_

#include <memory>

#include "profiler/plugin/trace_importer.h"

namespace kymo {

std::unique_ptr<TraceImporter> NewParquetImporter();

}  // namespace kymo

#endif  // KYMO_IMPORTERS_PARQUET_PARQUET_IMPORTER_H_
