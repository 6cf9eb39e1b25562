// machine_counters.h - counters of the whole machine, read from /proc.
//
//   MachineCounters machine({}, getpid());
//   machine.Read(now_ns, reader, log);      // every so often
//
// README.md lists the counters. The numbers of a container are those of the
// machine, except for the network, which is that of its namespace.
//
// Threads: one at a time.
#ifndef KYMO_BACKENDS_HOST_MACHINE_COUNTERS_H_
#define KYMO_BACKENDS_HOST_MACHINE_COUNTERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/host/counter_log.h"
#include "backends/host/cpu_text.h"
#include "backends/host/file_reader.h"
#include "backends/host/traffic_text.h"
#include "profiler/base/time.h"

namespace kymo::host {

// Where the files are; tests have their own.
struct HostPaths {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

// The traffic of several devices as one count that only grows, whatever
// appears, vanishes or starts again from 0.
class TrafficSum {
 public:
  // `devices` of now. A device that is new adds nothing: its count is of the
  // time before.
  void Add(const std::vector<Traffic>& devices);
  uint64_t in_bytes() const noexcept { return in_bytes_; }
  uint64_t out_bytes() const noexcept { return out_bytes_; }

 private:
  struct Before {
    uint64_t in_bytes;
    uint64_t out_bytes;
  };
  std::map<std::string, Before, std::less<>> before_;
  uint64_t in_bytes_ = 0;
  uint64_t out_bytes_ = 0;
};

class MachineCounters {
 public:
  // The counters belong to the track of process `pid`.
  MachineCounters(HostPaths paths, int64_t pid, bool per_core);

  void Read(TimeNs now_ns, FileReader& reader, CounterLog& log);

  // Nothing is read from `now_ns` on: CPU use and rates are 0 then.
  void Pause(TimeNs now_ns, CounterLog& log);

 private:
  struct Core {
    Gauge busy;
    CpuTimes before;
    TimeNs before_ns;
    TimeNs seen_ns;
  };

  void ReadCpu(TimeNs now_ns, FileReader& reader, CounterLog& log);
  void ReadCores(TimeNs now_ns, const CpuText& cpu, CounterLog& log);
  void ReadMemory(TimeNs now_ns, FileReader& reader, CounterLog& log);
  void ReadTraffic(TimeNs now_ns, FileReader& reader, CounterLog& log);
  // Whether a device of `folder` ("/block/", "/class/net/") is hardware, not
  // made of other devices. Asks the file system once for each name.
  bool IsHardware(const char* folder, std::string_view name);

  const HostPaths paths_;
  const int64_t pid_;
  const bool per_core_;
  std::optional<CpuTimes> before_;
  TimeNs before_ns_ = 0;
  std::map<uint32_t, Core> cores_;
  TrafficSum disks_;
  TrafficSum interfaces_;
  std::map<std::string, bool, std::less<>> is_hardware_;

  Gauge user_, system_, iowait_, steal_, idle_;
  Gauge run_queue_, blocked_, load_, threads_;
  Gauge used_, available_, cached_;
  Rate switches_, minor_faults_, major_faults_;
  Rate disk_read_, disk_written_, received_, sent_;
};

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_MACHINE_COUNTERS_H_
