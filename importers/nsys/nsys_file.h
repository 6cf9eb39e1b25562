// nsys_file.h - what the readers of a Nsight Systems export share.
//
// A process or thread is one 64-bit number, globalPid or globalTid. From high
// to low it has 8 bits for the hardware, 8 for the machine, 24 for the process,
// 24 for the thread.
#ifndef KYMO_IMPORTERS_NSYS_NSYS_FILE_H_
#define KYMO_IMPORTERS_NSYS_NSYS_FILE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "importers/sqlite/database.h"
#include "importers/sqlite/shard_rows.h"
#include "profiler/model/string_table.h"

namespace kymo::nsys {

struct ThreadId {
  int64_t pid = 0;
  int64_t tid = 0;
};

constexpr ThreadId ThreadOf(int64_t global_tid) {
  return {.pid = (global_tid >> 24) & 0xffffff, .tid = global_tid & 0xffffff};
}

struct File {
  File(const sqlite::Database& database, sqlite::ShardRows& shard_rows)
      : db(database), rows(shard_rows) {}

  // The text of an id in StringIds; "string 7" if there is none.
  model::NameId StringOf(std::optional<int64_t> id);

  const sqlite::Database& db;
  sqlite::ShardRows& rows;
  absl::flat_hash_map<int64_t, model::NameId> strings;  // StringIds
  // The thread that made a call, by process and correlation id.
  absl::flat_hash_map<std::pair<int64_t, int64_t>, ThreadId> calls;
};

// Each function reads its tables, if there are any.
void ReadStrings(File& file);
void ReadTarget(File& file);  // names, clock, metadata
void ReadNvtx(File& file);
void ReadCalls(File& file);  // before the work of these calls
void ReadDeviceWork(File& file);
void ReadDeviceMemory(File& file);

}  // namespace kymo::nsys

#endif  // KYMO_IMPORTERS_NSYS_NSYS_FILE_H_
