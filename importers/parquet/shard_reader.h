// shard_reader.h - makes a shard of a trace's tables.
//
//   KYMO_ASSIGN_OR_RETURN(model::TraceShard shard, ReadShard(files));
//
// Tables that have no file give nothing. Without `tracks`, lines are those that
// the events name. Columns that follow from others (self_ns, depth of the call
// tree's parents, steps, ...) are worked out anew. Numbers of rows in other
// tables are checked, and so are times.
//
// Errors:  kInvalidArgument: damaged; the message names the file.
// Threads: one call at a time; a call works in parallel.
#ifndef KYMO_IMPORTERS_PARQUET_SHARD_READER_H_
#define KYMO_IMPORTERS_PARQUET_SHARD_READER_H_

#include "absl/status/statusor.h"
#include "importers/parquet/part_files.h"
#include "profiler/model/trace_shard.h"

namespace kymo::parquet_import {

absl::StatusOr<model::TraceShard> ReadShard(const PartFiles& files);

}  // namespace kymo::parquet_import

#endif  // KYMO_IMPORTERS_PARQUET_SHARD_READER_H_
