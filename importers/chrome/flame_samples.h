// flame_samples.h - the slices of a flame chart back into samples.
//
//   slices    [main                 ]        period 1
//             [f          ]     [f  ]
//                   [g    ]
//   samples   o     o     o     o
//             f     g     g     f
//
// Kymo shows the samples of a thread as slices (exporters/timeline/
// flame_slices.h), which tell stacks and times, but not when each sample was
// taken. A sample is put where a slice begins or ends, and further ones a
// period apart, so that the same slices come of them; the weight of each is the
// time to the next. The period is the shortest time between the last change of
// a stack and a gap: there a slice ends one period after the last sample. Where
// that would make tens of millions of samples, it is longer.
#ifndef KYMO_IMPORTERS_CHROME_FLAME_SAMPLES_H_
#define KYMO_IMPORTERS_CHROME_FLAME_SAMPLES_H_

#include <vector>

#include "importers/chrome/parsed_events.h"
#include "profiler/model/trace_shard.h"

namespace kymo::chrome_import {

// Adds to the shard's samples and sets its period, if it has none that is
// longer. `slices` are those of one row; names and details are the shard's.
void AddFlameSamples(std::vector<Range> slices, model::TrackIndex track,
                     model::TraceShard& shard);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_FLAME_SAMPLES_H_
