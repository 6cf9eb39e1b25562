// profile.h - record this process, then ask.
//
//   #include "kymo/profile.h"
//
//   kymo::Profile profile;
//   absl::Status status = profile.Start();
//   Work();
//   status.Update(profile.Stop());
//   std::cout << profile.key_averages().table({.sort_by = "cpu_time_total"});
//   status.Update(profile.export_chrome_trace("trace.json"));
//
// A session records every thread of the process. Ranges that were open at the
// start are not in it; ranges that are open at the stop end there and say so.
//
// Errors:  one session at a time in a process, else kFailedPrecondition, also
//   when //tools:profile is recording the process. Results before Stop() are
//   kFailedPrecondition or, where they are no Status, empty.
// Threads: one call at a time on one Profile; any thread may make it.
#ifndef KYMO_PROFILER_API_PROFILE_H_
#define KYMO_PROFILER_API_PROFILE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/analysis/key_averages.h"
#include "profiler/model/trace.h"
#include "profiler/report/table.h"

namespace kymo {

struct ProfileOptions {
  // Backends by name; empty: all that can record here.
  std::vector<std::string> activities;
  // Settings of backends by name, such as arena_mib and when_full.
  std::map<std::string, std::string> settings;
};

// Averages by name, and their text.
class KeyAverages {
 public:
  explicit KeyAverages(std::vector<analysis::KeyAverage> rows)
      : rows_(std::move(rows)) {}

  const std::vector<analysis::KeyAverage>& rows() const { return rows_; }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

  // PyTorch's table. With an unknown sort key, the error's text.
  std::string table(const report::TableOptions& options = {}) const;

 private:
  std::vector<analysis::KeyAverage> rows_;
};

class Profile {
 public:
  explicit Profile(ProfileOptions options = {});
  // Stops a live session; what it recorded is gone.
  ~Profile();
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;

  absl::Status Start();
  absl::Status Stop();

  // The last finished session's trace; null before the first Stop().
  const model::Trace* trace() const noexcept { return trace_.get(); }

  KeyAverages key_averages() const;

  // Writes the trace as Chrome JSON under exactly this path; compressed when
  // the name ends in .gz.
  absl::Status export_chrome_trace(const std::string& path) const;

  // Writes the files of any exporter ("chrome", "stacks", "summary") into a
  // folder and returns their names there.
  absl::StatusOr<std::vector<std::string>> Export(
      const std::string& exporter, const std::string& directory) const;

 private:
  struct State;

  ProfileOptions options_;
  std::unique_ptr<State> state_;  // of the live session
  std::unique_ptr<model::Trace> trace_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_PROFILE_H_
