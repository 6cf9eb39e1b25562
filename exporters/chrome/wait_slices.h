// wait_slices.h - the waits of threads as slices, in a row below each thread.
//
//   const WaitSlices slices(trace, rows, base_ns);
//   KYMO_RETURN_IF_ERROR(slices.Write(output, short_ones));
//
// A wait is a slice with the name of its kind. If it is known when the thread
// was woken, a second slice, "runnable", follows for the time until the thread
// ran. If it is known who woke the thread, a flow ("wake") goes from there to
// this second slice. It begins at a slice of 0.1 us in the waker's row, because
// readers draw flows between slices only. Where the row is empty, the thread
// was on a CPU or waited too shortly to be kept (profiler/model/waits.h).
// Readers draw these rows; Kymo reads the waits from members of their own
// (exact_records.h) and passes over the slices.
//
// Threads: call Write from one thread at a time; it works on all cores.
#ifndef KYMO_EXPORTERS_CHROME_WAIT_SLICES_H_
#define KYMO_EXPORTERS_CHROME_WAIT_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "exporters/chrome/rows.h"
#include "exporters/timeline/ordered_output.h"
#include "exporters/timeline/short_slices.h"
#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"
#include "profiler/model/waits.h"

namespace kymo::chrome {

class WaitSlices {
 public:
  // `base_ns` is the zero of the file's times. `trace` and `rows` must outlive
  // the object.
  WaitSlices(const model::Trace& trace, const Rows& rows, TimeNs base_ns);

  // The number of items that Write gives to `output`, for progress.
  size_t item_count() const { return items_.size(); }
  // Leaves out waits as `short_ones` says, and counts them there.
  absl::Status Write(timeline::OrderedOutput& output,
                     timeline::ShortSlices& short_ones) const;

 private:
  // A wait in its thread's row, or its end in the waker's.
  struct Item {
    model::TrackIndex track = 0;
    TimeNs time_ns = 0;
    size_t wait = 0;  // its index
    bool is_wake = false;
  };

  void AppendWait(std::string& out, const model::Wait& wait,
                  const Item& item) const;
  void AppendWake(std::string& out, const Item& item, bool has_slice) const;
  // Up to the name, without its end.
  void AppendFlowEnd(std::string& out, std::string_view phase,
                     const Item& item) const;

  const model::Trace& trace_;
  const Rows& rows_;
  const TimeNs base_ns_;
  std::vector<std::string> places_;  // by stack, as JSON; of those of waits
  std::vector<Item> items_;          // by row, then by time
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_WAIT_SLICES_H_
