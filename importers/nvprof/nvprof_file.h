// nvprof_file.h - what the readers of an nvprof database share.
//
// nvprof_importer.h says what becomes of each table.
#ifndef KYMO_IMPORTERS_NVPROF_NVPROF_FILE_H_
#define KYMO_IMPORTERS_NVPROF_NVPROF_FILE_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "importers/nvprof/launch_check.h"
#include "importers/sqlite/database.h"
#include "importers/sqlite/shard_rows.h"
#include "profiler/model/string_table.h"

namespace kymo::nvprof {

struct ThreadId {
  int64_t pid = 0;
  int64_t tid = 0;

  friend bool operator==(const ThreadId&, const ThreadId&) = default;
};

// CUPTI's kinds of objects to which markers and overheads belong.
inline constexpr int64_t kProcessObject = 1;
inline constexpr int64_t kThreadObject = 2;

struct File {
  File(const sqlite::Database& database, sqlite::ShardRows& shard_rows)
      : db(database), rows(shard_rows), check(shard_rows.findings()) {}

  // The text of an id in StringTable; "string 7" if there is none.
  model::NameId StringOf(std::optional<int64_t> id);

  // The thread that a row names in its columns objectKind and objectId, else
  // the only thread that made calls.
  ThreadId ThreadOf(sqlite::Rows& table, size_t kind_column,
                    size_t id_column) const;
  // The process of the call with this correlation id, else that of the first
  // call.
  int64_t ProcessOf(int64_t correlation) const;

  const sqlite::Database& db;
  sqlite::ShardRows& rows;
  LaunchCheck check;
  absl::flat_hash_map<int64_t, model::NameId> strings;  // StringTable
  absl::flat_hash_map<int64_t, int64_t> pid_of_call;    // by correlation id
  std::optional<ThreadId> first_thread;                 // that made a call
  bool has_threads = false;                             // more than one did
};

// Each function reads its tables, if there are any.
void ReadStrings(File& file);
void ReadDevices(File& file);  // metadata
void ReadCalls(File& file);    // before what belongs to a call
void ReadMarkers(File& file);
void ReadOverheads(File& file);
void ReadDeviceWork(File& file);

}  // namespace kymo::nvprof

#endif  // KYMO_IMPORTERS_NVPROF_NVPROF_FILE_H_
