// event_filter.h - which events of a trace a report is about.
//
//   EventFilter filter = {.categories = {"kernel"}, .steps = {{3, 5}}};
//   KYMO_ASSIGN_OR_RETURN(std::vector<uint8_t> counted,
//                         ChooseEvents(trace, filter));
//
// An event is chosen if every part of the filter that is given fits:
//   name        a regular expression (POSIX extended) fits somewhere in it
//   categories  its Kineto category is one of these
//   threads     its thread or stream is one of these: "123" is an id, "7/123"
//               an id of process 7, anything else a name
//   steps       it began during one of these steps (profiler/analysis/steps.h)
//   begin, end  it began in this window, counted from the start of the trace
// An event of a device belongs to the step in which it was launched.
//
// Errors: kInvalidArgument: the expression is wrong, or the trace has no such
//         thread or step; the message lists those that it has.
#ifndef KYMO_TOOLS_REPORT_COMMAND_EVENT_FILTER_H_
#define KYMO_TOOLS_REPORT_COMMAND_EVENT_FILTER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::tools {

struct StepRange {
  int64_t first = 0;
  int64_t last = 0;  // included

  friend bool operator==(const StepRange&, const StepRange&) = default;
};

struct EventFilter {
  std::string name;                     // empty: any
  std::vector<std::string> categories;  // empty: any, and so on
  std::vector<std::string> threads;
  std::optional<StepRange> steps;
  std::optional<DurationNs> begin_ns;
  std::optional<DurationNs> end_ns;  // not included

  bool empty() const {
    return name.empty() && categories.empty() && threads.empty() && !steps &&
           !begin_ns && !end_ns;
  }
};

// 1 for the events that are chosen, 0 for others; an entry per event.
absl::StatusOr<std::vector<uint8_t>> ChooseEvents(const model::Trace& trace,
                                                  const EventFilter& filter);

// The trace of the chosen events, of the samples, counter values, memory
// records and waits that fit the filter's threads, steps and window, and of the
// sums of these threads: times, short waits, counts of allocations.
absl::StatusOr<model::Trace> ChosenTrace(const model::Trace& trace,
                                         const EventFilter& filter);

// Tells whether the expression is found in a name.
absl::StatusOr<std::function<bool(std::string_view)>> NameTest(
    const std::string& expression);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_REPORT_COMMAND_EVENT_FILTER_H_
