// profile_cycle.h - one finished recording and what can be asked of it.
//
// A session without a schedule has one cycle; with one, a cycle for each time
// that a trace was recorded and saved. A Profile hands out the last one's
// results under the same names.
//
// Units:   FunctionEvent times are microseconds from the start of the trace.
// Errors:  a wrong option (sort key, metric, exporter) is kInvalidArgument.
// Threads: results may be asked for from any thread, one call at a time.
// Cost:    averages come straight from the trace's columns; events() builds an
//   object per event on its first call.
#ifndef KYMO_PROFILER_LIBRARY_PROFILE_CYCLE_H_
#define KYMO_PROFILER_LIBRARY_PROFILE_CYCLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kymo/profile_options.h"
#include "profiler/events/event_averages.h"
#include "profiler/events/event_list.h"
#include "profiler/model/trace.h"
#include "profiler/report/table.h"

namespace kymo {

// How long the profiler itself took; PyTorch's _ProfilerStats.
struct ProfilerStats {
  // From the end of the call that enabled recording to the start of the call
  // that disabled it.
  double profiling_window_duration_sec = 0;
  int64_t number_of_events = 0;
  int64_t profiler_prepare_call_duration_us = 0;
  int64_t profiler_enable_call_duration_us = 0;
  int64_t profiler_disable_call_duration_us = 0;
  // From records to a trace.
  int64_t parse_kineto_call_duration_us = 0;
  // From a trace to the tree of events(); 0 until that was asked for.
  int64_t function_events_build_tree_call_duration_us = 0;
};

// Averages and their text. Where there are no results (yet), there are no rows,
// and status() and the text of table() say why.
class KeyAverages {
 public:
  explicit KeyAverages(absl::Status status) : status_(std::move(status)) {}
  explicit KeyAverages(EventAverages averages)
      : averages_(std::move(averages)) {}

  const absl::Status& status() const noexcept { return status_; }
  const EventAverages& rows() const noexcept { return averages_; }
  auto begin() const noexcept { return averages_.begin(); }
  auto end() const noexcept { return averages_.end(); }
  size_t size() const noexcept { return averages_.size(); }

  // PyTorch's table; or the error's text.
  std::string table(const report::TableOptions& options = {}) const;
  FunctionEventAvg total_average() const { return averages_.total_average(); }
  double self_cpu_time_total() const { return averages_.self_cpu_time_total(); }

 private:
  absl::Status status_;
  EventAverages averages_;
};

// How Export() writes: what the command's flags say.
//   {.gzip = true, .max_file_mib = 64, .settings = {{"memory_events", "-1"}}}
struct ProfileExportOptions {
  bool gzip = false;  // where a format has a plain and a compressed form
  // Split timelines whose file would be larger at the steps of the program;
  // what cannot be split is written whole, with a warning. 0: never.
  int64_t max_file_mib = 0;
  // Settings of the exporter by name; `//tools:profile --help` lists them.
  std::map<std::string, std::string> settings;
  // Called now and then with done / total in 0..1; may be empty.
  std::function<void(double)> progress;
};

class ProfileCycle {
 public:
  // For Profile.
  ProfileCycle(int number, std::string trace_id, const ProfileOptions& options,
               model::Trace trace, ProfilerStats stats);

  int number() const noexcept { return number_; }  // from 1
  const std::string& trace_id() const noexcept { return trace_id_; }
  const model::Trace& trace() const noexcept { return trace_; }
  const ProfilerStats& stats() const noexcept { return stats_; }
  // What was left out or looked wrong on the way to the results so far.
  const std::vector<std::string>& warnings() const noexcept {
    return warnings_;
  }

  // Averages by name, and by whatever else `options` ask for.
  KeyAverages key_averages(const KeyAveragesOptions& options = {});
  // Every event, with parents and children. Lives as long as the cycle.
  // kFailedPrecondition with trace_only.
  absl::StatusOr<const EventList*> events();
  absl::StatusOr<FunctionEventAvg> total_average();
  // Microseconds; over all events.
  absl::StatusOr<double> self_cpu_time_total();
  // The table of the events themselves; or the error's text.
  std::string table(const report::TableOptions& options = {});

  // Adds to the trace's metadata, for exports; a later value for a key wins.
  void add_metadata(std::string_view key, std::string_view value);
  // `json` is JSON text: kInvalidArgument when it is not.
  absl::Status add_metadata_json(std::string_view key, std::string_view json);

  // Chrome JSON under exactly this path; compressed when it ends in .gz.
  absl::Status export_chrome_trace(const std::string& path) const;
  // Folded stacks of the events. Needs with_stack.
  absl::Status export_stacks(const std::string& path,
                             std::string_view metric = "self_cpu_time_total");
  // PyTorch's memory timeline: what the device's memory held over time. The
  // end of the path says the form: .html (a page that draws it), raw.json.gz
  // (events), else rows, compressed if it ends in .gz. `device` as "cpu" or
  // "cuda:0"; empty: the session's device, else "cpu". Needs profile_memory.
  absl::Status export_memory_timeline(const std::string& path,
                                      std::string_view device = "") const;
  // The files of any exporter ("chrome", "tensorboard", "perfetto", "stacks",
  // "summary", "memory_timeline"), or of those of a library (a path with a
  // slash; see exporter.h), into a folder; returns their names there. A setting
  // that the exporter does not have is kInvalidArgument.
  absl::StatusOr<std::vector<std::string>> Export(
      const std::string& exporter, const std::string& directory,
      const ProfileExportOptions& options = {}) const;

 private:
  friend class Profile;

  // use(options for EventsOfTrace).
  template <typename Use>
  auto WithEventOptions(Use use);
  void AddWarning(const std::string& warning);

  const int number_;
  const std::string trace_id_;
  const std::string use_device_;
  const bool with_flops_;
  const bool profile_memory_;
  const bool with_stack_;
  const bool trace_only_;
  const std::optional<double> timeout_s_;
  model::Trace trace_;
  ProfilerStats stats_;
  std::vector<std::string> warnings_;
  std::unique_ptr<EventList> events_;  // once asked for
};

}  // namespace kymo

#endif  // KYMO_PROFILER_LIBRARY_PROFILE_CYCLE_H_
