// partition_name.h - the folders of a table's files, as Hive names partitions.
//
//   PartFile("events", "train llama/7b", 3)
//     // "parquet/events/job=train%20llama%2F7b/rank=3/part-0.parquet"
//
// DuckDB, Spark, ClickHouse and pyarrow read job and rank from these names as
// columns. A job's name may be any bytes: what is no letter, digit, '.', '_' or
// '-' of ASCII is escaped as %XX, so no name leads out of its folder.
//
// Threads: pure functions.
#ifndef KYMO_EXPORTERS_PARQUET_PARTITION_NAME_H_
#define KYMO_EXPORTERS_PARQUET_PARTITION_NAME_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::parquet {

// File systems allow 255 bytes for a name, and an escaped byte takes three.
inline constexpr size_t kMostJobBytes = 80;

// An empty job is "unknown". A name over kMostJobBytes is cut and gets a number
// that is made of all of it. The job must be UTF-8.
std::string PartFile(std::string_view table, std::string_view job,
                     int64_t rank);

}  // namespace kymo::parquet

#endif  // KYMO_EXPORTERS_PARQUET_PARTITION_NAME_H_
