// cpu_limits.h - the CPU limits of the control groups (cgroups) of a program,
// such as a container's, and how often these stopped threads.
//
//   CpuLimits limits;
//   limits.Begin(pid, std::nullopt);   // the counts from here on
//   limits.Look();                     // now and then, and at the end
//   states.cpu_limit = limits.Strongest();
//
// A process is in a group that is in others, and each of them may have a limit.
// Groups of version 2 have it in cpu.max, those of version 1 in
// cpu.cfs_quota_us. Both count in cpu.stat. The counts are of all threads of
// the group, whichever program's.
//
// Where a file cannot be read, there is no limit. A process that goes to
// another group later is not followed.
//
// Threads: one call at a time. Cost: a look reads two or three files of each
// group around the process, 7 us each, at most twice a second.
#ifndef KYMO_BACKENDS_OFF_CPU_CPU_LIMITS_H_
#define KYMO_BACKENDS_OFF_CPU_CPU_LIMITS_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "profiler/base/owned_descriptor.h"
#include "profiler/base/time.h"
#include "profiler/model/thread_states.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::off_cpu {

// The folders of the groups around a process, of the controller `cpu`. The
// outermost one is last.
// `process` is its folder in /proc. The groups are below `mount`, which is
// /sys/fs/cgroup. If they are not seen there, as those of another container,
// they are what the process itself sees at `mount`. Empty if nobody sees them.
std::vector<std::string> CpuGroupsOf(const std::string& process,
                                     const std::string& mount);

class CpuLimits {
 public:
  // Of the groups that the process is in, or all the running ones are in. Of
  // all processes, the outermost group of the first one.
  void Begin(pid_t pid, const std::optional<RunningTarget>& running);
  // Of the folders of groups that several processes have in common.
  void BeginIn(const std::vector<std::vector<std::string>>& folders);

  // Does nothing within half a second of the last look.
  void Look(TimeNs now_ns);
  void Look();

  // The limit that stopped threads for the longest time since Begin(); if none
  // did, the smallest one.
  model::CpuLimit Strongest() const;

 private:
  struct Group {
    OwnedDescriptor folder;  // also of a group that has ended
    model::CpuLimit before;
    model::CpuLimit limit;  // since Begin()
  };

  std::vector<Group> groups_;
  TimeNs next_look_ns_ = 0;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_CPU_LIMITS_H_
