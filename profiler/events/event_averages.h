// event_averages.h - the list that EventList::key_averages() returns.
//
//   KYMO_ASSIGN_OR_RETURN(const EventAverages averages, events.key_averages());
//   for (const FunctionEventAvg& a : averages) std::cout << a.key << "\n";
//   KYMO_ASSIGN_OR_RETURN(
//       const std::string text,
//       averages.table({.sort_by = "self_cpu_time_total", .row_limit = 10}));
//
// Averages cannot be averaged by key again; they can be totalled.
//
// Threads: immutable.
#ifndef KYMO_PROFILER_EVENTS_EVENT_AVERAGES_H_
#define KYMO_PROFILER_EVENTS_EVENT_AVERAGES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/events/function_event_avg.h"
#include "profiler/report/table.h"

namespace kymo {

// How the events were recorded.
struct EventListOptions {
  std::optional<std::string> use_device;  // "cuda"
  bool profile_memory = false;
  bool with_flops = false;
};

class EventAverages {
 public:
  EventAverages() = default;
  EventAverages(std::vector<FunctionEventAvg> averages,
                EventListOptions options)
      : averages_(std::move(averages)), options_(std::move(options)) {}

  size_t size() const noexcept { return averages_.size(); }
  bool empty() const noexcept { return averages_.empty(); }
  auto begin() const noexcept { return averages_.begin(); }
  auto end() const noexcept { return averages_.end(); }
  const FunctionEventAvg& operator[](size_t i) const { return averages_[i]; }
  const EventListOptions& options() const noexcept { return options_; }

  // Sum over the list; frames of a language, which key_averages() leaves out,
  // are missing from it.
  double self_cpu_time_total() const;

  // One average of all, named "Total"; its description is the last one's.
  FunctionEventAvg total_average() const;

  // PyTorch's table; use_device, profile_memory and with_flops of `options`
  // are replaced by the list's. kInvalidArgument for an unknown sort key.
  absl::StatusOr<std::string> table(report::TableOptions options = {}) const;

  // A line per average with a stack, for flame graphs (folded_stacks.h).
  absl::Status export_stacks(
      const std::string& path,
      std::string_view metric = "self_cpu_time_total") const;
  absl::StatusOr<std::string> folded_stacks(
      std::string_view metric = "self_cpu_time_total") const;

 private:
  std::vector<FunctionEventAvg> averages_;
  EventListOptions options_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_EVENT_AVERAGES_H_
