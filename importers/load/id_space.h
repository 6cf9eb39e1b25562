// id_space.h - makes the ids of a file different from those of earlier files.
//
//   IdSpace ids;
//   for (ImportedTrace& file : files) changed = ids.Separate(file.shards);
#ifndef KYMO_IMPORTERS_LOAD_ID_SPACE_H_
#define KYMO_IMPORTERS_LOAD_ID_SPACE_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "profiler/model/trace_shard.h"

namespace kymo {

class IdSpace {
 public:
  // Changes the shards of one file: pids that an earlier file had, and logical
  // thread ids. Returns the new pids by the old ones.
  std::map<int64_t, int64_t> Separate(std::span<model::TraceShard> shards);

 private:
  std::map<int64_t, int64_t> TakePids(
      std::span<const model::TraceShard> shards);

  std::set<int64_t> pids_;
  uint64_t last_logical_id_ = 0;
};

}  // namespace kymo

#endif  // KYMO_IMPORTERS_LOAD_ID_SPACE_H_
