// thread_ids.h - finds PyTorch's thread numbers, which its traces do not tell.
//
//   FindThreadIds(flows, track_of_row, shard);   // fills tracks' logical_id
//
// A backward operation says the number of its forward operation's thread, and a
// flow says which thread that was. If a file has no flows: if only one thread
// of a process has forward operations, and its backward operations say only one
// number, they belong together. The other threads of such a process get the
// numbers that are left.
#ifndef KYMO_IMPORTERS_CHROME_THREAD_IDS_H_
#define KYMO_IMPORTERS_CHROME_THREAD_IDS_H_

#include <vector>

#include "importers/chrome/events/parsed_events.h"
#include "profiler/model/trace_shard.h"

namespace kymo::chrome_import {

// `flows` have the times of the shard, whose events are in start order.
void FindThreadIds(const std::vector<FlowEnd>& flows,
                   const std::vector<model::TrackIndex>& track_of_row,
                   model::TraceShard& shard);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_THREAD_IDS_H_
