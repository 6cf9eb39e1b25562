#include "tools/profile_command/attach/attach_doors.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "profiler/door/knock.h"
#include "profiler/processes/process_list.h"
#include "tools/profile_command/start/other_kymo.h"

namespace kymo::tools {

std::vector<pid_t> ProcessesWithDoors(const RunningTarget& running) {
  const std::vector<processes::ProcessInfo> all = processes::ListProcesses();
  std::vector<pid_t> pids;
  const auto add = [&](const std::vector<processes::ProcessInfo>& found) {
    for (const processes::ProcessInfo& process : found) {
      if (!process.is_kernel_thread && !process.has_ended() &&
          process.pid != getpid()) {
        pids.push_back(process.pid);
      }
    }
  };
  add(running.all ? all : processes::TreeOf(all, running.pids, getpid()));
  return pids;
}

bool CarriesKymo(pid_t pid) {
  const std::string folder = absl::StrCat("/proc/", pid);
  std::ifstream maps(folder + "/maps");
  std::set<std::string> seen;
  for (std::string line; std::getline(maps, line);) {
    // Its code, "7f...-7f... r-xp ... /usr/lib/libc.so.6".
    const size_t path = line.find('/');
    if (path == std::string::npos || line.find("r-xp") > path) continue;
    // Another file may have that name meanwhile.
    if (line.ends_with(" (deleted)")) continue;
    if (!seen.insert(line.substr(path)).second) continue;
    const LinkedKymo linked =
        FindLinkedKymo(absl::StrCat(folder, "/root", line.substr(path)));
    if (linked.has_this || linked.has_other) return true;
  }
  return false;
}

std::string DoorText(const door::Doors& doors, const AttachTarget& target,
                     bool wants_memory) {
  std::string text;
  for (const std::string& refusal : doors.refusals()) {
    absl::StrAppend(&text, "; no annotated ranges: ", refusal);
  }
  if (!doors.was_asked()) return text;
  for (const processes::ProcessInfo& process : target.named) {
    const bool is_open = std::ranges::any_of(
        doors.opened(), [&](const std::shared_ptr<door::OpenDoor>& door) {
          return door->pid() == process.pid;
        });
    if (is_open || !doors.refusals().empty() || !CarriesKymo(process.pid)) {
      continue;
    }
    const absl::Status why = door::Knock(process.pid).status();
    absl::StrAppend(
        &text,
        "; no annotated ranges, although it has Kymo in it: ", why.message());
  }
  if (!wants_memory) return text;
  for (const std::shared_ptr<door::OpenDoor>& door : doors.opened()) {
    if (door->watches_heap()) continue;
    absl::StrAppend(&text, "; the heap of ", door->name(),
                    " is not seen: preload libkymo_runtime_memory.so, or put "
                    "//:memory_hooks into it");
  }
  return text;
}

}  // namespace kymo::tools
