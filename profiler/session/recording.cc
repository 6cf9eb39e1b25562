#include "profiler/session/recording.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/shard_times.h"
#include "profiler/normalize/normalize.h"
#include "profiler/plugin/activities.h"
#include "profiler/plugin/guarded_call.h"
#include "profiler/text/json_text.h"

namespace kymo {
namespace {

// The time of the first record in the shards, or `otherwise`.
TimeNs FirstTime(const std::vector<model::TraceShard>& shards,
                 TimeNs otherwise) {
  TimeNs first = std::numeric_limits<TimeNs>::max();
  for (const model::TraceShard& shard : shards) {
    if (const auto times = model::TimesOf(shard)) {
      first = std::min(first, times->first_ns);
    }
  }
  return first == std::numeric_limits<TimeNs>::max()
             ? otherwise
             : std::max(first, otherwise);
}

// Sums up the records of a backend that no trace of the recording can have.
absl::Status OutsideProblem(const std::string& backend, uint64_t records) {
  return absl::OutOfRangeError(absl::StrCat(
      "backend ", backend, ": ", records,
      " of its records are left out, because their times are before the start "
      "or after the end of the recording; report this to the backend's "
      "author"));
}

std::string HostNameJson() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  std::string json;
  json::AppendJsonString(json, name);
  return json;
}

TimeNs Now() { return MonotonicNs() + EpochOffsetNs(); }

}  // namespace

absl::StatusOr<std::unique_ptr<Recording>> Recording::Create(
    const BackendRegistry& registry, const std::vector<std::string>& names,
    const SessionOptions& options) {
  std::unique_ptr<Recording> recording(new Recording());
  KYMO_ASSIGN_OR_RETURN(const std::vector<ActivityBackend*> backends,
                        FindBackends(registry, names, options));
  SessionOptions shared = options;
  shared.is_default = names.empty();
  if (!shared.shared) shared.shared = std::make_shared<SharedParts>();
  for (ActivityBackend* const backend : backends) {
    absl::Status status = recording->AddGuarded(registry, *backend, shared);
    if (status.ok()) continue;
    // What the user named must be there, and a wrong setting can be corrected.
    // Other errors come from the machine.
    if (!names.empty() || absl::IsInvalidArgument(status)) return status;
    recording->skipped_.push_back({backend->info().name, std::move(status)});
  }
  if (!recording->controllers_.empty()) return recording;
  // What is not there at all comes last.
  for (const Skipped& skipped : recording->skipped_) {
    if (!absl::IsNotFound(skipped.why)) return skipped.why;
  }
  if (!recording->skipped_.empty()) return recording->skipped_.front().why;
  KYMO_RETURN_IF_ERROR(recording->NoneLeft());
  return absl::FailedPreconditionError("no backend is registered");
}

absl::Status Recording::Add(const BackendRegistry& registry,
                            ActivityBackend& backend,
                            const SessionOptions& options) {
  const std::string& name = backend.info().name;
  if (absl::Status status = backend.Availability(options); !status.ok()) {
    return absl::Status(
        status.code(), absl::StrCat("activity ", name, ": ", status.message()));
  }
  KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ActivitySession> session,
                        backend.NewSession(options));
  if (session == nullptr) {
    return absl::InternalError(
        absl::StrCat("backend ", name,
                     " made no session and gave no reason; report this to the "
                     "backend's author"));
  }
  if (std::string limitation = backend.Limitation(options);
      !limitation.empty()) {
    limitations_.push_back(absl::StrCat(name, ": ", limitation));
  }
  controllers_.push_back(std::make_unique<BackendController>(
      name, std::move(session), registry.Share(name)));
  return absl::OkStatus();
}

absl::Status Recording::AddGuarded(const BackendRegistry& registry,
                                   ActivityBackend& backend,
                                   const SessionOptions& options) {
  absl::Status added;
  const absl::Status thrown = GuardedCall("making its session", [&] {
    added = Add(registry, backend, options);
    return absl::OkStatus();
  });
  if (!thrown.ok()) {
    problems_.emplace_back(
        thrown.code(),
        absl::StrCat("backend ", backend.info().name, ": ", thrown.message()));
  }
  return added;
}

absl::Status Recording::NoneLeft() const {
  return controllers_.empty() && !problems_.empty() ? problems_.front()
                                                    : absl::OkStatus();
}

void Recording::KeepRemarks(const BackendController& controller) {
  for (std::string& remark : controller.Remarks()) {
    remarks_.push_back(std::move(remark));
  }
}

template <typename Call>
absl::Status Recording::ForEach(Call call) {
  std::erase_if(controllers_, [&](const auto& controller) {
    absl::Status status = call(*controller);
    if (status.ok()) return false;
    problems_.push_back(std::move(status));
    return true;
  });
  return NoneLeft();
}

