// nsys_file.h - what the readers of an export of Nsight Systems share.
//
// Processes and threads come as one 64-bit number each, globalPid and
// globalTid: hardware 8 bits, machine 8, process 24, thread 24, high to low.
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

  // The text of StringIds; "string 7" where there is none.
  model::NameId StringOf(std::optional<int64_t> id);

  const sqlite::Database& db;
  sqlite::ShardRows& rows;
  absl::flat_hash_map<int64_t, model::NameId> strings;  // StringIds
  // The thread of a call, by process and correlation id.
  absl::flat_hash_map<std::pair<int64_t, int64_t>, ThreadId> calls;
};

// Each reads its tables, if there are any.
void ReadStrings(File& file);
void ReadTarget(File& file);  // who, when, where: names, clock, metadata
void ReadNvtx(File& file);
void ReadCalls(File& file);  // before what belongs to a call
void ReadDeviceWork(File& file);
void ReadDeviceMemory(File& file);

}  // namespace kymo::nsys

#endif  // KYMO_IMPORTERS_NSYS_NSYS_FILE_H_
