// profile.h - record this process, then ask what it did.
//
//   #include "kymo/profile.h"
//
//   kymo::Profile profile({.record_shapes = true});
//   absl::Status status = profile.Start();
//   Work();
//   status.Update(profile.Stop());
//   std::cout << profile.key_averages().table({.sort_by = "cpu_time_total"});
//   status.Update(profile.export_chrome_trace("trace.json"));
//
// Or record some steps of a program, with PyTorch's schedule:
//
//   const auto schedule =
//       kymo::MakeSchedule({.wait = 1, .warmup = 1, .active = 3});
//   kymo::Profile profile(
//       {.schedule = *schedule,
//        .on_trace_ready = kymo::TensorboardTraceHandler("./log")});
//   absl::Status status = profile.Start();
//   for (const Batch& batch : batches) {
//     Train(batch);
//     status.Update(profile.Step());
//   }
//   status.Update(profile.Stop());
//
// A session records what the program annotates (record_function.h) and what the
// backends in ProfileOptions::activities see. It records the thread that starts
// it, and work that this thread hands to others with its state
// (thread_state.h). With profile_all_threads it records every thread. It does
// not have ranges that were open at the start. Ranges that are open at the stop
// end there and are marked. A session works as usual while the profile command
// records the process, but its records stay in that command's shared memory
// until it stops: what does not fit is lost for both. Stop() warns of losses.
// A child that the process forks is not recorded, and cannot stop the session.
//
// Threads: one call at a time on one Profile. A session of one thread is
//   stepped and stopped by the thread that started it. A thread has one session
//   at a time. A process has one session of all threads, or several of single
//   threads.
// Errors:  PyTorch's errors as Status, with its texts. A Profile that is
//   recording cannot be started again ("not reentrant"), and neither can a
//   second session that the rule above forbids ("already enabled"). Start()
//   returns the errors of options. Results before the first finished cycle are
//   kFailedPrecondition ("didn't finish running"). Warnings go to the handler
//   of warning.h.
// Cost:    see docs/overhead.md.
#ifndef KYMO_PROFILER_API_PROFILE_H_
#define KYMO_PROFILER_API_PROFILE_H_

#if __cplusplus < 202002L
#error "Kymo needs C++20: -std=c++20 (in Bazel --cxxopt=-std=c++20)"
// Not there: it ends the compilation before hundreds of other errors.
#include <kymo_needs_c++20>
#endif

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kymo/profile_options.h"
#include "profiler/library/profile_cycle.h"

namespace kymo {

// A session of this process and its results.
class Profile {
 public:
  explicit Profile(ProfileOptions options = {});
  // Stops a live session and throws its records away. Warns of a schedule that
  // never came to an active step.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  absl::Status Start();
  // Ends a step and begins the next.
  absl::Status Step();
  absl::Status Stop();

  // The number of steps so far, and what the profiler does in the current one.
  int64_t step_num() const noexcept;
  ProfilerAction current_action() const noexcept;

  // The last finished cycle; with keep_cycles all finished cycles, oldest
  // first.
  const std::vector<std::shared_ptr<ProfileCycle>>& cycles() const noexcept {
    return cycles_;
  }

  // --- results of the last finished cycle; see ProfileCycle ---
  //
  // Tables have ranges and the work of devices. What backends sampled is in
  // findings(), and in Export("summary", ...) and Export("stacks", ...).
  //
  // With enabled = false every result is empty and every call succeeds. No call
  // writes a file, and the pointers of trace() and stats() are null.

  // Null before the first finished cycle.
  const model::Trace* trace() const noexcept;
  // With acc_events, key_averages() to table() have the events of all cycles,
  // and so has export_stacks(). The other exports have the last cycle.
  KeyAverages key_averages(const KeyAveragesOptions& options = {});
  absl::StatusOr<const EventList*> events();
  absl::StatusOr<FunctionEventAvg> total_average();
  absl::StatusOr<double> self_cpu_time_total();
  std::string table(const report::TableOptions& options = {});
  // See docs/findings.md.
  absl::StatusOr<std::vector<analysis::Finding>> findings() const;
  absl::Status export_chrome_trace(const std::string& path) const;
  absl::Status export_stacks(const std::string& path,
                             std::string_view metric = "self_cpu_time_total");
  absl::Status export_memory_timeline(const std::string& path,
                                      std::string_view device = "") const;
  absl::StatusOr<std::vector<std::string>> Export(
      const std::string& exporter, const std::string& directory,
      const ProfileExportOptions& options = {}) const;
  // Null before the first finished cycle.
  const ProfilerStats* stats() const noexcept;

