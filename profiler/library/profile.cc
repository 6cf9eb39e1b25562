// profile.cc - a session that records: from its start, through its steps, to
// its stop. profile_results.cc has the functions that return results.
#include "kymo/profile.h"

#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/builtin/builtin_backends.h"
#include "kymo/device_events.h"
#include "kymo/record_function.h"
#include "kymo/thread_state.h"
#include "kymo/warning.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/library/emitter_backends.h"
#include "profiler/library/session_parts.h"
#include "profiler/library/timed_operations.h"
#include "profiler/library/toggled_backends.h"
#include "profiler/plugin/library/backend_library.h"
#include "profiler/record/host/host.h"
#include "profiler/session/distributed_info.h"
#include "profiler/session/recording.h"
#include "profiler/session/step_machine.h"
#include "profiler/session/step_tracker.h"
#include "profiler/text/json_check.h"
#include "profiler/text/json_text.h"

namespace kymo {
namespace {

constexpr char kStepRequester[] = "ProfilerStep";

// The thread's membership in the session of another one's Profile.
std::unique_ptr<ThreadStateGuard>& ChildGuard() {
  static thread_local std::unique_ptr<ThreadStateGuard> guard;
  return guard;
}

int64_t UsSince(int64_t start_ns) { return (MonotonicNs() - start_ns) / 1000; }

}  // namespace

// What a StepMachine drives: one Recording after the other.
struct Profile::State : public CycleRecorder {
  State(Profile* profile_in)
      : profile(profile_in),
        machine(this, profile_in->options_.schedule, MonotonicNs) {}

  absl::Status PrepareTrace() override;
  absl::Status StartTrace() override;
  absl::Status StopTrace() override;
  absl::Status TraceReady() override;
  void BeginStepRange(int64_t step) override {
    const std::string name = absl::StrCat("ProfilerStep#", step);
    step_range.emplace(std::string_view(name), RecordScope::kUserScope);
  }
  void EndStepRange() override { step_range.reset(); }
  void Warn(std::string_view text) override { kymo::Warn(text); }

  absl::Status Fail(absl::Status status) {
    recording.reset();
    timed.reset();
    thread_state.reset();
    return status;
  }
  std::vector<std::pair<std::string, std::string>> Metadata() const;

