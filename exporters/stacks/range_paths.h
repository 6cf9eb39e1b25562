// range_paths.h - the call paths of ranges, each once, with self time and
// calls.
//
//   const RangePaths paths(trace);
//   for (const RangePath& path : paths.paths()) {
//     path.name, path.parent   // "matmul", below paths.paths()[path.parent]
//     path.self_ns, path.calls
//   }
//
// A path belongs to one track: the same path on two threads is two paths. Its
// self time is the time of its last ranges, without the ranges inside them.
// Instants and asynchronous ranges have no self time and therefore no path.
//
// Cost: one pass. Memory: the paths, not the events.
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
  uint32_t parent = kNoPath;  // an earlier path; kNoPath at the top level
  model::TrackIndex track = 0;
  model::NameId name = model::kEmptyName;
  DurationNs self_ns = 0;
  int64_t calls = 0;
};

class RangePaths {
 public:
  explicit RangePaths(const model::Trace& trace);

  // Sorted by the first event of each path.
  const std::vector<RangePath>& paths() const { return paths_; }

 private:
  uint32_t Find(uint32_t parent, model::TrackIndex track, model::NameId name);

  // By parent, or track at the top level, and name.
  absl::flat_hash_map<std::pair<uint64_t, uint32_t>, uint32_t> ids_;
  std::vector<RangePath> paths_;
};

// Whether the trace has ranges, asynchronous ones included.
bool HasRanges(const model::Trace& trace);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_RANGE_PATHS_H_
