// process_text.h - reads the texts of /proc/PID/stat, status, io and children.
//
//   const std::optional<ProcessStat> stat = ParseProcessStat(text);
//   if (stat && !stat->is_gone()) Use(stat->threads);
//
// The formats are those of proc(5).
//
// Threads: any. Views borrow from the text.
#ifndef KYMO_BACKENDS_HOST_PROCESS_TEXT_H_
#define KYMO_BACKENDS_HOST_PROCESS_TEXT_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kymo::host {

struct ProcessStat {
  std::string_view name;  // any bytes, parentheses and line ends included
  char state = '?';
  int64_t parent_pid = 0;
  // Of all threads, those that ended included, since the process's start.
  uint64_t minor_faults = 0;
  uint64_t major_faults = 0;
  uint64_t user_ticks = 0;
  uint64_t system_ticks = 0;
  uint64_t threads = 0;
  uint64_t start_ticks = 0;  // after the machine's start: tells pids apart
  uint64_t rss_pages = 0;

  // It has ended, and only its parent has not asked for its status yet. (With
  // other threads, only its main thread has.)
  bool is_gone() const noexcept {
    return state == 'X' || (state == 'Z' && threads <= 1);
  }
};

// Nothing for a text that is cut off or is something else.
std::optional<ProcessStat> ParseProcessStat(std::string_view stat);

// Of one thread, since its start.
struct Switches {
  uint64_t voluntary = 0;
  uint64_t involuntary = 0;
};

std::optional<Switches> ParseSwitches(std::string_view status);

// What a process moved from and to disks, in bytes since its start.
struct DiskBytes {
  uint64_t read = 0;
  uint64_t written = 0;
};

std::optional<DiskBytes> ParseDiskBytes(std::string_view io);

// The process ids of /proc/PID/task/TID/children; stops at what is none.
std::vector<pid_t> ParseChildren(std::string_view children);

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_PROCESS_TEXT_H_
