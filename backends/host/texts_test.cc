// The parsers of texts of /proc: real ones, and hostile ones.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "backends/host/cpu_text.h"
#include "backends/host/memory_text.h"
#include "backends/host/process_text.h"
#include "backends/host/traffic_text.h"

namespace kymo::host {
namespace {

constexpr char kStat[] =
    "cpu  1974679 604934 400373 541141 9012 3 2909 4954 17 5\n"
    "cpu0 956221 300886 192463 312667 3957 0 88 2431 0 0\n"
    "cpu511 1018458 304048 207910 228474 5055 3 2821 2522 17 5\n"
    "intr 14035774 0 0 25 0\n"
    "ctxt 28119489\n"
    "btime 1795355208\n"
    "processes 542698\n"
    "procs_running 3\n"
    "procs_blocked 1\n"
    "softirq 7218010 0 1042309 4 83831\n";

TEST(CpuTextTest, ReadsTheStatesOfAllAndOfEachCore) {
  const CpuText cpu = ParseCpu(kStat);
  ASSERT_TRUE(cpu.all);
  EXPECT_EQ(cpu.all->user, 1974679u + 604934);
  EXPECT_EQ(cpu.all->system, 400373u + 3 + 2909);
  EXPECT_EQ(cpu.all->iowait, 9012u);
  EXPECT_EQ(cpu.all->steal, 4954u);
  EXPECT_EQ(cpu.all->idle, 541141u);
  // Guests are part of `user` and do not count again.
  EXPECT_EQ(cpu.all->total(),
            1974679u + 604934 + 400373 + 541141 + 9012 + 3 + 2909 + 4954);
  ASSERT_EQ(cpu.cores.size(), 2u);
  EXPECT_EQ(cpu.cores[0].core, 0u);
  EXPECT_EQ(cpu.cores[1].core, 511u);
  EXPECT_EQ(cpu.cores[1].times.idle, 228474u);
  EXPECT_EQ(cpu.context_switches, 28119489u);
  EXPECT_EQ(cpu.running, 3u);
  EXPECT_EQ(cpu.blocked, 1u);
}

TEST(CpuTextTest, OldKernelsHaveFourColumns) {
  const CpuText cpu = ParseCpu("cpu  1 2 3 4\n");
  ASSERT_TRUE(cpu.all);
  EXPECT_EQ(cpu.all->user, 3u);
  EXPECT_EQ(cpu.all->steal, 0u);
  EXPECT_EQ(cpu.running, std::nullopt);
}

TEST(CpuTextTest, LinesThatDoNotFitAreLeftOut) {
  const CpuText cpu = ParseCpu(
      "cpu 1 2 3\ncpu0 1 2 x 4\ncpu-1 1 2 3 4\ncpu4294967296 1 2 3 4\n"
      "cpufreq 1 2 3 4\ncpu7 1 2 3 4\nctxt -5\nprocs_running\n");
  EXPECT_FALSE(cpu.all);
  ASSERT_EQ(cpu.cores.size(), 1u);
  EXPECT_EQ(cpu.cores[0].core, 7u);
  EXPECT_EQ(cpu.context_switches, std::nullopt);
  EXPECT_EQ(cpu.running, std::nullopt);
}

TEST(CpuTextTest, FiveHundredAndTwelveCores) {
  std::string text = "cpu  0 0 0 0\n";
  for (int core = 0; core < 512; ++core) {
    text +=
        "cpu" + std::to_string(core) + " 1 0 0 " + std::to_string(core) + "\n";
  }
  const CpuText cpu = ParseCpu(text);
  ASSERT_EQ(cpu.cores.size(), 512u);
  EXPECT_EQ(cpu.cores[511].times.idle, 511u);
}

TEST(CpuTextTest, ReadsTheLoad) {
  const LoadText load = ParseLoad("2.30 2.37 2.02 3/151 24966\n");
  EXPECT_EQ(load.load_1min, 2.30);
  EXPECT_EQ(load.threads, 151u);
  for (const char* const text : {"", "x", "inf 1 1 1", "1e999 1 1 /", "nan"}) {
    EXPECT_EQ(ParseLoad(text).load_1min, std::nullopt) << text;
    EXPECT_EQ(ParseLoad(text).threads, std::nullopt) << text;
  }
}

TEST(MemoryTextTest, ReadsWhatIsUsedAvailableAndCached) {
  const MemoryText memory = ParseMemory(
      "MemTotal:       24684084 kB\nMemFree:        21647744 kB\n"
      "MemAvailable:   23233208 kB\nBuffers:           42308 kB\n"
      "Cached:          1416512 kB\nSwapCached:            7 kB\n");
  EXPECT_EQ(memory.used, uint64_t{24684084 - 23233208} * 1024);
  EXPECT_EQ(memory.available, uint64_t{23233208} * 1024);
  EXPECT_EQ(memory.cached, uint64_t{42308 + 1416512} * 1024);
}

TEST(MemoryTextTest, NumbersThatAreNoBytesAreNone) {
  EXPECT_EQ(ParseMemory("MemAvailable: 18014398509481983 kB\n").available,
            ~uint64_t{1023});
  EXPECT_EQ(ParseMemory("MemAvailable: 18014398509481984 kB\n").available,
            std::nullopt);
}

TEST(MemoryTextTest, OldKernelsDoNotSayWhatIsAvailable) {
  const MemoryText memory = ParseMemory(
      "MemTotal: 100 kB\nMemFree: 20 kB\nBuffers: 3 kB\nCached: 7 kB\n");
  EXPECT_EQ(memory.available, 30u * 1024);
  EXPECT_EQ(memory.used, 70u * 1024);
}

TEST(MemoryTextTest, WhatTheKernelDoesNotSayIsNotMadeUp) {
  const MemoryText no_buffers =
      ParseMemory("MemTotal: 100 kB\nMemFree: 20 kB\nCached: 7 kB\n");
  EXPECT_EQ(no_buffers.cached, 7u * 1024);
  EXPECT_EQ(no_buffers.available, 27u * 1024);
  const MemoryText no_cache =
      ParseMemory("MemTotal: 100 kB\nMemFree: 20 kB\nBuffers: 3 kB\n");
  EXPECT_EQ(no_cache.cached, std::nullopt);
  EXPECT_EQ(no_cache.available, std::nullopt);
  EXPECT_EQ(no_cache.used, std::nullopt);
  // All is available, and nothing is used.
  const MemoryText idle = ParseMemory("MemTotal: 9 kB\nMemAvailable: 9 kB\n");
  EXPECT_EQ(idle.used, 0u);
}

TEST(MemoryTextTest, NumbersThatCannotBeAreLeftOut) {
  const MemoryText memory = ParseMemory(
      "MemTotal: 10 kB\nMemAvailable: 11 kB\nCached: 99999999999999999999 kB\n"
      "Buffers: 18446744073709551615 kB\n");
  EXPECT_EQ(memory.used, std::nullopt);
  EXPECT_EQ(memory.available, 11u * 1024);
  EXPECT_EQ(memory.cached, std::nullopt);
}

TEST(MemoryTextTest, MinorFaultsAreAllButTheMajorOnes) {
  const FaultText faults =
      ParseFaults("pgfault_x 1\npgfault 811539824\npgmajfault 1234\n");
  EXPECT_EQ(faults.minor, 811539824u - 1234);
  EXPECT_EQ(faults.major, 1234u);
  EXPECT_EQ(ParseFaults("pgfault 1\npgmajfault 2\n").minor, std::nullopt);
  EXPECT_EQ(ParseFaults("pgfault 1\n").minor, std::nullopt);
}

TEST(TrafficTextTest, ReadsTheSectorsOfDisks) {
  // Kernels have had 14, 18 and 20 columns.
  const auto disks = ParseDisks(
      "   8       0 sda 10 1 16 4 20 2 32 5 0 6 7\n"
      "   8       1 sda1 10 1 8 4 20 2 24 5 0 6 7\n"
      " 259       0 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n"
      "   8      16 sdb 10 1 16 4 20 2\n"
      "   8      32 sdc 10 1 -16 4 20 2 32 5 0 6 7\n");
  ASSERT_EQ(disks.size(), 3u);
  EXPECT_EQ(disks[0].name, "sda");
  EXPECT_EQ(disks[0].in_bytes, 16u * 512);
  EXPECT_EQ(disks[0].out_bytes, 32u * 512);
  EXPECT_EQ(disks[1].name, "sda1");
  EXPECT_EQ(disks[2].name, "nvme0n1");
  EXPECT_EQ(disks[2].in_bytes, 3u * 512);
  EXPECT_EQ(disks[2].out_bytes, 7u * 512);
}

TEST(TrafficTextTest, ReadsTheBytesOfInterfaces) {
  const auto all = ParseInterfaces(
      "Inter-|   Receive                            |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|"
      "bytes    packets errs drop fifo colls carrier compressed\n"
      "    lo: 176728416   73443    0    0    0     0          0         0 "
      "176728417   73443    0    0    0     0       0          0\n"
      "  eth0:545608303   13512    0    0    0     0          0         0   "
      "759448    8982    0    0    0     0       0          0\n"
      "eth0:1: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"
      "  cut: 1 2 3 4 5 6 7 8\n");
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].name, "lo");
  EXPECT_EQ(all[0].in_bytes, 176728416u);
  EXPECT_EQ(all[0].out_bytes, 176728417u);
  EXPECT_EQ(all[1].name, "eth0");
  EXPECT_EQ(all[1].in_bytes, 545608303u);
  EXPECT_EQ(all[1].out_bytes, 759448u);
  EXPECT_EQ(all[2].name, "eth0:1");
  EXPECT_EQ(all[2].out_bytes, 9u);
}

