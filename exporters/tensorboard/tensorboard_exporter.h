// tensorboard_exporter.h - `tensorboard`: a log folder for TensorBoard and
// XProf.
//
//   tensorboard/
//     plugins/profile/<run>/<host>.xplane.pb       xspace.h
//     events.out.tfevents.<seconds>.<host>.<pid>.0 event_file.h
//
//   tensorboard --logdir tensorboard       // with xprof installed: Profile too
//
// The event file holds scalars of the program's steps (step_scalars.h) and the
// graph of its operations with time and memory (program_graph.h). Without steps
// it holds only the graph. The name of the run is the start of the recording in
// UTC, as YYYY_MM_DD_HH_MM_SS with milliseconds, so that several recordings fit
// into one folder. The host is the name of this machine.
//
// XSpaces cannot be compressed. Of one that is larger than options.max_bytes,
// short ranges are folded (exporters/timeline/bounded_file.h), and its memory
// profile has only extremes. The event file counts each range.
//
// Settings: tensorboard_memory_events, the most records of the heap that become
//   events of the memory profile (default 200,000; -1: all). Of more, those
//   stay that keep the extremes of what was in use, and a warning in the
//   overview says how many are left out.
// Errors:  those of the files; kInvalidArgument for settings; an XSpace above
//   2 GiB (xspace.h).
#ifndef KYMO_EXPORTERS_TENSORBOARD_TENSORBOARD_EXPORTER_H_
#define KYMO_EXPORTERS_TENSORBOARD_TENSORBOARD_EXPORTER_H_

#include <memory>

#include "profiler/plugin/trace_exporter.h"

namespace kymo {

std::unique_ptr<TraceExporter> NewTensorboardExporter();

}  // namespace kymo

#endif  // KYMO_EXPORTERS_TENSORBOARD_TENSORBOARD_EXPORTER_H_
