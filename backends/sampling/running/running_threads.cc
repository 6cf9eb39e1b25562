#include "backends/sampling/running/running_threads.h"

#include <pwd.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"

namespace kymo::sampling {
namespace {

using processes::ProcessInfo;

// A program may make threads faster than they get events. Those that a watched
// thread makes need none, so that a few looks are enough.
constexpr int kMostLooks = 20;
// On a machine that is full a look may take seconds. What is not found then is
// counted as not sampled.
constexpr int64_t kMostLookingNs = 2 * kNsPerSecond;

// A thread is in /proc some microseconds before its FORK record is in the ring,
// unless its maker loses its CPU between. What a thread that has no event uses
// meanwhile is counted as not sampled.
constexpr timespec kRecordDelay = {.tv_sec = 0, .tv_nsec = 5'000'000};

// Whether the user wants the end already: the command keeps these signals
// blocked until the recording has begun.
bool IsInterrupted() {
  sigset_t waiting;
  if (sigpending(&waiting) != 0) return false;
  return sigismember(&waiting, SIGINT) == 1 ||
         sigismember(&waiting, SIGTERM) == 1 ||
         sigismember(&waiting, SIGHUP) == 1;
}

std::string NameOfUser(uid_t user) {
  const passwd* const entry = getpwuid(user);
  return entry == nullptr ? std::to_string(user) : entry->pw_name;
}

class Looks {
 public:
  Looks(const RunningTarget& target, const ThreadWatcher& watcher)
      : target_(target),
        named_(target.pids.begin(), target.pids.end()),
        watcher_(watcher) {}

  absl::StatusOr<RunningThreads> Take() {
    const int64_t begin_ns = MonotonicNs();
    for (int look = 0; look < kMostLooks; ++look) {
      if (look > 0 && MonotonicNs() - begin_ns > kMostLookingNs) break;
      KYMO_ASSIGN_OR_RETURN(const bool gave_any, TakeOne(look == 0));
      if (!gave_any || watcher_.watch == nullptr) break;
    }
    RunningThreads& result = result_;
    for (auto& [pid, process] : found_) {
      result.processes.push_back(std::move(process));
    }
    result.refused = refused_.size();
    if (!result.processes.empty()) return std::move(result);
    return absl::NotFoundError(
        "no process to record: it ended before the recording began");
  }

 private:
  // Whether a thread needed an event.
  absl::StatusOr<bool> TakeOne(bool is_first) {
    result_.time_ns = static_cast<uint64_t>(MonotonicNs());
    const std::vector<std::pair<pid_t, pid_t>> fresh = FindNew();
    if (watcher_.watch == nullptr || fresh.empty()) return false;
    std::set<pid_t> begun;
    if (!is_first) {
      nanosleep(&kRecordDelay, nullptr);
      begun = watcher_.begun();
    }
    bool gave_any = false;
    for (const auto& [pid, tid] : fresh) {
      // Its process may have been refused for an earlier thread.
      if (begun.contains(tid) || refused_.contains(pid)) continue;
      // In a program of its own, signals are the program's.
      if (watcher_.left_out_tid == 0 && IsInterrupted()) {
        return absl::CancelledError(
            "ended by a signal before the recording began");
      }
      KYMO_RETURN_IF_ERROR(Watch(pid, tid, is_first));
      gave_any = true;
    }
    return gave_any;
  }

  std::vector<ProcessInfo> ListTarget() const {
    if (watcher_.left_out_tid != 0) {
      const auto own = processes::ReadProcess(getpid(), watcher_.proc);
      return own ? std::vector{*own} : std::vector<ProcessInfo>();
    }
    std::vector<ProcessInfo> all = processes::ListProcesses(watcher_.proc);
    if (target_.all) return all;
    return processes::TreeOf(all, target_.pids, getpid());
  }

