// state_packets.h - the states of threads, as Perfetto's own.
//
//   const StatePackets states(trace, tracks, base_ns);
//   KYMO_RETURN_IF_ERROR(states.Write(output, short_ones));
//
// A thread that waited gets a GenericKernelTaskStateEvent for each change:
// running, runnable, or one of two kinds of sleep. A wait for a file, a disk or
// a page is uninterruptible. From these packets the viewer makes its table of
// thread states, and the breakdown of a selected slice.
//
// What the trace does not know is filled in:
//
//   - when a thread began and ended: its life (ThreadTimes::wall_ns) holds
//     everything that is known of it, and ends as late as it can
//   - short waits: the thread is running
//   - on which CPU a thread ran: the lowest number that no other thread has.
//     Viewers have room for 128. Where more threads are between two waits, the
//     others are runnable.
//
// Reference: protos/perfetto/trace/generic_kernel and
//   src/trace_processor/importers/generic_kernel of github.com/google/perfetto.
// Threads: call Write from one thread at a time; it works on all cores.
#ifndef KYMO_EXPORTERS_PERFETTO_STATE_PACKETS_H_
#define KYMO_EXPORTERS_PERFETTO_STATE_PACKETS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "exporters/perfetto/track_table.h"
#include "exporters/timeline/ordered_output.h"
#include "exporters/timeline/short_slices.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

class StatePackets {
 public:
  // Times are written relative to `base_ns`. `trace` and `tracks` must outlive
  // this object.
  StatePackets(const model::Trace& trace, const TrackTable& tracks,
               TimeNs base_ns)
      : trace_(trace), tracks_(tracks), base_ns_(base_ns) {}

  // About the number of items that Write gives to `output`, for progress.
  size_t item_count() const;
  // Leaves out waits as `short_ones` says, and counts them there.
  absl::Status Write(timeline::OrderedOutput& output,
                     timeline::ShortSlices& short_ones) const;

 private:
  const model::Trace& trace_;
  const TrackTable& tracks_;
  const TimeNs base_ns_;
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_STATE_PACKETS_H_
