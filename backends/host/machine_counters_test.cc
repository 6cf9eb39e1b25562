#include "backends/host/machine_counters.h"

#include <errno.h>

#include <array>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "backends/host/host_settings.h"
#include "backends/host/test_proc_folder.h"

namespace kymo::host {
namespace {

constexpr TimeNs kSecond = kNsPerSecond;
constexpr int64_t kPid = 42;

class MachineCountersTest : public testing::Test {
 protected:
  // The fields that CPU times have in /proc/stat.
  void WriteStat(const std::string& all, const std::string& cores = "") {
    folder_.Write("proc/stat", "cpu  " + all + "\n" + cores +
                                   "ctxt 1000\nprocs_running 2\n"
                                   "procs_blocked 1\n");
  }
  void Read(TimeNs now_ns) { machine_.Read(now_ns, reader_, log_); }
  Values Of(const char* name) {
    if (!is_taken_) log_.MoveTo(shard_);
    is_taken_ = true;
    return ValuesOf(shard_, kPid, name);
  }

  ProcFolder folder_;
  MachineCounters machine_{folder_.paths(), kPid, /*per_core=*/true};
  FileReader reader_;
  CounterLog log_{10'000};
  model::TraceShard shard_;
  bool is_taken_ = false;
};

TEST_F(MachineCountersTest, StatesAreThePercentOfTheTicksBetweenReadings) {
  WriteStat("100 0 100 1000 10 0 0 5");
  Read(kSecond);
  // 40 of user, 10 of nice, 20 of system, 10 of interrupts, 100 of idle, 15 of
  // iowait, 5 of steal: 200 ticks.
  WriteStat("140 10 120 1100 25 4 6 10");
  Read(2 * kSecond);
  EXPECT_EQ(Of("machine.cpu.user_percent"), (Values{{kSecond, 25}}));
  EXPECT_EQ(Of("machine.cpu.system_percent"), (Values{{kSecond, 15}}));
  EXPECT_EQ(Of("machine.cpu.idle_percent"), (Values{{kSecond, 50}}));
  EXPECT_EQ(Of("machine.cpu.iowait_percent"), (Values{{kSecond, 7.5}}));
  EXPECT_EQ(Of("machine.cpu.steal_percent"), (Values{{kSecond, 2.5}}));
  // Without the thread that reads.
  EXPECT_EQ(Of("machine.run_queue"), (Values{{kSecond, 1}, {2 * kSecond, 1}}));
  EXPECT_EQ(Of("machine.blocked_threads"),
            (Values{{kSecond, 1}, {2 * kSecond, 1}}));
}

// The mean of a rate times its time stays what was counted.
TEST_F(MachineCountersTest, InAPauseUseAndRatesAreZero) {
  WriteStat("100 0 0 100", "cpu3 100 0 0 100\n");
  Read(kSecond);
  WriteStat("110 0 0 110", "cpu3 110 0 0 110\n");
  Read(2 * kSecond);
  machine_.Pause(2 * kSecond, log_);
  for (const char* const name :
       {"machine.cpu.user_percent", "machine.cpu.idle_percent",
        "machine.cpu3.busy_percent"}) {
    EXPECT_EQ(Of(name), (Values{{kSecond, 50}, {2 * kSecond, 0}})) << name;
  }
  EXPECT_EQ(Of("machine.context_switches_per_s").back().second, 0);
  EXPECT_EQ(Of("machine.context_switches_per_s").back().first, 2 * kSecond);
  EXPECT_EQ(Of("machine.run_queue"), (Values{{kSecond, 1}, {2 * kSecond, 1}}));
}

TEST_F(MachineCountersTest, AnIntervalWithoutATickGoesOn) {
  WriteStat("100 0 0 100");
  Read(1 * kSecond);
  Read(2 * kSecond);
  WriteStat("130 0 0 110");
  Read(3 * kSecond);
  EXPECT_EQ(Of("machine.cpu.user_percent"), (Values{{1 * kSecond, 75}}));
}

TEST_F(MachineCountersTest, AStateThatGoesBackwardsTookNoTime) {
  WriteStat("100 0 0 100 50");
  Read(1 * kSecond);
  WriteStat("110 0 0 110 40");
  Read(2 * kSecond);
  EXPECT_EQ(Of("machine.cpu.iowait_percent"), (Values{{1 * kSecond, 0}}));
  EXPECT_EQ(Of("machine.cpu.user_percent"), (Values{{1 * kSecond, 50}}));
}

TEST_F(MachineCountersTest, CoresComeAndGo) {
  WriteStat("0 0 0 0", "cpu0 0 0 0 0\ncpu1 0 0 0 0\n");
  Read(1 * kSecond);
  WriteStat("40 0 0 0", "cpu0 30 0 0 10\ncpu1 10 0 0 20 10\ncpu2 9 0 0 9\n");
  Read(2 * kSecond);
  WriteStat("50 0 0 0", "cpu0 40 0 0 10\ncpu2 10 0 0 9\n");
  Read(3 * kSecond);
  EXPECT_EQ(Of("machine.cpu0.busy_percent"),
            (Values{{1 * kSecond, 75}, {2 * kSecond, 100}}));
  // 10 of 40 ticks, then offline.
  EXPECT_EQ(Of("machine.cpu1.busy_percent"),
            (Values{{1 * kSecond, 25}, {3 * kSecond, 0}}));
  EXPECT_EQ(Of("machine.cpu2.busy_percent"), (Values{{2 * kSecond, 100}}));
}

TEST_F(MachineCountersTest, MemoryFaultsAndLoad) {
  folder_.Write("proc/meminfo",
                "MemTotal: 10 kB\nMemFree: 1 kB\nMemAvailable: 4 kB\n"
                "Buffers: 1 kB\nCached: 2 kB\n");
  folder_.Write("proc/loadavg", "0.50 0 0 1/99 5\n");
  folder_.Write("proc/vmstat", "pgfault 100\npgmajfault 10\n");
  Read(1 * kSecond);
  folder_.Write("proc/vmstat", "pgfault 160\npgmajfault 20\n");
  Read(3 * kSecond);
  EXPECT_EQ(Of("machine.memory.used_bytes").front().second, 6 * 1024);
  EXPECT_EQ(Of("machine.memory.available_bytes").front().second, 4 * 1024);
  EXPECT_EQ(Of("machine.memory.cached_bytes").front().second, 3 * 1024);
  EXPECT_EQ(Of("machine.load_1min").front().second, 0.5);
  EXPECT_EQ(Of("machine.threads").front().second, 99);
  EXPECT_EQ(Of("machine.page_faults.minor_per_s"), (Values{{1 * kSecond, 25}}));
  EXPECT_EQ(Of("machine.page_faults.major_per_s"), (Values{{1 * kSecond, 5}}));
}

TEST_F(MachineCountersTest, OnlyDisksThatAreHardwareCount) {
  folder_.Write("sys/block/sda/device/x", "");
  folder_.Write("sys/block/sdb/device/x", "");
  folder_.Write("sys/block/dm-0/x", "");
  const auto disk = [](const char* name, int sectors_read, int written) {
    return std::string("8 0 ") + name + " 1 1 " + std::to_string(sectors_read) +
           " 1 1 1 " + std::to_string(written) + " 1 1 1 1\n";
  };
  folder_.Write(
      "proc/diskstats",
      disk("sda", 100, 100) + disk("sda1", 100, 100) + disk("dm-0", 100, 100));
  Read(1 * kSecond);
  // sdb was plugged in. What it did before does not count.
  folder_.Write("proc/diskstats",
                disk("sda", 102, 104) + disk("sda1", 102, 104) +
                    disk("dm-0", 102, 104) + disk("sdb", 5'000, 5'000));
  Read(2 * kSecond);
  folder_.Write("proc/diskstats", disk("sdb", 5'001, 5'000));
  Read(3 * kSecond);
  EXPECT_EQ(Of("machine.disk.read_bytes_per_s"),
            (Values{{1 * kSecond, 1'024}, {2 * kSecond, 512}}));
  EXPECT_EQ(Of("machine.disk.written_bytes_per_s"),
            (Values{{1 * kSecond, 2'048}, {2 * kSecond, 0}}));
}

std::string Interface(const char* name, int received, int sent) {
  return std::string(name) + ": " + std::to_string(received) +
         " 0 0 0 0 0 0 0 " + std::to_string(sent) + " 0 0 0 0 0 0 0\n";
}

TEST_F(MachineCountersTest, BridgesAreNotCountedBesideTheirHardware) {
  folder_.Write("sys/class/net/eth0/device/x", "");
  folder_.Write("proc/net/dev", Interface("lo", 0, 0) +
                                    Interface("eth0", 10, 20) +
                                    Interface("docker0", 10, 20));
  Read(1 * kSecond);
  folder_.Write("proc/net/dev", Interface("lo", 500, 500) +
                                    Interface("eth0", 17, 30) +
                                    Interface("docker0", 17, 30));
  Read(2 * kSecond);
  EXPECT_EQ(Of("machine.network.received_bytes_per_s"),
            (Values{{1 * kSecond, 7}}));
  EXPECT_EQ(Of("machine.network.sent_bytes_per_s"),
            (Values{{1 * kSecond, 10}}));
}

TEST_F(MachineCountersTest, AContainerHasVirtualInterfacesOnly) {
  folder_.Write("proc/net/dev",
                Interface("lo", 0, 0) + Interface("eth0", 10, 20));
  Read(1 * kSecond);
  folder_.Write("proc/net/dev",
                Interface("lo", 9, 9) + Interface("eth0", 13, 20));
  Read(2 * kSecond);
  EXPECT_EQ(Of("machine.network.received_bytes_per_s"),
            (Values{{1 * kSecond, 3}}));
}

// Whoever reads /proc/stat runs, but the kernel need not count it.
TEST_F(MachineCountersTest, NobodyWaitsOnAnIdleMachine) {
  folder_.Write("proc/stat", "procs_running 0\nprocs_blocked 0\n");
  Read(1 * kSecond);
  folder_.Write("proc/stat", "procs_running 1\n");
  Read(2 * kSecond);
  EXPECT_EQ(Of("machine.run_queue"),
            (Values{{1 * kSecond, 0}, {2 * kSecond, 0}}));
  EXPECT_EQ(Of("machine.blocked_threads"), (Values{{1 * kSecond, 0}}));
}

TEST(HostSettingsTest, HaveDefaultsAndBounds) {
  const HostSettings settings = *HostTable().Read({});
  EXPECT_EQ(settings.period_ms, 100);
  EXPECT_TRUE(settings.cores);
  EXPECT_EQ(settings.processes, 64);
  EXPECT_EQ(settings.buffer_bytes, 268'435'456u);  // 256 MiB
  EXPECT_EQ(HostTable().Read({{"host_buffer", "1GiB"}})->buffer_bytes,
            1'073'741'824u);
  const auto is_taken = [](const char* name, const char* value) {
    return HostTable().Read({{name, value}}).ok();
  };
  for (const auto& [name, least, less, most, more] :
       {std::array{"host_period_ms", "10", "9", "60000", "60001"},
        std::array{"host_processes", "1", "0", "4096", "4097"},
        std::array{"host_buffer", "1MiB", "1023KiB", "64GiB", "65GiB"}}) {
    EXPECT_TRUE(is_taken(name, least)) << name;
    EXPECT_FALSE(is_taken(name, less)) << name;
    EXPECT_TRUE(is_taken(name, most)) << name;
    EXPECT_FALSE(is_taken(name, more)) << name;
  }
}

TEST_F(MachineCountersTest, FilesThatAreAbsentHaveNoCountersAndAreSaid) {
  folder_.Write("proc/loadavg", "0.50 0 0 1/99 5\n");
  Read(1 * kSecond);
  Read(2 * kSecond);
  Of("");
  EXPECT_EQ(NamesOf(shard_),
            (std::set<std::string>{"machine.load_1min", "machine.threads"}));
  EXPECT_EQ(reader_.unreadable(),
            (std::map<std::string, int>{{"/proc/diskstats", ENOENT},
                                        {"/proc/meminfo", ENOENT},
                                        {"/proc/net/dev", ENOENT},
                                        {"/proc/stat", ENOENT},
                                        {"/proc/vmstat", ENOENT}}));
}

}  // namespace
}  // namespace kymo::host
