// profile_cycle.h - one finished recording, and the results of it.
//
//   #include "kymo/profile.h"
//
//   kymo::Profile profile({.keep_cycles = true});
//   absl::Status status = profile.Start();
//   Work();
//   status.Update(profile.Stop());
//   for (const std::shared_ptr<kymo::ProfileCycle>& cycle : profile.cycles()) {
//     std::cout << cycle->key_averages().table();
//   }
//
// A session without a schedule has one cycle. With a schedule it has one for
// each trace that it recorded and saved. A Profile has the same functions for
// the results of its last cycle.
//
// Units:   times of FunctionEvents are microseconds from the start of the
//   trace.
// Threads: any, one call at a time.
// Errors:  a wrong option (sort key, metric, exporter) is kInvalidArgument.
// Cost:    averages come straight from the trace's columns. events() builds an
//   object for each event on its first call.
#ifndef KYMO_PROFILER_LIBRARY_PROFILE_CYCLE_H_
#define KYMO_PROFILER_LIBRARY_PROFILE_CYCLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kymo/profile_options.h"
#include "profiler/analysis/findings/finding.h"
#include "profiler/events/averages/event_averages.h"
#include "profiler/events/event_list.h"
#include "profiler/model/trace.h"
#include "profiler/report/table.h"

namespace kymo {

// The time that the profiler itself took; PyTorch's _ProfilerStats.
struct ProfilerStats {
  // From the end of the call that enabled recording to the start of the call
  // that disabled it.
  double profiling_window_duration_sec = 0;
  int64_t number_of_events = 0;
  int64_t profiler_prepare_call_duration_us = 0;
  int64_t profiler_enable_call_duration_us = 0;
  int64_t profiler_disable_call_duration_us = 0;
  // The time to make a trace of the records.
  int64_t parse_kineto_call_duration_us = 0;
  // The time to make the tree of events(); 0 before the first call of events().
  int64_t function_events_build_tree_call_duration_us = 0;
};

// Averages and their table. Without results there are no rows, and status() and
// the text of table() say why.
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

  // PyTorch's table, or the text of the error.
  std::string table(const report::TableOptions& options = {}) const;
  FunctionEventAvg total_average() const { return averages_.total_average(); }
  double self_cpu_time_total() const { return averages_.self_cpu_time_total(); }

 private:
  absl::Status status_;
  EventAverages averages_;
};

// As those of EventAverages (event_averages.h), or the text of the error.
std::string ToString(const KeyAverages& averages);
std::ostream& operator<<(std::ostream& out, const KeyAverages& averages);

// How Export() writes, like the flags of the command:
//
//   {.gzip = true,
//    .max_file_mib = 64,
//    .settings = {{"chrome_memory_events", "-1"}}}
//
struct ProfileExportOptions {
  bool gzip = false;  // compress, if the format has a compressed form
  // Split a timeline whose file would be larger than this, at the steps of the
  // program. A file that cannot be split is written whole, with a warning. 0:
  // never split.
  int64_t max_file_mib = 0;
  // Settings of the exporter by name; `//tools:profile --help=chrome` lists
  // those of `chrome`.
  std::map<std::string, std::string> settings = {};
  // Called now and then with the finished part, 0 to 1. It may be empty.
  std::function<void(double)> progress = {};
};

class ProfileCycle {
 public:
  // For Profile. `device_elapsed_us`: for each event, the device time that was
  // taken with events, or empty.
  ProfileCycle(int number, std::string trace_id, const ProfileOptions& options,
               model::Trace trace, ProfilerStats stats,
               std::vector<int64_t> device_elapsed_us = {});

  int number() const noexcept { return number_; }  // from 1
  const std::string& trace_id() const noexcept { return trace_id_; }
  const model::Trace& trace() const noexcept { return trace_; }
  const ProfilerStats& stats() const noexcept { return stats_; }
  // One text for each thing that the results so far lack, or that looked wrong.
  const std::vector<std::string>& warnings() const noexcept {
    return warnings_;
  }

  // Averages by name, and by what `options` add to the key.
  KeyAverages key_averages(const KeyAveragesOptions& options = {});
  // Every event, with parents and children. The list lives as long as the
  // cycle. kFailedPrecondition with trace_only.
  absl::StatusOr<const EventList*> events();
  absl::StatusOr<FunctionEventAvg> total_average();
  // The sum over all events in microseconds.
  absl::StatusOr<double> self_cpu_time_total();
  // The table of the events themselves, or the text of the error.
  std::string table(const report::TableOptions& options = {});

  // The few things that a performance engineer would say of the trace, with the
  // one first that has most at stake: docs/findings.md.
  std::vector<analysis::Finding> findings() const;

  // Adds to the trace's metadata, for exports. If a key comes twice, the last
  // value counts.
  void add_metadata(std::string_view key, std::string_view value);
  // The same with a JSON value. kInvalidArgument if `json` is not JSON.
  absl::Status add_metadata_json(std::string_view key, std::string_view json);

  // Writes Chrome's JSON to exactly this path; compressed if it ends in .gz.
  absl::Status export_chrome_trace(const std::string& path) const;
  // Writes folded stacks of the events. Needs with_stack.
  absl::Status export_stacks(const std::string& path,
                             std::string_view metric = "self_cpu_time_total");
  // Writes PyTorch's memory timeline: what the device's memory held over time.
  // The end of the path chooses the form: .html is a page that draws it,
  // raw.json.gz has the events, and anything else has rows, compressed if it
  // ends in .gz. `device` is "cpu", "cuda:0" and so on; empty: the session's
  // device, or else "cpu". Needs profile_memory.
  absl::Status export_memory_timeline(const std::string& path,
                                      std::string_view device = "") const;
  // Writes the files of an exporter into a folder and returns their names
  // there. `exporter` is its name: "chrome", "tensorboard", "perfetto",
  // "stacks", "summary" or "memory_timeline". With a slash it is the path of a
  // library of exporters (exporter.h), and all of them run. A setting that the
  // exporter does not have is kInvalidArgument.
  absl::StatusOr<std::vector<std::string>> Export(
      const std::string& exporter, const std::string& directory,
      const ProfileExportOptions& options = {}) const;

 private:
  friend class Profile;

  // Returns use(options for EventsOfTrace).
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
  const std::vector<int64_t> device_elapsed_us_;
  model::Trace trace_;
  ProfilerStats stats_;
  std::vector<std::string> warnings_;
  std::unique_ptr<EventList> events_;  // null before the first events()
};

}  // namespace kymo

#endif  // KYMO_PROFILER_LIBRARY_PROFILE_CYCLE_H_
