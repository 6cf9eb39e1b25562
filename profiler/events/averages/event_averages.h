// event_averages.h - averages by name: the result of key_averages().
//
//   #include "profiler/events/event_list.h"
//
//   kymo::EventList events;
//   absl::Status status = events.build_tree();
//   absl::StatusOr<kymo::EventAverages> averages = events.key_averages();
//   if (!averages.ok()) return averages.status();
//   for (const kymo::FunctionEventAvg& row : *averages) Print(row.key);
//   std::cout << *averages->table({.sort_by = "self_cpu_time_total"});
//   std::cout << *averages;   // the table in the order of the rows
//
// Averages cannot be grouped again, but total_average() adds them up.
//
// Threads: immutable. Errors: see the functions.
#ifndef KYMO_PROFILER_EVENTS_AVERAGES_EVENT_AVERAGES_H_
#define KYMO_PROFILER_EVENTS_AVERAGES_EVENT_AVERAGES_H_

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/events/averages/function_event_avg.h"
#include "profiler/report/table.h"

namespace kymo {

// The options that the events were recorded with.
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

  // The sum over the list in microseconds. key_averages() leaves out frames of
  // a host language, so the sum does not have their time.
  double self_cpu_time_total() const;

  // One average of all, named "Total". It has the description of the last one.
  FunctionEventAvg total_average() const;

  // PyTorch's table. The list's own use_device, profile_memory and with_flops
  // replace those of `options`. kInvalidArgument for an unknown sort key.
  absl::StatusOr<std::string> table(report::TableOptions options = {}) const;

  // A line for each average with a stack, for flame graphs (folded_stacks.h).
  absl::Status export_stacks(
      const std::string& path,
      std::string_view metric = "self_cpu_time_total") const;
  absl::StatusOr<std::string> folded_stacks(
      std::string_view metric = "self_cpu_time_total") const;

 private:
  std::vector<FunctionEventAvg> averages_;
  EventListOptions options_;
};

// Python's repr() of the list: "[<FunctionEventAvg key=mm ...>, ...]" on one
// line.
std::string ToString(const EventAverages& averages);
// Python's str() of the list: its table, or the text of the error.
std::ostream& operator<<(std::ostream& out, const EventAverages& averages);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_AVERAGES_EVENT_AVERAGES_H_