// `name` between the parentheses.
std::string StatOf(const std::string& name) {
  return "24973 (" + name +
         ") R 24963 24963 9608 0 -1 4194304 99 1 5 2 30 31 0 0 20 0 12 0 "
         "1772730 3133440 365 18446744073709551615 1 1 0 0 0\n";
}

TEST(ProcessTextTest, ReadsTheFieldsThatProc5Numbers) {
  const std::string text = StatOf("cat");
  const auto stat = ParseProcessStat(text);
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "cat");
  EXPECT_EQ(stat->state, 'R');
  EXPECT_FALSE(stat->is_gone());
  EXPECT_EQ(stat->parent_pid, 24963);
  EXPECT_EQ(stat->minor_faults, 99u);
  EXPECT_EQ(stat->major_faults, 5u);
  EXPECT_EQ(stat->user_ticks, 30u);
  EXPECT_EQ(stat->system_ticks, 31u);
  EXPECT_EQ(stat->threads, 12u);
  EXPECT_EQ(stat->start_ticks, 1772730u);
  EXPECT_EQ(stat->rss_pages, 365u);
}

TEST(ProcessTextTest, ANameMayHoldAnything) {
  for (const char* const name : {"", ")", "a) R 1 2 3", "(((", "two words",
                                 ") S (", "line\nend", "\xff\xfe"}) {
    const std::string text = StatOf(name);
    const auto stat = ParseProcessStat(text);
    ASSERT_TRUE(stat) << name;
    EXPECT_EQ(stat->name, name);
    EXPECT_EQ(stat->threads, 12u) << name;
  }
}

