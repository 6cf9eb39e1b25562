// on_demand.cc - the process's one client of a dynolog daemon.
#include "kymo/on_demand.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "kymo/step_tracker.h"
#include "kymo/warning.h"
#include "profiler/library/on_demand/client.h"
#include "profiler/library/on_demand_if_asked.h"

namespace kymo {
namespace {

constexpr char kDaemonVariable[] = "KINETO_USE_DAEMON";
// What an exit waits for a recording to be written.
constexpr DurationNs kExitLimitNs = 10 * kNsPerSecond;

// Never destroyed: threads may count steps while the program ends.
constinit std::atomic<OnDemandClient*> process_client = nullptr;
constinit std::atomic<bool> is_starting = false;
constinit std::atomic<bool> is_forked = false;

std::string Variable(const char* name) {
  const char* const value = secure_getenv(name);
  return value == nullptr ? "" : value;
}

void AfterForkInChild() {
  OnDemandClient* const parents = process_client.exchange(nullptr);
  if (parents == nullptr) return;
  parents->CloseInChild();
  is_starting = false;
  is_forked = true;
}

// Threads that write a trace must not run on while the program's objects are
// destroyed.
void EndAtExit() {
  if (auto* const client = process_client.load()) client->End(kExitLimitNs);
}

void OnProcessStep() {
  if (is_forked.exchange(false)) {
    if (const std::error_code error = AllowOnDemand()) {
      Warn("not recorded on demand: " + error.message());
    }
  }
  if (auto* const client = process_client.load()) {
    client->OnStep(StepTracker::Process().current_step());
  }
}

absl::StatusOr<std::unique_ptr<OnDemandClient>> StartClient() {
  OnDemandClient::Options options;
  if (std::string folder = Variable(on_demand::kTraceFolderVariable);
      !folder.empty()) {
    options.trace_folder = std::move(folder);
  }
  options.job = strtoll(Variable("SLURM_JOB_ID").c_str(), nullptr, 10);
  options.distributed = FindDistributedInfo(getenv);
  options.current_step = [] { return StepTracker::Process().current_step(); };
  options.before_first = [] { atexit(EndAtExit); };
  return OnDemandClient::Start(std::move(options));
}

}  // namespace

std::error_code AllowOnDemand() noexcept {
  if (process_client.load() != nullptr || is_starting.exchange(true)) {
    return {};
  }
  is_forked = false;
  static const int fork_error =
      pthread_atfork(nullptr, nullptr, AfterForkInChild);
  if (fork_error != 0) {
    return {fork_error, std::generic_category()};
  }
  absl::StatusOr<std::unique_ptr<OnDemandClient>> client = StartClient();
  if (!client.ok()) {
    is_starting = false;
    Warn(absl::StrCat("no recording on demand: ", client.status().message()));
    return std::make_error_code(std::errc::resource_unavailable_try_again);
  }
  process_client = client->release();
  StepTracker::Process().SetStepObserver(OnProcessStep);
  return {};
}

void AllowOnDemandIfAsked() noexcept {
  const std::string wish = Variable(kDaemonVariable);
  // A warning has said why not.
  if (!wish.empty() && wish != "0") (void)AllowOnDemand();
}

}  // namespace kymo
