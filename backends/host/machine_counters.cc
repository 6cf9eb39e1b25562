#include "backends/host/machine_counters.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/host/memory_text.h"
#include "profiler/base/strings.h"

namespace kymo::host {
namespace {

double Percent(uint64_t part, uint64_t whole) {
  return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// The time in each state between two readings. The kernel may correct `iowait`
// and `idle` downwards; a state that went backwards took no time.
CpuTimes Between(const CpuTimes& before, const CpuTimes& now) {
  return {.user = Growth(before.user, now.user),
          .system = Growth(before.system, now.system),
          .iowait = Growth(before.iowait, now.iowait),
          .steal = Growth(before.steal, now.steal),
          .idle = Growth(before.idle, now.idle)};
}

void SetIf(Gauge& gauge, CounterLog& log, TimeNs now_ns,
           std::optional<uint64_t> value) {
  if (value) gauge.Set(log, now_ns, static_cast<double>(*value));
}

void UpdateIf(Rate& rate, CounterLog& log, TimeNs now_ns,
              std::optional<uint64_t> count) {
  if (count) rate.Update(log, now_ns, *count);
}

}  // namespace

void TrafficSum::Add(const std::vector<Traffic>& devices) {
  for (const Traffic& device : devices) {
    const auto it = before_.find(device.name);
    if (it == before_.end()) {
      before_.emplace(std::string(device.name),
                      Before{device.in_bytes, device.out_bytes});
      continue;
    }
    in_bytes_ += Growth(it->second.in_bytes, device.in_bytes);
    out_bytes_ += Growth(it->second.out_bytes, device.out_bytes);
    it->second = {device.in_bytes, device.out_bytes};
  }
}

MachineCounters::MachineCounters(HostPaths paths, int64_t pid, bool per_core)
    : paths_(std::move(paths)),
      pid_(pid),
      per_core_(per_core),
      user_(pid, "machine.cpu.user_percent"),
      system_(pid, "machine.cpu.system_percent"),
      iowait_(pid, "machine.cpu.iowait_percent"),
      steal_(pid, "machine.cpu.steal_percent"),
      idle_(pid, "machine.cpu.idle_percent"),
      run_queue_(pid, "machine.run_queue"),
      blocked_(pid, "machine.blocked_threads"),
      load_(pid, "machine.load_1min"),
      threads_(pid, "machine.threads"),
      used_(pid, "machine.memory.used_bytes"),
      available_(pid, "machine.memory.available_bytes"),
      cached_(pid, "machine.memory.cached_bytes"),
      switches_(pid, "machine.context_switches_per_s"),
      minor_faults_(pid, "machine.page_faults.minor_per_s"),
      major_faults_(pid, "machine.page_faults.major_per_s"),
      disk_read_(pid, "machine.disk.read_bytes_per_s"),
      disk_written_(pid, "machine.disk.written_bytes_per_s"),
      received_(pid, "machine.network.received_bytes_per_s"),
      sent_(pid, "machine.network.sent_bytes_per_s") {}

void MachineCounters::Read(TimeNs now_ns, FileReader& reader, CounterLog& log) {
  ReadCpu(now_ns, reader, log);
  ReadMemory(now_ns, reader, log);
  ReadTraffic(now_ns, reader, log);
}

void MachineCounters::Pause(TimeNs now_ns, CounterLog& log) {
  for (Gauge* const gauge : {&user_, &system_, &iowait_, &steal_, &idle_}) {
    gauge->End(log, now_ns);
  }
  for (auto& [number, core] : cores_) core.busy.End(log, now_ns);
  for (Rate* const rate : {&switches_, &minor_faults_, &major_faults_,
                           &disk_read_, &disk_written_, &received_, &sent_}) {
    rate->End(log, now_ns);
  }
}

void MachineCounters::ReadCpu(TimeNs now_ns, FileReader& reader,
                              CounterLog& log) {
  if (const auto text = reader.Read(paths_.proc + "/stat", "/proc/stat")) {
    const CpuText cpu = ParseCpu(*text);
    if (cpu.all) {
      const CpuTimes spent = Between(before_.value_or(*cpu.all), *cpu.all);
      // No tick since the last reading: this interval goes on.
      if (const uint64_t total = spent.total(); total > 0) {
        user_.Set(log, before_ns_, Percent(spent.user, total));
        system_.Set(log, before_ns_, Percent(spent.system, total));
        iowait_.Set(log, before_ns_, Percent(spent.iowait, total));
        steal_.Set(log, before_ns_, Percent(spent.steal, total));
        idle_.Set(log, before_ns_, Percent(spent.idle, total));
      }
      if (!before_ || spent.total() > 0) {
        before_ = cpu.all;
        before_ns_ = now_ns;
      }
    }
    if (per_core_) ReadCores(now_ns, cpu, log);
    // The thread that reads the file runs, too.
    if (cpu.running) {
      SetIf(run_queue_, log, now_ns, *cpu.running - (*cpu.running > 0));
    }
    SetIf(blocked_, log, now_ns, cpu.blocked);
    UpdateIf(switches_, log, now_ns, cpu.context_switches);
  }
  if (const auto text =
          reader.Read(paths_.proc + "/loadavg", "/proc/loadavg")) {
    const LoadText load = ParseLoad(*text);
    if (load.load_1min) load_.Set(log, now_ns, *load.load_1min);
    SetIf(threads_, log, now_ns, load.threads);
  }
}

void MachineCounters::ReadCores(TimeNs now_ns, const CpuText& cpu,
                                CounterLog& log) {
  for (const CoreTimes& core : cpu.cores) {
    const auto [it, is_new] = cores_.try_emplace(
        core.core, Core{Gauge(pid_, absl::StrCat("machine.cpu", core.core,
                                                 ".busy_percent")),
                        core.times, now_ns, now_ns});
    it->second.seen_ns = now_ns;
    if (is_new) continue;
    const CpuTimes spent = Between(it->second.before, core.times);
    const uint64_t total = spent.total();
    if (total == 0) continue;
    it->second.busy.Set(log, it->second.before_ns,
                        Percent(total - spent.idle - spent.iowait, total));
    it->second.before = core.times;
    it->second.before_ns = now_ns;
  }
  // Cores that were taken offline.
  for (auto it = cores_.begin(); it != cores_.end();) {
    if (it->second.seen_ns == now_ns) {
      ++it;
    } else {
      it->second.busy.End(log, now_ns);
      it = cores_.erase(it);
    }
  }
}

void MachineCounters::ReadMemory(TimeNs now_ns, FileReader& reader,
                                 CounterLog& log) {
  if (const auto text =
          reader.Read(paths_.proc + "/meminfo", "/proc/meminfo")) {
    const MemoryText memory = ParseMemory(*text);
    SetIf(used_, log, now_ns, memory.used);
    SetIf(available_, log, now_ns, memory.available);
    SetIf(cached_, log, now_ns, memory.cached);
  }
  if (const auto text = reader.Read(paths_.proc + "/vmstat", "/proc/vmstat")) {
    const FaultText faults = ParseFaults(*text);
    UpdateIf(minor_faults_, log, now_ns, faults.minor);
    UpdateIf(major_faults_, log, now_ns, faults.major);
  }
}

void MachineCounters::ReadTraffic(TimeNs now_ns, FileReader& reader,
                                  CounterLog& log) {
  if (const auto text =
          reader.Read(paths_.proc + "/diskstats", "/proc/diskstats")) {
    std::vector<Traffic> disks = ParseDisks(*text);
    // A partition's bytes are those of its disk, too; so are those of a RAID.
    std::erase_if(disks, [&](const Traffic& disk) {
      return !IsHardware("/block/", disk.name);
    });
    disks_.Add(disks);
    if (!disks.empty()) {
      disk_read_.Update(log, now_ns, disks_.in_bytes());
      disk_written_.Update(log, now_ns, disks_.out_bytes());
    }
  }
  if (const auto text =
          reader.Read(paths_.proc + "/net/dev", "/proc/net/dev")) {
    std::vector<Traffic> all = ParseInterfaces(*text);
    std::erase_if(all, [](const Traffic& i) { return i.name == "lo"; });
    std::vector<Traffic> hardware = all;
    std::erase_if(hardware, [&](const Traffic& interface) {
      return !IsHardware("/class/net/", interface.name);
    });
    // A container has no hardware of its own.
    interfaces_.Add(hardware.empty() ? all : hardware);
    received_.Update(log, now_ns, interfaces_.in_bytes());
    sent_.Update(log, now_ns, interfaces_.out_bytes());
  }
}

bool MachineCounters::IsHardware(const char* folder, std::string_view name) {
  // A slash would name another file. /sys has `!` in its place.
  std::string file = absl::StrCat(folder, ToAbsl(name));
  std::replace(file.begin() +
                   static_cast<std::ptrdiff_t>(std::string_view(folder).size()),
               file.end(), '/', '!');
  const auto known = is_hardware_.find(file);
  if (known != is_hardware_.end()) return known->second;
  const bool is_hardware =
      access(absl::StrCat(paths_.sys, file, "/device").c_str(), F_OK) == 0;
  is_hardware_.emplace(std::move(file), is_hardware);
  return is_hardware;
}

}  // namespace kymo::host