TEST(ProcessTextTest, AZombieIsGoneWithItsLastThread) {
  std::string text = StatOf("cat");
  text.replace(text.find(") R"), 3, ") Z");
  EXPECT_FALSE(ParseProcessStat(text)->is_gone());
  text.replace(text.find(" 12 0 "), 6, " 1 0 ");
  EXPECT_TRUE(ParseProcessStat(text)->is_gone());
}

TEST(ProcessTextTest, ATextThatIsCutOffIsNone) {
  const std::string whole = StatOf("cat");
  // With its 24th field's first digit the text is complete.
  const size_t complete = whole.find(" 365 ") + 2;
  for (size_t size = 0; size < complete; ++size) {
    EXPECT_FALSE(ParseProcessStat(whole.substr(0, size))) << size;
  }
  EXPECT_TRUE(ParseProcessStat(whole.substr(0, complete)));
  EXPECT_FALSE(ParseProcessStat(")("));
}

TEST(ProcessTextTest, ReadsSwitchesAndDiskBytes) {
  const auto switches = ParseSwitches(
      "Name:\tvoluntary_ctxt_switches: 9\nThreads:\t1\n"
      "voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n");
  ASSERT_TRUE(switches);
  EXPECT_EQ(switches->voluntary, 150u);
  EXPECT_EQ(switches->involuntary, 545u);
  EXPECT_FALSE(ParseSwitches("voluntary_ctxt_switches:\t150\n"));
  const auto bytes = ParseDiskBytes(
      "rchar: 7277\nwchar: 301\nsyscr: 12\nsyscw: 1\nread_bytes: 4096\n"
      "write_bytes: 8192\ncancelled_write_bytes: 1\n");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(bytes->read, 4096u);
  EXPECT_EQ(bytes->written, 8192u);
  EXPECT_FALSE(ParseDiskBytes("read_bytes: -1\nwrite_bytes: 8192\n"));
}

