// thread_ids.h - PyTorch's numbers of threads, which its traces do not tell.
//
//   FindThreadIds(flows, track_of_row, shard);   // fills tracks' logical_id
//
// A backward operation says the number of its forward operation's thread; a
// flow says which thread that was. Where a file has no flows, the only thread
// of a process with forward operations has the only number that its backward
// ones say. The other threads of such a process get the numbers left.
#ifndef KYMO_IMPORTERS_CHROME_THREAD_IDS_H_
#define KYMO_IMPORTERS_CHROME_THREAD_IDS_H_

#include <vector>

#include "importers/chrome/parsed_events.h"
#include "profiler/model/trace_shard.h"

namespace kymo::chrome_import {

// `flows` have the times of the shard, whose events are in start order.
void FindThreadIds(const std::vector<FlowEnd>& flows,
                   const std::vector<model::TrackIndex>& track_of_row,
                   model::TraceShard& shard);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_THREAD_IDS_H_
