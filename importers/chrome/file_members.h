// file_members.h - reads the members of a trace's file other than its events.
#ifndef KYMO_IMPORTERS_CHROME_FILE_MEMBERS_H_
#define KYMO_IMPORTERS_CHROME_FILE_MEMBERS_H_

#include <cstddef>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "importers/chrome/exact_records.h"
#include "profiler/base/time.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace_shard.h"

namespace kymo::chrome_import {

struct FileMembers {
  // Puts metadata and the file's ledger into `shard`. Members that an exporter
  // writes anew for every file are left out. False if the file has this member
  // of its metadata twice: the last one counts.
  bool Add(std::string_view key, std::string_view json,
           model::TraceShard& shard);

  TimeNs base_ns = 0;    // baseTimeNanoseconds
  bool is_kymo = false;  // written by Kymo
  // Written by Kineto, the recorder of PyTorch, unless Kymo wrote the file: the
  // members of both look alike.
  bool is_kineto = false;
  bool lacks_heap_records = false;
  ExactRecords exact;
  // Where the shard has the metadata of a key.
  absl::flat_hash_map<model::NameId, size_t> place_of_key;
};

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_FILE_MEMBERS_H_
