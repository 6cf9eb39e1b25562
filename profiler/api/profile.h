// profile.h - record this process, then ask.
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
// Or step by step, as PyTorch's schedule has it:
//
//   kymo::Profile profile({
//       .schedule = *kymo::MakeSchedule({.wait = 1, .warmup = 1, .active = 3}),
//       .on_trace_ready = kymo::TensorboardTraceHandler("./log")});
//   status.Update(profile.Start());
//   for (const Batch& batch : batches) {
//     Train(batch);
//     status.Update(profile.Step());
//   }
//   status.Update(profile.Stop());
//
// A session records the thread that starts it, and the work that is handed to
// other threads with its state (thread_state.h); with profile_all_threads it
// records every thread. Ranges that were open at the start are not in it;
// ranges that are open at the stop end there and say so. It works as well while
// //tools:profile records the process: both get what happens.
//
// Errors:  PyTorch's, as Status with its texts. A Profile that is recording
//   cannot be started again ("not reentrant"); a thread has one session at a
//   time, and a process one of all threads or several of single ones
//   ("already enabled"). Results before the first finished cycle are
//   kFailedPrecondition. Options that make no sense are the error of Start().
//   Warnings go where warning.h says.
// Threads: one call at a time on one Profile. A session of one thread is
//   stepped and stopped by the thread that started it.
#ifndef KYMO_PROFILER_API_PROFILE_H_
#define KYMO_PROFILER_API_PROFILE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kymo/profile_options.h"
#include "profiler/library/profile_cycle.h"

namespace kymo {

class Profile {
 public:
  explicit Profile(ProfileOptions options = {});
  // Stops a live session; what it recorded is gone. A schedule that never came
  // to an active step is worth a warning.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  absl::Status Start();
  // The end of one step and the beginning of the next.
  absl::Status Step();
  absl::Status Stop();

  // Steps so far, and what the current one does.
  int64_t step_num() const noexcept;
  ProfilerAction current_action() const noexcept;

  // Finished cycles that are kept, oldest first: the last one, or with
  // keep_cycles all.
  const std::vector<std::shared_ptr<ProfileCycle>>& cycles() const noexcept {
    return cycles_;
  }

  // --- results of the last finished cycle; see ProfileCycle ---

  // Null before there is one.
  const model::Trace* trace() const noexcept;
  // With acc_events, of all cycles.
  KeyAverages key_averages(const KeyAveragesOptions& options = {});
  absl::StatusOr<const EventList*> events();
  absl::StatusOr<FunctionEventAvg> total_average();
  absl::StatusOr<double> self_cpu_time_total();
  std::string table(const report::TableOptions& options = {});
  absl::Status export_chrome_trace(const std::string& path) const;
  absl::Status export_stacks(const std::string& path,
                             std::string_view metric = "self_cpu_time_total");
  absl::Status export_memory_timeline(const std::string& path,
                                      std::string_view device = "") const;
  absl::StatusOr<std::vector<std::string>> Export(
      const std::string& exporter, const std::string& directory,
      const ProfileExportOptions& options = {}) const;
  // Null before there is a finished cycle.
  const ProfilerStats* stats() const noexcept;

  // --- while it records ---

  // Leaves out (false) or takes in again (true) what single backends see.
  absl::Status toggle_collection_dynamic(
      bool enable, const std::vector<std::string>& activities);
  // The calling thread joins the session of the thread that started it, and
  // leaves it again.
  absl::Status EnableInChildThread();
  absl::Status DisableInChildThread();

  // Writes what a session that keeps the newest (setting when_full=overwrite)
  // has now into a file, for //tools:report and kymo/load_trace.h:
  //   profile.Dump("slow_request.raw")
  // Threads record on; the session, and what its Stop() will have, stays as it
  // is. Ranges without memory records; stacks lack names where the mappings of
  // code were overwritten.
  // Errors: kFailedPrecondition when no such session records; the errno's
  //   status, with the path, when it cannot be written: then no file is there.
  // Threads: any, but as ever one call at a time on one Profile.
  absl::Status Dump(const std::string& path);

  // For the cycle that is being recorded, or within on_trace_ready and later
  // for the last finished one.
  absl::Status add_metadata(std::string_view key, std::string_view value);
  absl::Status add_metadata_json(std::string_view key, std::string_view json);
  // For every cycle from the next one on.
  absl::Status preset_metadata_json(std::string_view key,
                                    std::string_view json);
  // The current or last cycle's id; empty before the first is prepared.
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
  std::unique_ptr<EventList> accumulated_;  // acc_events, more than one cycle
};

// Starts a profile, and stops it at the end of the scope.
//   { kymo::ProfileScope scope(profile); Work(); }
// status() is that of the start; Stop() tells that of the stop.
class ProfileScope {
 public:
  explicit ProfileScope(Profile& profile)
      : profile_(profile), status_(profile.Start()) {}
  ~ProfileScope() { Stop().IgnoreError(); }
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;

  const absl::Status& status() const noexcept { return status_; }
  // Stops now; the end of the scope then does nothing.
  absl::Status Stop();

 private:
  Profile& profile_;
  absl::Status status_;
  bool stopped_ = false;
};

// A handler for on_trace_ready that writes Chrome traces for TensorBoard's
// PyTorch plugin: <directory>/<worker>.<time in ns>.pt.trace.json[.gz]. Without
// a worker name: <host name>_<pid>.
std::function<absl::Status(Profile&)> TensorboardTraceHandler(
    std::string directory, std::string worker_name = "", bool use_gzip = false);

}  // namespace kymo

#endif  // KYMO_PROFILER_API_PROFILE_H_