void Recording::LeaveOutIfFailed(const BackendController& controller,
                                 const absl::Status& status) {
  if (!controller.has_failed()) return;
  problems_.push_back(status);
  std::erase_if(controllers_, [&](const auto& in_use) {
    return in_use.get() == &controller;
  });
}

absl::Status Recording::Prepare(TargetSetup* setup) {
  return ForEach([=](BackendController& c) { return c.Prepare(setup); });
}

absl::Status Recording::Start(pid_t pid) {
  start_ns_ = Now();
  starter_pid_ = getpid();
  return ForEach([=](BackendController& c) { return c.Start(pid); });
}

void Recording::Poll() {
  // The error of the last backend comes up in Stop.
  (void)ForEach([](BackendController& c) { return c.Poll(); });
}

DurationNs Recording::PollPeriodNs() const {
  DurationNs period_ns = kPollPeriodNs;
  for (const auto& controller : controllers_) {
    if (controller->has_failed()) continue;
    period_ns = std::min(period_ns, controller->PollPeriodNs());
  }
  return std::max(period_ns, kNsPerMs);
}

absl::Status Recording::SetCollecting(const std::string& backend,
                                      bool collecting) {
  for (const auto& controller : controllers_) {
    if (controller->name() != backend) continue;
    const absl::Status status = controller->SetCollecting(collecting);
    LeaveOutIfFailed(*controller, status);
    return status;
  }
  return absl::NotFoundError(
      absl::StrCat("activity ", backend, " is not being recorded"));
}

absl::Status Recording::Dump(const std::string& path) {
  absl::Status status =
      absl::FailedPreconditionError("nothing is being recorded");
  for (const auto& controller : controllers_) {
    status = controller->Dump(path);
    if (absl::IsUnimplemented(status)) continue;
    LeaveOutIfFailed(*controller, status);
    break;
  }
  return status;
}

absl::Status Recording::Stop() {
  if (starter_pid_ != 0 && starter_pid_ != getpid()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the session is that of process ", starter_pid_,
                     ", which forked this one"));
  }
  // A backend whose Stop hangs must not keep others recording meanwhile. Those
  // without a limit are known to return.
  std::stable_partition(controllers_.begin(), controllers_.end(),
                        [](const auto& controller) {
                          return controller->StopLimitNs() == kNoStopLimit;
                        });
  end_ns_ = Now();
  absl::Status status = ForEach([this](BackendController& controller) {
    absl::Status stopped = controller.Stop();
    if (stopped.ok()) end_ns_ = Now();
    return stopped;
  });
  std::ranges::sort(controllers_, {},
                    [](const auto& controller) { return controller->name(); });
  return status;
}

FinishedRecording Recording::Finish(
    const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::vector<model::TraceShard> shards;
  std::vector<KeptRecording> kept;
  std::set<const BackendController*> left_in_file;
  const absl::Status status =
      ForEach([&](BackendController& controller) -> absl::Status {
        model::TraceShard shard;
        KYMO_ASSIGN_OR_RETURN(Collected collected, controller.Collect(shard));
        if (collected.kept) {
          kept.push_back(*std::move(collected.kept));
          left_in_file.insert(&controller);
        } else {
          const uint64_t outside =
              model::RecordsOutside(shard, start_ns_, end_ns_);
          if (outside != 0) {
            problems_.push_back(OutsideProblem(controller.name(), outside));
          }
          shards.push_back(std::move(shard));
        }
        return absl::OkStatus();
      });
  if (!status.ok()) return {status, std::move(kept)};
  // Reading the file needs the memory that these sessions still have.
  std::erase_if(controllers_, [&](const auto& controller) {
    if (!left_in_file.contains(controller.get())) return false;
    KeepRemarks(*controller);
    return true;
  });
  if (begins_with_first_event_) start_ns_ = FirstTime(shards, start_ns_);
  for (model::TraceShard& shard : added_) shards.push_back(std::move(shard));
  model::TraceShard& about = shards.emplace_back();
  for (const auto& [key, json] : metadata) {
    about.metadata.push_back(
        {about.strings.Intern(key), about.strings.Intern(json)});
  }
  // Behind the others, of which the first of a key counts.
  about.metadata.push_back(
      {about.strings.Intern("hostname"), about.strings.Intern(HostNameJson())});
  return {Normalize(std::move(shards), {.start_ns = start_ns_,
                                        .end_ns = end_ns_,
                                        .project_annotations = true}),
          std::move(kept)};
}

std::vector<std::string> Recording::Remarks() const {
  std::vector<std::string> remarks = remarks_;
  for (const auto& controller : controllers_) {
    for (std::string& remark : controller->Remarks()) {
      remarks.push_back(std::move(remark));
    }
  }
  return remarks;
}

std::vector<std::string> Recording::backends() const {
  std::vector<std::string> names;
  for (const auto& controller : controllers_) {
    names.push_back(controller->name());
  }
  return names;
}

}  // namespace kymo
