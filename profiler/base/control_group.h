// control_group.h - the control groups of a process, and how much memory they
// leave to it.
//
//   for (const ControlGroup& group :
//        ControlGroupsWith("/proc/self/cgroup", "cpu")) { ... }
//   uint64_t bytes =
//       ControlGroupMemoryLeft("/proc/self/cgroup", "/sys/fs/cgroup");
//
// A process stands in a group that stands in others, and each may have a limit;
// the least that any of them leaves counts. Groups of version 2 are lines
// "0::/path" of the first file and folders of the second place, those of
// version 1 "4:memory:/path" and folders of its folder `memory`. A container
// may name groups of the host and see only its own, which is then the outermost
// one.
//
// The page cache that a group holds can be taken back and is counted as left;
// files in memory (tmpfs) cannot.
#ifndef KYMO_PROFILER_BASE_CONTROL_GROUP_H_
#define KYMO_PROFILER_BASE_CONTROL_GROUP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kymo {

struct ControlGroup {
  bool is_version_2 = false;
  std::string path;  // "/a/b", below the hierarchy's top
};

// In the file's order: the group of version 1 that has the controller, and that
// of version 2, whose line does not name controllers.
std::vector<ControlGroup> ControlGroupsWith(
    const std::string& groups_of_process, std::string_view controller);

// The folders of the group and of those around it. The outermost, `top`, is
// last.
std::vector<std::string> GroupAndAround(const std::string& top,
                                        std::string path);

// The largest number where there is no limit, or none that can be read.
uint64_t ControlGroupMemoryLeft(const std::string& groups_of_process,
                                const std::string& mount);

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_CONTROL_GROUP_H_
