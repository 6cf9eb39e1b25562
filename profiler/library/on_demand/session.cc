#include "profiler/library/on_demand/session.h"

#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/builtin/builtin_backends.h"
#include "profiler/base/status_macros.h"
#include "profiler/library/profile_cycle.h"
#include "profiler/library/session_parts.h"

namespace kymo {
namespace {

// Kineto's types of what the CPU does; the others are of devices.
constexpr std::string_view kCpuTypes[] = {
    "cpu_op", "user_annotation", "cpu_instant_event", "python_function"};

// The activities of Kineto's types, as far as they can be recorded here.
std::vector<std::string> ActivitiesOf(const std::vector<std::string>& types,
                                      const BackendRegistry& backends) {
  const auto is_cpu = [](const std::string& type) {
    return std::ranges::count(kCpuTypes, type) > 0;
  };
  std::vector<std::string> activities;
  if (types.empty() || std::ranges::any_of(types, is_cpu)) {
    activities.emplace_back("cpu");
  }
  const std::vector<std::string> here = SupportedActivities(backends);
  if ((types.empty() || !std::ranges::all_of(types, is_cpu)) &&
      std::ranges::count(here, "cuda") > 0) {
    activities.emplace_back("cuda");
  }
  // Empty would mean all; without a device there is nothing else.
  if (activities.empty()) activities.emplace_back("cpu");
  return activities;
}

}  // namespace

absl::StatusOr<std::unique_ptr<OnDemandSession>> OnDemandSession::Prepare(
    const on_demand::Config& config, DistributedInfo distributed) {
  std::unique_ptr<OnDemandSession> session(new OnDemandSession);
  KYMO_RETURN_IF_ERROR(RegisterBuiltinBackends(session->backends_));
  session->distributed_ = std::move(distributed);
  session->trace_id_ =
      config.trace_id.empty() ? RandomTraceId() : config.trace_id;
  ProfileOptions& options = session->options_;
  options.activities = ActivitiesOf(config.activity_types, session->backends_);
  options.record_shapes = config.record_shapes;
  options.with_stack = config.with_stack;
  options.with_flops = config.with_flops;
  options.with_modules = config.with_modules;
  options.profile_memory = config.profile_memory;
  options.experimental_config.profile_all_threads = true;
  options.experimental_config.trace_only = true;
  KYMO_ASSIGN_OR_RETURN(session->plan_,
                        PlanSession(options, session->backends_));
  KYMO_ASSIGN_OR_RETURN(
      session->recording_,
      Recording::Create(session->backends_, session->plan_.activities,
                        session->plan_.session));
  KYMO_RETURN_IF_ERROR(session->recording_->Prepare(nullptr));
  if (session->plan_.session.with_stack) CaptureStacks();
  return session;
}

absl::Status OnDemandSession::Start() { return recording_->Start(getpid()); }

absl::Status OnDemandSession::Stop() { return recording_->Stop(); }

absl::Status OnDemandSession::Write(const std::string& path) {
  const MetadataMap metadata =
      MetadataOf(options_, plan_.use_device, trace_id_, distributed_);
  auto [trace, kept] = recording_->Finish({metadata.begin(), metadata.end()});
  if (!trace.ok()) return trace.status();
  if (!kept.empty()) return absl::ResourceExhaustedError(kept.front().why);
  WarnOfTroubles(*recording_, trace->ledger());
  return ProfileCycle(1, trace_id_, options_, *std::move(trace), {})
      .export_chrome_trace(path);
}

}  // namespace kymo
