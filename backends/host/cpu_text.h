// cpu_text.h - reads the texts of /proc/stat and /proc/loadavg.
//
//   const CpuText cpu = ParseCpu(text_of_proc_stat);
//   if (cpu.all) Use(cpu.all->user, cpu.all->total());
//
// The format is that of proc(5). A line that does not fit it is left out; the
// other lines count.
//
// Threads: any.
#ifndef KYMO_BACKENDS_HOST_CPU_TEXT_H_
#define KYMO_BACKENDS_HOST_CPU_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace kymo::host {

// Time since the machine's start, in clock ticks (sysconf(_SC_CLK_TCK)).
struct CpuTimes {
  uint64_t user = 0;    // with low priority, too; includes guests
  uint64_t system = 0;  // with interrupts
  uint64_t iowait = 0;
  uint64_t steal = 0;  // other guests of the hypervisor
  uint64_t idle = 0;

  uint64_t total() const noexcept {
    return user + system + iowait + steal + idle;
  }
};

struct CoreTimes {
  uint32_t core = 0;
  CpuTimes times;
};

struct CpuText {
  std::optional<CpuTimes> all;               // the sum over all cores
  std::vector<CoreTimes> cores;              // those that are online
  std::optional<uint64_t> context_switches;  // since the machine's start
  std::optional<uint64_t> running;  // threads that run or wait for a core
  std::optional<uint64_t> blocked;  // threads that wait for a disk
};

CpuText ParseCpu(std::string_view stat);

struct LoadText {
  std::optional<double> load_1min;
  std::optional<uint64_t> threads;  // of the whole machine
};

LoadText ParseLoad(std::string_view loadavg);

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_CPU_TEXT_H_