  Profile* const profile;
  StepMachine machine;
  BackendRegistry backends;
  SessionPlan plan;
  std::unique_ptr<Recording> recording;    // of the cycle being recorded
  std::unique_ptr<TimedOperations> timed;  // null: no events are taken
  std::optional<RecordFunction> step_range;
  std::optional<ThreadState> thread_state;  // of the thread that started
  std::thread::id owner;
  MetadataMap cycle_metadata;
  MetadataMap preset_metadata;
  ProfilerStats stats;
  int64_t enabled_ns = 0;
  bool stopped_since_start = false;
  int cycle = 0;
};

absl::Status Profile::State::PrepareTrace() {
  const int64_t start_ns = MonotonicNs();
  static std::atomic<bool> warned = false;
  const ProfileOptions& options = profile->options_;
  if (cycle > 0 && !options.acc_events && !options.keep_cycles &&
      !options.on_trace_ready && !warned.exchange(true)) {
    Warn(
        "Profiler clears events at the end of each cycle. Only events from "
        "the current cycle will be reported. To keep events across cycles, "
        "set acc_events = true.");
  }
  profile->trace_id_ = options.custom_trace_id_callback
                           ? options.custom_trace_id_callback()
                           : RandomTraceId();
  cycle_metadata.clear();
  stats = ProfilerStats();
  KYMO_ASSIGN_OR_RETURN(
      recording, Recording::Create(backends, plan.activities, plan.session));
  if (absl::Status status = recording->Prepare(nullptr); !status.ok()) {
    return Fail(std::move(status));
  }
  if (plan.session.with_stack) CaptureStacks();
  stats.profiler_prepare_call_duration_us = UsSince(start_ns);
  return absl::OkStatus();
}

absl::Status Profile::State::StartTrace() {
  if (recording == nullptr) {
    return absl::FailedPreconditionError(
        "Profiler must be initialized before starting trace");
  }
  const int64_t start_ns = MonotonicNs();
  // Before the recording, so that every operation that is recorded is timed.
  if (!plan.timed_device.empty()) {
    // Null if the program has taken its functions back since Start().
    if (auto events = FindTimedDevice(plan.timed_device).events) {
      timed = std::make_unique<TimedOperations>(std::move(events),
                                                plan.session.all_threads);
    }
  }
  if (absl::Status status = recording->Start(getpid()); !status.ok()) {
    return Fail(std::move(status));
  }
  owner = std::this_thread::get_id();
  if (!plan.session.all_threads) thread_state = ThreadState::Capture();
  enabled_ns = MonotonicNs();
  stats.profiler_enable_call_duration_us = (enabled_ns - start_ns) / 1000;
  return absl::OkStatus();
}

absl::Status Profile::State::StopTrace() {
  if (recording == nullptr) {
    return absl::FailedPreconditionError(
        "Profiler must be initialized before stopping trace");
  }
  const int64_t start_ns = MonotonicNs();
  stats.profiling_window_duration_sec =
      static_cast<double>(start_ns - enabled_ns) / kNsPerSecond;
  if (absl::Status status = recording->Stop(); !status.ok()) {
    return Fail(std::move(status));
  }
  if (timed != nullptr) timed->Stop();
  stats.profiler_disable_call_duration_us = UsSince(start_ns);
  const int64_t parse_start_ns = MonotonicNs();
  auto [trace, kept] = recording->Finish(Metadata());
  if (!trace.ok()) return Fail(trace.status());
  if (!kept.empty()) {
    return Fail(absl::ResourceExhaustedError(kept.front().why));
  }
  WarnOfTroubles(*recording, trace->ledger());
  stats.parse_kineto_call_duration_us = UsSince(parse_start_ns);
  stats.number_of_events = static_cast<int64_t>(trace->event_count());
  std::vector<int64_t> device_elapsed_us;
  if (timed != nullptr) device_elapsed_us = timed->ElapsedUs(*trace);
  recording.reset();
  timed.reset();
  thread_state.reset();

  ProfileOptions options = profile->options_;
  options.use_device = plan.use_device;
  options.experimental_config.trace_only = plan.trace_only;
  auto& cycles = profile->cycles_;
  if (!options.keep_cycles && !options.acc_events) cycles.clear();
  cycles.push_back(std::make_shared<ProfileCycle>(
      ++cycle, profile->trace_id_, options, *std::move(trace), stats,
      std::move(device_elapsed_us)));
  profile->accumulated_.reset();
  return absl::OkStatus();
}

absl::Status Profile::State::TraceReady() {
  const auto& ready = profile->options_.on_trace_ready;
  return ready ? ready(*profile) : absl::OkStatus();
}

std::vector<std::pair<std::string, std::string>> Profile::State::Metadata()
    const {
  const DistributedInfo info = FindDistributedInfo(getenv);
  for (const std::string& warning : info.warnings) kymo::Warn(warning);
  MetadataMap all =
      MetadataOf(profile->options_, plan.use_device, profile->trace_id_, info);
  for (const auto& [key, json] : preset_metadata) all[key] = json;
  for (const auto& [key, json] : cycle_metadata) all[key] = json;
  return {all.begin(), all.end()};
}

Profile::Profile(ProfileOptions options)
    : options_(std::move(options)), state_(std::make_unique<State>(this)) {
  if (std::ranges::count(options_.activities, "memory") > 0) {
    options_.profile_memory = true;
  }
  StepTracker::Process().init_step_count(kStepRequester);
}

Profile::~Profile() {
  // What a handler would do with a half-finished object is nobody's guess.
  options_.on_trace_ready = nullptr;
  if (state_->machine.is_running()) state_->machine.Stop().IgnoreError();
  StepTracker::Process().erase_step_count(kStepRequester);
}

absl::Status Profile::Start() {
  if (!options_.enabled) return absl::OkStatus();
  if (state_->machine.is_running()) return state_->machine.Start();
  if (state_->backends.List().empty()) {
    KYMO_RETURN_IF_ERROR(RegisterBuiltinBackends(state_->backends));
    KYMO_RETURN_IF_ERROR(RegisterEmitterBackends(state_->backends));
  }
  KYMO_ASSIGN_OR_RETURN(options_.activities,
                        LoadBackends(options_.activities, state_->backends));
  KYMO_ASSIGN_OR_RETURN(state_->plan, PlanSession(options_, state_->backends));
  return state_->machine.Start();
}

absl::Status Profile::Step() {
  if (!options_.enabled) return absl::OkStatus();
  KYMO_RETURN_IF_ERROR(CheckThread());
  absl::Status status = state_->machine.Step();
  StepTracker::Process().increment_step(kStepRequester);
  return status;
}

absl::Status Profile::Stop() {
  if (!options_.enabled) return absl::OkStatus();
  KYMO_RETURN_IF_ERROR(CheckThread());
  return state_->machine.Stop();
}

// A session of one thread is its thread's to step and stop.
absl::Status Profile::CheckThread() const {
  if (state_->thread_state && state_->owner != std::this_thread::get_id()) {
    return absl::FailedPreconditionError(
        "Can't disable Kineto profiler when it's not running on this thread: "
        "a session of one thread is stopped by the thread that started it");
  }
  return absl::OkStatus();
}

int64_t Profile::step_num() const noexcept {
  return state_->machine.step_num();
}

ProfilerAction Profile::current_action() const noexcept {
  return state_->machine.current_action();
}

// --- while it records ---

absl::Status Profile::toggle_collection_dynamic(
    bool enable, const std::vector<std::string>& activities) {
  if (!options_.enabled) return absl::OkStatus();
  const bool is_recording = state_->recording != nullptr;
  const ToggledBackends toggled = BackendsToToggle(
      activities, state_->plan, state_->backends, is_recording);
  for (const std::string& warning : toggled.warnings) Warn(warning);
  if (!is_recording) return absl::OkStatus();
  const std::vector<std::string> recorded = state_->recording->backends();
  for (const std::string& backend : toggled.backends) {
    // Of an activity that is not recorded there is nothing to switch.
    if (std::ranges::find(recorded, backend) == recorded.end()) continue;
    KYMO_RETURN_IF_ERROR(state_->recording->SetCollecting(backend, enable));
  }
  return absl::OkStatus();
}

absl::Status Profile::Dump(const std::string& path) {
  if (!options_.enabled) return absl::OkStatus();
  if (state_->recording == nullptr) {
    return absl::FailedPreconditionError(
        "nothing is being recorded: a dump is of a session that runs");
  }
  return state_->recording->Dump(path);
}

absl::Status Profile::EnableInChildThread() {
  if (!options_.enabled) return absl::OkStatus();
  if (!state_->thread_state) {
    return absl::FailedPreconditionError(
        "Profiler is not enabled in main thread.");
  }
  if (ChildGuard() != nullptr || record::ThreadSession() != 0) {
    return absl::FailedPreconditionError(
        "Profiler is already enabled in this thread.");
  }
  ChildGuard() = std::make_unique<ThreadStateGuard>(*state_->thread_state);
  return absl::OkStatus();
}

absl::Status Profile::DisableInChildThread() {
  if (!options_.enabled) return absl::OkStatus();
  if (ChildGuard() == nullptr) {
    return absl::FailedPreconditionError(
        "Can't disable Kineto profiler when it's not running in this thread");
  }
  ChildGuard().reset();
  return absl::OkStatus();
}

absl::Status Profile::add_metadata(std::string_view key,
                                   std::string_view value) {
  std::string json;
  json::AppendJsonString(json, value);
  return add_metadata_json(key, json);
}

absl::Status Profile::add_metadata_json(std::string_view key,
                                        std::string_view json) {
  if (!options_.enabled) return absl::OkStatus();
  KYMO_RETURN_IF_ERROR(json::CheckJson(json));
  if (state_->recording != nullptr) {
    state_->cycle_metadata[std::string(key)] = std::string(json);
    return absl::OkStatus();
  }
  KYMO_ASSIGN_OR_RETURN(ProfileCycle* const last, Last());
  return last->add_metadata_json(key, json);
}

absl::Status Profile::preset_metadata_json(std::string_view key,
                                           std::string_view json) {
  if (!options_.enabled) return absl::OkStatus();
  KYMO_RETURN_IF_ERROR(json::CheckJson(json));
  state_->preset_metadata[std::string(key)] = std::string(json);
  return absl::OkStatus();
}

void Profile::set_custom_trace_id_callback(
    std::function<std::string()> callback) {
  options_.custom_trace_id_callback = std::move(callback);
}

absl::Status ProfileScope::Stop() {
  if (stopped_ || !status_.ok()) return absl::OkStatus();
  stopped_ = true;
  return profile_.Stop();
}

}  // namespace kymo
