// range_paths.h - the call paths of ranges, each once, with what was spent.
//
//   const RangePaths paths(trace);
//   for (const RangePath& path : paths.paths()) {
//     path.name, path.parent   // "matmul", below paths.paths()[path.parent]
//     path.self_ns, path.calls
//   }
//
// A path is that of a track: equal ones of two threads are two. A path's self
// time is that of the ranges that end it, without the ranges within them.
// Instants and asynchronous ranges, which have no time of their own, have none.
//
// Cost: one pass; memory for the paths, not for the events.
#ifndef KYMO_EXPORTERS_STACKS_RANGE_PATHS_H_
#define KYMO_EXPORTERS_STACKS_RANGE_PATHS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::stacks {

inline constexpr uint32_t kNoPath = ~uint32_t{0};

struct RangePath {
  uint32_t parent = kNoPath;  // an earlier one; kNoPath: a top-level range
  model::TrackIndex track = 0;
  model::NameId name = model::kEmptyName;
  DurationNs self_ns = 0;
  int64_t calls = 0;
};

class RangePaths {
 public:
  explicit RangePaths(const model::Trace& trace);

  // In the order of the events that were first to take them.
  const std::vector<RangePath>& paths() const { return paths_; }

 private:
  uint32_t Find(uint32_t parent, model::TrackIndex track, model::NameId name);

  // By parent or track, and name.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint32_t> ids_;
  std::vector<RangePath> paths_;
};

// Whether the trace has ranges: paths, or asynchronous ones.
bool HasRanges(const model::Trace& trace);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_RANGE_PATHS_H_