  // --- while it records ---

  // Stops (false) or continues (true) to collect the events of some backends.
  // Nothing happens for a backend that does not record.
  absl::Status toggle_collection_dynamic(
      bool enable, const std::vector<std::string>& activities);
  // Lets the calling thread join the session of the thread that started it, and
  // leave it again.
  absl::Status EnableInChildThread();
  absl::Status DisableInChildThread();

  // Writes the records that a session has now into a file:
  //
  //   status = profile.Dump("slow_request.raw");
  //
  // The report command and kymo/load_trace.h read the file. The session must
  // keep the newest records (setting cpu_when_full=overwrite). It records on,
  // and Stop() gives the same results as without the dump. The file has ranges,
  // but no memory records. Stacks in it lack names where the mappings of code
  // were overwritten.
  //
  // Threads: any, one call at a time on one Profile.
  // Errors:  kFailedPrecondition if no such session records. If the file cannot
  //   be written, the errno's status with the path; there is no file then.
  absl::Status Dump(const std::string& path);

  // Adds metadata to the cycle that is being recorded. Within on_trace_ready
  // and after the recording, to the last finished cycle.
  absl::Status add_metadata(std::string_view key, std::string_view value);
  absl::Status add_metadata_json(std::string_view key, std::string_view json);
  // Adds metadata to every cycle from the next one on.
  absl::Status preset_metadata_json(std::string_view key,
                                    std::string_view json);
  // The id of the current or last cycle; empty before the first is prepared.
  const std::string& get_trace_id() const noexcept { return trace_id_; }
  void set_custom_trace_id_callback(std::function<std::string()> callback);

 private:
  struct State;

  absl::StatusOr<ProfileCycle*> Last() const;
  absl::StatusOr<const EventList*> Accumulated();
  absl::Status CheckThread() const;

  ProfileOptions options_;
  std::unique_ptr<State> state_;
  std::vector<std::shared_ptr<ProfileCycle>> cycles_;
  std::string trace_id_;
  std::unique_ptr<EventList> accumulated_;  // of all cycles, for acc_events
};

// Python's repr() of a profile: that of events(). Before the first finished
// cycle, and thus with enabled = false, it is
// "<unfinished torch.autograd.profile>".
std::string ToString(Profile& profile);
// Python's str() of a profile: the table of events(), or the same text before
// the first finished cycle. Without events (trace_only) both give the text of
// the error.
std::ostream& operator<<(std::ostream& out, Profile& profile);

// Starts a profile, and stops it when the scope ends:
//
//   {
//     kymo::ProfileScope scope(profile);
//     Work();
//   }
//
class ProfileScope {
 public:
  explicit ProfileScope(Profile& profile)
      : profile_(profile), status_(profile.Start()) {}
  ~ProfileScope() { Stop().IgnoreError(); }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

  // The status of the start.
  const absl::Status& status() const noexcept { return status_; }
  // Stops now and returns the status; the end of the scope then does nothing.
  absl::Status Stop();

 private:
  Profile& profile_;
  absl::Status status_;
  bool stopped_ = false;
};

// The backends that can record this process, for ProfileOptions::activities,
// without those that record on request only, as "sampling" does: {"cpu",
// "nvtx"}, with "cuda" where there is a GPU. Sorted. PyTorch's
// torch.profiler.supported_activities(); "nvtx" is Kymo's own.
//
// Cost: it looks for devices and drivers, but uses none.
std::vector<std::string> supported_activities();

// Whether sessions can record annotated ranges here: whether "cpu" is among
// supported_activities(). PyTorch's torch.autograd.kineto_available().
bool kymo_available();

// Returns a handler for on_trace_ready that writes what TensorBoard shows of
// `directory`, for both of its profile plugins:
//   <worker>.<time in ns>.pt.trace.json[.gz]   PyTorch's, torch-tb-profiler
//   tensorboard/                               XProf; graph and scalars
// An empty worker name becomes <host name>_<pid>. PyTorch's handler writes the
// first only, which XProf does not see.
std::function<absl::Status(Profile&)> TensorboardTraceHandler(
    std::string directory, std::string worker_name = "", bool use_gzip = false);

}  // namespace kymo

#endif  // KYMO_PROFILER_API_PROFILE_H_
