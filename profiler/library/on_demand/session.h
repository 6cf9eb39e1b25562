// session.h - one recording of this process that a daemon asked for.
//
//   KYMO_ASSIGN_OR_RETURN(auto session,
//                         OnDemandSession::Prepare(config, distributed));
//   KYMO_RETURN_IF_ERROR(session->Start());   // within a step's hook, too
//   KYMO_RETURN_IF_ERROR(session->Stop());
//   KYMO_RETURN_IF_ERROR(session->Write("/tmp/t_1234.json"));
//
// Unlike a Profile, it can be stopped on a thread that must not wait until the
// trace is made.
//
// Threads: one call at a time, from any.
#ifndef KYMO_PROFILER_LIBRARY_ON_DEMAND_SESSION_H_
#define KYMO_PROFILER_LIBRARY_ON_DEMAND_SESSION_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kymo/profile_options.h"
#include "profiler/on_demand/config.h"
#include "profiler/plugin/registry.h"
#include "profiler/session/distributed_info.h"
#include "profiler/session/recording.h"

namespace kymo {

class OnDemandSession {
 public:
  static absl::StatusOr<std::unique_ptr<OnDemandSession>> Prepare(
      const on_demand::Config& config, DistributedInfo distributed);

  absl::Status Start();
  absl::Status Stop();
  absl::Status Write(const std::string& path);

 private:
  OnDemandSession() = default;

  BackendRegistry backends_;
  ProfileOptions options_;
  SessionPlan plan_;
  std::string trace_id_;
  DistributedInfo distributed_;
  std::unique_ptr<Recording> recording_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_LIBRARY_ON_DEMAND_SESSION_H_
