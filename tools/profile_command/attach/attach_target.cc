#include "tools/profile_command/attach/attach_target.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <ios>
#include <iterator>
#include <regex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"

namespace kymo::tools {
namespace {

using processes::ProcessInfo;

constexpr int kMostWordBytes = 256;

// 0 if there is no such thread.
pid_t ProcessOfThread(pid_t tid) {
  std::ifstream status("/proc/" + std::to_string(tid) + "/status");
  for (std::string word; status >> word;) {
    pid_t pid = 0;
    if (word == "Tgid:" && status >> pid) return pid;
  }
  return 0;
}

absl::StatusOr<ProcessInfo> FindProcess(pid_t pid) {
  auto process = processes::ReadProcess(pid);
  if (!process) {
    return absl::NotFoundError(absl::StrCat("there is no process ", pid,
                                            "; `ps -e` shows those that run"));
  }
  const std::string name =
      absl::StrCat("process ", pid, " (", process->name, ")");
  if (pid == getpid()) {
    return absl::InvalidArgumentError(name + " is this command itself");
  }
  if (process->is_kernel_thread) {
    return absl::FailedPreconditionError(absl::StrCat(
        name,
        " is a thread of the kernel, not a program; --all records what the "
        "kernel does, too"));
  }
  if (process->has_ended()) {
    return absl::NotFoundError(
        absl::StrCat(name, " has ended, and process ", process->parent,
                     ", which started it, has not waited for it yet"));
  }
  const pid_t owner = ProcessOfThread(pid);
  if (owner != 0 && owner != pid) {
    return absl::InvalidArgumentError(
        absl::StrCat(pid, " is a thread of process ", owner, ": --pid=", owner,
                     " records all threads of it"));
  }
  return *std::move(process);
}

// The beginning of the first word of the command line, which programs such as
// PostgreSQL use to tell what they do. No more than that: it may be 128 KiB of
// another user's, and std::regex takes stack for each character.
std::string FirstWord(pid_t pid) {
  char word[kMostWordBytes + 1] = {};
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  file.read(word, kMostWordBytes);
  return word;
}

// Of those that let a process watch others': CAP_PERFMON, CAP_SYS_PTRACE and
// CAP_SYS_ADMIN, by their numbers in capabilities(7)'s header.
constexpr uint64_t kMayWatchOthers =
    uint64_t{1} << 38 | uint64_t{1} << 19 | uint64_t{1} << 21;

bool HasCapabilities() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    uint64_t capabilities = 0;
    if (word == "CapEff:" && status >> std::hex >> capabilities) {
      return (capabilities & kMayWatchOthers) != 0;
    }
  }
  return false;
}

// Leaves out what may not be watched, unless that is all: then whoever begins
// to watch says why not. Returns how many were left out.
size_t LeaveOut(const std::function<bool(pid_t)>& may_watch,
                std::vector<ProcessInfo>& found) {
  std::vector<ProcessInfo> kept;
  std::ranges::copy_if(found, std::back_inserter(kept), may_watch,
                       &ProcessInfo::pid);
  if (kept.empty()) return 0;
  const size_t left_out = found.size() - kept.size();
  found = std::move(kept);
  return left_out;
}

absl::StatusOr<std::vector<ProcessInfo>> FindByName(const std::string& name) {
  std::regex pattern;
  try {
    pattern.assign(name);
  } catch (const std::regex_error& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("--name is '", name,
                     "', which is no regular expression: ", error.what()));
  }
  std::vector<ProcessInfo> found;
  for (ProcessInfo& process : processes::ListProcesses()) {
    if (process.pid == getpid() || process.is_kernel_thread ||
        process.has_ended()) {
      continue;
    }
    if (std::regex_search(process.name, pattern) ||
        std::regex_search(FirstWord(process.pid), pattern)) {
      found.push_back(std::move(process));
    }
  }
  if (!found.empty()) return found;
  return absl::NotFoundError(
      absl::StrCat("no process has a name that matches '", name,
                   "'; `ps -e` shows those that run"));
}

std::string TextOf(const std::vector<ProcessInfo>& named) {
  std::string text =
      absl::StrCat(named.front().name, " (", named.front().pid, ")");
  const size_t others = named.size() - 1;
  if (others > 0) {
    absl::StrAppend(&text, " and ", others, others == 1 ? " other" : " others");
  }
  return text;
}

bool IsSame(const ProcessInfo& before, const ProcessInfo& now) {
  return before.start_ticks == now.start_ticks;
}

}  // namespace

bool MayWatch(pid_t pid) {
  static const bool has_capabilities = HasCapabilities();
  return has_capabilities ||
         processes::UserOf(pid).value_or(geteuid()) == geteuid();
}

absl::StatusOr<AttachTarget> FindAttachTarget(
    const AttachRequest& request, const std::function<bool(pid_t)>& may_watch) {
  AttachTarget target;
  if (request.all) {
    target.running.all = true;
    target.name = "machine";
    target.text = "the whole machine";
    return target;
  }
  if (!request.name.empty()) {
    KYMO_ASSIGN_OR_RETURN(target.named, FindByName(request.name));
    target.left_out = LeaveOut(may_watch, target.named);
  }
  for (const pid_t pid : request.pids) {
    const bool is_known =
        std::ranges::count(target.named, pid, &ProcessInfo::pid) != 0;
    if (is_known) continue;
    KYMO_ASSIGN_OR_RETURN(ProcessInfo process, FindProcess(pid));
    target.named.push_back(std::move(process));
  }
  for (const ProcessInfo& process : target.named) {
    target.running.pids.push_back(process.pid);
  }
  target.name = target.named.front().name;
  // It becomes a part of a path, which the screen shows.
  std::ranges::replace_if(
      target.name,
      [](unsigned char c) { return c == '/' || c < ' ' || c == 0x7f; }, '_');
  if (target.name.starts_with('-')) target.name[0] = '_';
  target.text = TextOf(target.named);
  return target;
}

absl::Status CheckIdentity(const AttachTarget& target) {
  for (const ProcessInfo& process : target.named) {
    const auto now = processes::ReadProcess(process.pid);
    if (!now || IsSame(process, *now)) continue;
    return absl::NotFoundError(absl::StrCat(
        "process ", process.pid, " (", process.name,
        ") ended before the recording began, and another one got its number: "
        "look up the new number, and try again"));
  }
  return absl::OkStatus();
}

size_t CountEnded(const AttachTarget& target) {
  const auto running =
      std::ranges::count_if(target.named, [](const ProcessInfo& process) {
        const auto now = processes::ReadProcess(process.pid);
        return now && IsSame(process, *now) && !now->has_ended();
      });
  return target.named.size() - static_cast<size_t>(running);
}

bool HasEnded(const AttachTarget& target) {
  return !target.running.all && CountEnded(target) == target.named.size();
}

}  // namespace kymo::tools
