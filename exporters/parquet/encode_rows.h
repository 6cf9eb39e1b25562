// encode_rows.h - rows of a column of a trace's table, encoded for Parquet.
//
//   const EncodedColumn encoded =
//       EncodeRows(tables, column, 0, 1000);   // rows 0 to 999
//
// Texts become valid UTF-8: U+FFFD stands for other bytes.
//
// Threads: any, concurrently, once the column has been read
//   (ReadFirstRows). The first reader of some columns makes a pass over the
//   trace in parallel, while others would wait for it and hold a lock.
#ifndef KYMO_EXPORTERS_PARQUET_ENCODE_ROWS_H_
#define KYMO_EXPORTERS_PARQUET_ENCODE_ROWS_H_

#include <cstddef>

#include "profiler/parquet/encode_column.h"
#include "profiler/parquet/format.h"
#include "profiler/tables/table.h"
#include "profiler/tables/trace_tables.h"

namespace kymo::parquet {

Column ParquetColumn(const tables::Column& column);

// Reads the first and the last of `rows` rows, which makes what the column is
// derived from. Some tables have two kinds of rows, one after the other.
void ReadFirstRows(const tables::TraceTables& tables,
                   const tables::Column& column, size_t rows);

// REQUIRES: begin < end.
EncodedColumn EncodeRows(const tables::TraceTables& tables,
                         const tables::Column& column, size_t begin,
                         size_t end);

}  // namespace kymo::parquet

#endif  // KYMO_EXPORTERS_PARQUET_ENCODE_ROWS_H_
