// event_block.h - puts the ranges of a file into columns, track by track.
//
//   uint64_t out_of_order = 0;
//   shard.block = MakeBlock(std::move(ranges), track_of_row, shard.tracks,
//                           shift, out_of_order);
//
// The tracks come in the order of a trace (pid, kind, device, id), and the
// ranges of each by start, then the longer first. Ranges that are equal in this
// keep the order of the file. If the ranges of every track nest, the block
// says their depths, and normalisation takes its columns over as they are
// (profiler/normalize/recorded_nesting.h).
//
// Cost: linear, in parallel, if the file is in order of start. Each block of
//   ranges is freed when it is copied. Tracks out of order are sorted.
#ifndef KYMO_IMPORTERS_CHROME_EVENT_BLOCK_H_
#define KYMO_IMPORTERS_CHROME_EVENT_BLOCK_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "importers/chrome/events/event_store.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::chrome_import {

// The sum, from 0 to one less than the largest time.
inline TimeNs MovedBy(DurationNs shift, TimeNs time) {
  TimeNs moved = 0;
  if (__builtin_add_overflow(time, shift, &moved)) {
    return std::numeric_limits<TimeNs>::max() - 1;
  }
  return std::max<TimeNs>(moved, 0);
}

// `shift` is added to all times. `out_of_order` becomes the number of ranges
// that begin before the range in front of them, on the same track of the file.
model::EventBlock MakeBlock(std::vector<RangeBlock> ranges,
                            const std::vector<model::TrackIndex>& track_of_row,
                            const std::vector<model::Track>& tracks,
                            DurationNs shift, uint64_t& out_of_order);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENT_BLOCK_H_