  // The threads that no earlier look found.
  std::vector<std::pair<pid_t, pid_t>> FindNew() {
    std::vector<std::pair<pid_t, pid_t>> fresh;
    for (ProcessInfo& info : ListTarget()) {
      if (info.has_ended() || refused_.contains(info.pid)) continue;
      RunningProcess& process = found_[info.pid];
      process.info = std::move(info);
      const pid_t pid = process.info.pid;
      for (const pid_t tid : processes::ThreadsOf(pid, watcher_.proc)) {
        if (tid == watcher_.left_out_tid) continue;
        if (process.tids.insert(tid).second) fresh.emplace_back(pid, tid);
      }
    }
    return fresh;
  }

  absl::Status Watch(pid_t pid, pid_t tid, bool is_first) {
    const absl::Status status = watcher_.watch(tid);
    if (status.ok()) {
      if (!is_first) result_.late.insert(tid);
    } else if (absl::IsPermissionDenied(status)) {
      if (named_.contains(pid)) return WatchRefusal(pid);
      refused_.insert(pid);
      found_.erase(pid);
    } else if (absl::IsResourceExhausted(status)) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "too many open files: each of the target's threads takes one for "
          "each CPU; raise `ulimit -n`, or run as root, who needs none"));
    } else if (!absl::IsNotFound(status)) {  // it has ended
      return status;
    }
    return absl::OkStatus();
  }

  const RunningTarget& target_;
  const std::set<pid_t> named_;
  const ThreadWatcher& watcher_;
  std::map<pid_t, RunningProcess> found_;
  std::set<pid_t> refused_;
  RunningThreads result_;
};

}  // namespace

absl::StatusOr<RunningThreads> WatchRunningThreads(
    const RunningTarget& target, const ThreadWatcher& watcher) {
  return Looks(target, watcher).Take();
}

bool HasManyThreads(const RunningTarget& target) {
  constexpr size_t kMostEvents = 8'192;
  size_t threads = 0;
  for (const ProcessInfo& process :
       processes::TreeOf(processes::ListProcesses(), target.pids, getpid())) {
    threads += processes::ThreadsOf(process.pid).size();
  }
  const auto cpus = static_cast<size_t>(sysconf(_SC_NPROCESSORS_ONLN));
  return threads * cpus > kMostEvents;
}

std::string MissingText(size_t refused) {
  return absl::StrCat(refused,
                      " of the processes that the target started are missing, "
                      "because they belong to others; root may record them");
}

absl::Status WatchAnyThread(pid_t pid,
                            const std::function<absl::Status(pid_t)>& watch) {
  absl::Status status =
      absl::NotFoundError(absl::StrCat("process ", pid, " has ended"));
  for (const pid_t tid : processes::ThreadsOf(pid)) {
    status = watch(tid);
    if (!absl::IsNotFound(status)) break;
  }
  return absl::IsPermissionDenied(status) ? WatchRefusal(pid) : status;
}

absl::Status CheckProcesses(std::span<const pid_t> pids,
                            const std::function<absl::Status(pid_t)>& watch) {
  absl::Status ended;
  bool is_any_there = pids.empty();
  for (const pid_t pid : pids) {
    absl::Status status = WatchAnyThread(pid, watch);
    if (absl::IsNotFound(status)) {
      ended = std::move(status);
      continue;
    }
    KYMO_RETURN_IF_ERROR(status);
    is_any_there = true;
  }
  return is_any_there ? absl::OkStatus() : ended;
}

absl::Status WatchRefusal(pid_t pid) {
  const auto process = processes::ReadProcess(pid);
  const auto user = processes::UserOf(pid);
  if (!process || !user) {
    return absl::NotFoundError(absl::StrCat("process ", pid, " is gone"));
  }
  const std::string name =
      absl::StrCat("process ", pid, " (", process->name, ")");
  if (*user != geteuid()) {
    const std::string owner = NameOfUser(*user);
    return absl::PermissionDeniedError(absl::StrCat(
        name, " belongs to ", owner, ", and you are ", NameOfUser(geteuid()),
        ": run the command as ", owner == "root" ? "" : owner + " or as ",
        "root, or give it CAP_PERFMON"));
  }
  return absl::PermissionDeniedError(absl::StrCat(
      name,
      " may not be watched by its own user, because it changed its user or "
      "made itself unreadable (PR_SET_DUMPABLE): run the command as root"));
}

}  // namespace kymo::sampling
