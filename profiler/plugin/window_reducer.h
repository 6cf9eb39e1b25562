// window_reducer.h - adds up a recording while it is still being made.
//
//   // The command, before the sessions are made:
//   options.shared = std::make_shared<kymo::SharedParts>();
//   const auto facts = kymo::RecordingFacts::Of(options.shared);
//   facts->reducer = reducer;
//   // A session that has more records than it may keep:
//   if (facts->reducer != nullptr) {
//     KYMO_RETURN_IF_ERROR(facts->reducer->Add(std::move(window),
//                                             kymo::WindowLosses::kCount));
//   }
//
// A session hands over the oldest records as windows (trace_windows.h) and then
// drops them. If it has handed over any, it hands over all records by the end
// of Collect, the last window included. The shard of Collect has the newest
// records, too.
//
// Errors:  those of making a trace of the window. Then nothing of the window
//   has counted, but after std::bad_alloc a part may have.
// Threads: one call at a time, on any thread.
#ifndef KYMO_PROFILER_PLUGIN_WINDOW_REDUCER_H_
#define KYMO_PROFILER_PLUGIN_WINDOW_REDUCER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "profiler/plugin/shared_parts.h"
#include "profiler/plugin/trace_windows.h"

namespace kymo {

// Of a window's losses and values of counters.
enum class WindowLosses {
  kCount,
  kAreInShard,  // the shard of Collect has these records, too
};

class WindowReducer {
 public:
  WindowReducer() = default;
  WindowReducer(const WindowReducer&) = delete;
  WindowReducer& operator=(const WindowReducer&) = delete;
  virtual ~WindowReducer() = default;

  virtual absl::Status Add(TraceWindow window, WindowLosses losses) = 0;
};

// What sessions need to know of their recording. The caller sets it before
// Prepare.
struct RecordingFacts {
  // Null: single records are needed.
  std::shared_ptr<WindowReducer> reducer;
  // Whether a session beside those of the threads' streams records ranges of
  // the same threads, such as calls of a device's driver.
  bool others_record_ranges = false;
  // Not empty: instead of that of the options, which came too early.
  std::string scratch_dir = {};

  // The recording's own. If `parts` is null, nobody shares it.
  static std::shared_ptr<RecordingFacts> Of(
      const std::shared_ptr<SharedParts>& parts) {
    const auto make = [] { return std::make_shared<RecordingFacts>(); };
    return parts == nullptr ? make() : *parts->Get<RecordingFacts>(make);
  }
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_WINDOW_REDUCER_H_
