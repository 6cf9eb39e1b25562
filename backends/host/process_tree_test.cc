#include "backends/host/process_tree.h"

#include <unistd.h>

#include <map>
#include <string>

#include <gtest/gtest.h>

#include "backends/host/test_proc_folder.h"

namespace kymo::host {
namespace {

constexpr TimeNs kSecond = kNsPerSecond;

struct Fake {
  std::string name = "app";
  char state = 'S';
  int parent = 1;
  int minor_faults = 0;
  int major_faults = 0;
  int user_ticks = 0;
  int system_ticks = 0;
  int threads = 1;
  int start_ticks = 500;
  int rss_pages = 10;
};

class ProcessTreeTest : public testing::Test {
 protected:
  void WriteStat(int pid, const Fake& fake) {
    const auto text = [](auto number) { return std::to_string(number) + " "; };
    folder_.Write(
        Of(pid) + "/stat",
        text(pid) + "(" + fake.name + ") " + fake.state + " " +
            text(fake.parent) + "1 1 0 -1 0 " + text(fake.minor_faults) + "0 " +
            text(fake.major_faults) + "0 " + text(fake.user_ticks) +
            text(fake.system_ticks) + "0 0 20 0 " + text(fake.threads) + "0 " +
            text(fake.start_ticks) + "4096 " + text(fake.rss_pages) + "0\n");
  }
  void WriteThread(int pid, int tid, int voluntary, int involuntary,
                   const std::string& children = "") {
    const std::string task = Of(pid) + "/task/" + std::to_string(tid);
    folder_.Write(task + "/status", "voluntary_ctxt_switches:\t" +
                                        std::to_string(voluntary) +
                                        "\nnonvoluntary_ctxt_switches:\t" +
                                        std::to_string(involuntary) + "\n");
    folder_.Write(task + "/children", children);
  }
  static std::string Of(int pid) { return "proc/" + std::to_string(pid); }

  model::TraceShard Take() {
    model::TraceShard shard;
    log_.MoveTo(shard);
    return shard;
  }

