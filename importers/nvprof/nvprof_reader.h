// nvprof_reader.h - the tables of a database of nvprof, read into rows.
//
// nvprof_importer.h says what becomes of each table.
#ifndef KYMO_IMPORTERS_NVPROF_NVPROF_READER_H_
#define KYMO_IMPORTERS_NVPROF_NVPROF_READER_H_

#include <functional>

#include "absl/status/status.h"
#include "importers/sqlite/database.h"
#include "importers/sqlite/shard_rows.h"

namespace kymo::nvprof {

// kInvalidArgument: not nvprof's, or with `strict` not to PyTorch's liking.
absl::Status ReadDatabase(const sqlite::Database& database, bool strict,
                          const std::function<void(double)>& progress,
                          sqlite::ShardRows& rows);

}  // namespace kymo::nvprof

#endif  // KYMO_IMPORTERS_NVPROF_NVPROF_READER_H_