TEST(ProcessTextTest, ReadsChildren) {
  EXPECT_EQ(ParseChildren("12 7 99999 "), (std::vector<pid_t>{12, 7, 99999}));
  EXPECT_TRUE(ParseChildren("").empty());
  EXPECT_TRUE(ParseChildren("0 1").empty());
  EXPECT_EQ(ParseChildren("5 99999999999 6"), std::vector<pid_t>{5});
}

// Any bytes: nothing crashes, reads beyond the text or runs for ever.
TEST(TextsTest, AnyTextIsRead) {
  const std::string seeds[] = {
      kStat, StatOf("a)"), "MemTotal: 1 kB\nMemAvailable: 1 kB\npgfault 1\n",
      "8 0 sda 1 1 1 1 1 1 1 1\n eth0: 1 1 1 1 1 1 1 1 1 1\n"};
  std::mt19937 random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seeds[random() % 4];
    for (unsigned edits = random() % 8; edits > 0; --edits) {
      const size_t at = random() % text.size();
      static constexpr char kOdd[] = {'\0', '\n', ' ', '-', '9', ':', ')', '('};
      text[at] = random() % 2 == 0 ? kOdd[random() % sizeof(kOdd)]
                                   : static_cast<char>(random());
    }
    // A copy of exactly this size, so that a sanitizer sees a read beyond it.
    const std::vector<char> exact(
        text.begin(),
        text.begin() + static_cast<std::ptrdiff_t>(random() % text.size()));
    const std::string_view view(exact.data(), exact.size());
    EXPECT_LE(ParseCpu(view).cores.size(), text.size());
    EXPECT_LE(ParseDisks(view).size(), text.size());
    EXPECT_LE(ParseInterfaces(view).size(), text.size());
    EXPECT_LE(ParseChildren(view).size(), text.size());
    ParseLoad(view);
    ParseMemory(view);
    ParseFaults(view);
    ParseSwitches(view);
    ParseDiskBytes(view);
    if (const auto stat = ParseProcessStat(view)) {
      EXPECT_LE(stat->name.size(), text.size());
    }
  }
}

}  // namespace
}  // namespace kymo::host
