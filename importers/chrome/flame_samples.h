// flame_samples.h - turns the slices of a flame chart back into samples.
//
//   slices    [main                 ]        period 1
//             [f          ]     [f  ]
//                   [g    ]
//   samples   o     o     o     o
//             f     g     g     f
//
// Kymo shows a thread's samples as slices (exporters/timeline/flame_slices.h).
// Its files also hold the samples themselves (exact_records.h). This is for
// files that lost these, and those of earlier versions.
// Slices tell stacks and times, but not when each sample was taken. So a sample
// is put where a slice begins or ends, and further samples one period apart;
// these give the same slices again. The weight of each sample is the time to
// the next one. The period is the shortest time between the last change of a
// stack and a gap: before a gap, a slice ends one period after its last sample.
// If that would give tens of millions of samples, the period is longer.
#ifndef KYMO_IMPORTERS_CHROME_FLAME_SAMPLES_H_
#define KYMO_IMPORTERS_CHROME_FLAME_SAMPLES_H_

#include <vector>

#include "importers/chrome/events/parsed_events.h"
#include "profiler/model/trace_shard.h"

namespace kymo::chrome_import {

// Adds to the shard's samples, and sets the shard's period unless that is
// longer already. `slices` are those of one row, with names and details of the
// shard.
void AddFlameSamples(std::vector<Range> slices, model::TrackIndex track,
                     model::TraceShard& shard);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_FLAME_SAMPLES_H_