  ProcFolder folder_;
  ProcessTree tree_{folder_.paths().proc, 10, /*is_new=*/false, 3};
  FileReader reader_;
  CounterLog log_{10'000};
};

TEST_F(ProcessTreeTest, TheCountersOfAProcess) {
  WriteStat(10, {.threads = 3});
  WriteThread(10, 10, 100, 50);
  folder_.Write("proc/10/io", "read_bytes: 4096\nwrite_bytes: 0\n");
  folder_.Write("proc/10/fd/0", "");
  tree_.Read(1 * kSecond, reader_, log_);
  const int ticks = static_cast<int>(sysconf(_SC_CLK_TCK));
  WriteStat(10, {.name = "renamed",
                 .minor_faults = 20,
                 .major_faults = 4,
                 .user_ticks = ticks,
                 .system_ticks = ticks / 2,
                 .threads = 5,
                 .rss_pages = 12});
  WriteThread(10, 10, 110, 54);
  folder_.Write("proc/10/io", "read_bytes: 8192\nwrite_bytes: 512\n");
  tree_.Read(3 * kSecond, reader_, log_);
  const auto shard = Take();
  const auto rate = [&](double value) { return Values{{1 * kSecond, value}}; };
  const auto of = [&](const char* name) { return ValuesOf(shard, 10, name); };
  EXPECT_EQ(of("process.cpu.user_percent"), rate(50));
  EXPECT_EQ(of("process.cpu.system_percent"), rate(25));
  EXPECT_EQ(of("process.page_faults.minor_per_s"), rate(10));
  EXPECT_EQ(of("process.page_faults.major_per_s"), rate(2));
  EXPECT_EQ(of("process.context_switches.voluntary_per_s"), rate(5));
  EXPECT_EQ(of("process.context_switches.involuntary_per_s"), rate(2));
  EXPECT_EQ(of("process.disk.read_bytes_per_s"), rate(2'048));
  EXPECT_EQ(of("process.disk.written_bytes_per_s"), rate(256));
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(of("process.memory.rss_bytes"),
            (Values{{1 * kSecond, 10 * page}, {3 * kSecond, 12 * page}}));
  EXPECT_EQ(of("process.threads"),
            (Values{{1 * kSecond, 3}, {3 * kSecond, 5}}));
  EXPECT_EQ(NamesOf(shard).size(), 11u);
  ASSERT_EQ(shard.processes.size(), 1u);
  EXPECT_EQ(shard.processes[0].pid, 10);
  EXPECT_EQ(shard.strings.Get(shard.processes[0].name), "renamed");
}

// As when no descriptor is left for a while.
TEST_F(ProcessTreeTest, AProcessThatCannotBeReadOnceIsStillFollowed) {
  WriteStat(10, {});
  tree_.Read(1 * kSecond, reader_, log_);
  folder_.Remove("proc/10/stat");
  folder_.Write("proc/10/stat/a folder cannot be read", "");
  tree_.Read(2 * kSecond, reader_, log_);
  folder_.Remove("proc/10/stat");
  WriteStat(10, {.threads = 2});
  tree_.Read(3 * kSecond, reader_, log_);
  EXPECT_EQ(ValuesOf(Take(), 10, "process.threads"),
            (Values{{1 * kSecond, 1}, {3 * kSecond, 2}}));
}

TEST_F(ProcessTreeTest, InAPauseRatesAreZero) {
  WriteStat(10, {});
  tree_.Read(1 * kSecond, reader_, log_);
  WriteStat(10, {.minor_faults = 7});
  tree_.Read(2 * kSecond, reader_, log_);
  tree_.Pause(2 * kSecond, log_);
  const auto shard = Take();
  EXPECT_EQ(ValuesOf(shard, 10, "process.page_faults.minor_per_s"),
            (Values{{1 * kSecond, 7}, {2 * kSecond, 0}}));
  EXPECT_EQ(ValuesOf(shard, 10, "process.threads"),
            (Values{{1 * kSecond, 1}, {2 * kSecond, 1}}));
}

TEST_F(ProcessTreeTest, SwitchesOfThreadsThatComeAndGoCount) {
  WriteStat(10, {});
  WriteThread(10, 10, 100, 0);
  WriteThread(10, 11, 1'000, 0);
  tree_.Read(1 * kSecond, reader_, log_);
  WriteThread(10, 10, 101, 0);
  folder_.Remove("proc/10/task/11");
  WriteThread(10, 12, 7, 0);  // all of them since the last reading
  tree_.Read(2 * kSecond, reader_, log_);
  WriteThread(10, 12, 9, 0);
  tree_.Read(3 * kSecond, reader_, log_);
  EXPECT_EQ(ValuesOf(Take(), 10, "process.context_switches.voluntary_per_s"),
            (Values{{1 * kSecond, 8}, {2 * kSecond, 2}}));
}

TEST_F(ProcessTreeTest, ManyThreadsAreReadOnceASecond) {
  WriteStat(10, {.threads = 17});
  WriteThread(10, 10, 100, 0);
  tree_.Read(1 * kSecond, reader_, log_);
  WriteThread(10, 10, 200, 0);
  tree_.Read(1 * kSecond + kSecond / 2, reader_, log_);
  WriteThread(10, 10, 300, 0);
  tree_.Read(2 * kSecond, reader_, log_);
  const auto shard = Take();
  EXPECT_EQ(ValuesOf(shard, 10, "process.context_switches.voluntary_per_s"),
            (Values{{1 * kSecond, 200}}));
  EXPECT_EQ(ValuesOf(shard, 10, "process.threads").size(), 3u);
}

TEST_F(ProcessTreeTest, SixteenThreadsAreReadEachTime) {
  WriteStat(10, {.threads = 16});
  WriteThread(10, 10, 100, 0);
  tree_.Read(1 * kSecond, reader_, log_);
  WriteThread(10, 10, 200, 0);
  tree_.Read(1 * kSecond + kSecond / 2, reader_, log_);
  EXPECT_EQ(ValuesOf(Take(), 10, "process.context_switches.voluntary_per_s"),
            (Values{{1 * kSecond, 200}}));
}

TEST_F(ProcessTreeTest, ChildrenAreFoundAndEnd) {
  WriteStat(10, {});
  WriteThread(10, 10, 0, 0, "20");
  WriteStat(20, {.name = "sh", .parent = 10});
  WriteThread(20, 20, 0, 0, "30");
  WriteStat(30, {.name = "cc", .parent = 20});
  tree_.Read(1 * kSecond, reader_, log_);
  tree_.Read(2 * kSecond, reader_, log_);
  folder_.Remove("proc/20");  // 30 has lost its parent, and stays
  tree_.Read(3 * kSecond, reader_, log_);
  WriteStat(30, {.name = "cc", .state = 'Z', .parent = 1});
  tree_.Read(4 * kSecond, reader_, log_);
  tree_.Read(5 * kSecond, reader_, log_);
  const auto shard = Take();
  // The first reading of a child gives no values: it may be before its exec.
  EXPECT_EQ(ValuesOf(shard, 20, "process.threads"),
            (Values{{2 * kSecond, 1}, {3 * kSecond, 0}}));
  EXPECT_EQ(ValuesOf(shard, 30, "process.threads"),
            (Values{{2 * kSecond, 1}, {3 * kSecond, 1}, {4 * kSecond, 0}}));
  EXPECT_EQ(ValuesOf(shard, 30, "process.cpu.user_percent").back(),
            (std::pair<TimeNs, double>(4 * kSecond, 0)));
  std::map<int64_t, int64_t> parents;
  for (const auto& process : shard.processes) {
    parents[process.pid] = process.parent_pid;
  }
  EXPECT_EQ(parents, (std::map<int64_t, int64_t>{{10, 1}, {20, 10}, {30, 20}}));
  EXPECT_TRUE(reader_.unreadable().empty());
}

TEST_F(ProcessTreeTest, AnotherProcessWithAChildsPidIsNotTheChild) {
  WriteStat(10, {});
  WriteThread(10, 10, 0, 0, "20");
  WriteStat(20, {.parent = 10});
  tree_.Read(1 * kSecond, reader_, log_);
  tree_.Read(2 * kSecond, reader_, log_);
  WriteThread(10, 10, 0, 0, "");
  WriteStat(20, {.threads = 9, .start_ticks = 501});
  tree_.Read(3 * kSecond, reader_, log_);
  tree_.Read(4 * kSecond, reader_, log_);
  EXPECT_EQ(ValuesOf(Take(), 20, "process.threads"),
            (Values{{2 * kSecond, 1}, {3 * kSecond, 0}}));
}

TEST_F(ProcessTreeTest, TheLastValuesOfTheRootStay) {
  WriteStat(10, {.threads = 4});
  tree_.Read(1 * kSecond, reader_, log_);
  folder_.Remove("proc/10");
  tree_.Read(2 * kSecond, reader_, log_);
  EXPECT_EQ(ValuesOf(Take(), 10, "process.threads"),
            (Values{{1 * kSecond, 4}}));
}

TEST_F(ProcessTreeTest, MoreProcessesThanTheLimitAreLeftOut) {
  WriteStat(10, {});
  WriteThread(10, 10, 0, 0, "20 21");
  WriteStat(20, {.parent = 10});
  WriteStat(21, {.parent = 10});
  tree_.Read(1 * kSecond, reader_, log_);
  EXPECT_FALSE(tree_.left_out_any());
  WriteThread(10, 10, 0, 0, "20 21 22");
  WriteStat(22, {.parent = 10});
  tree_.Read(2 * kSecond, reader_, log_);
  EXPECT_TRUE(tree_.left_out_any());
  tree_.Read(3 * kSecond, reader_, log_);
  const auto shard = Take();
  EXPECT_FALSE(ValuesOf(shard, 21, "process.threads").empty());
  EXPECT_TRUE(ValuesOf(shard, 22, "process.threads").empty());
}

TEST_F(ProcessTreeTest, AProcessThatIsItsOwnDescendantEnds) {
  WriteStat(10, {});
  WriteThread(10, 10, 0, 0, "10 20");
  WriteStat(20, {.parent = 10});
  WriteThread(20, 20, 0, 0, "10 20");
  tree_.Read(1 * kSecond, reader_, log_);
  tree_.Read(2 * kSecond, reader_, log_);
  EXPECT_EQ(ValuesOf(Take(), 20, "process.threads").size(), 1u);
}

TEST_F(ProcessTreeTest, HalfWrittenFilesGiveNothing) {
  folder_.Write("proc/10/stat", "10 (app) S 1 1");
  folder_.Write("proc/10/io", "read_by");
  tree_.Read(1 * kSecond, reader_, log_);
  EXPECT_TRUE(Take().counters.empty());
}

}  // namespace
}  // namespace kymo::host
