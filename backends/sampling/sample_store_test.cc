// Long, because the store is tested with its table of processes.
#include "backends/sampling/sample_store.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/sampling/process_table.h"
#include "backends/sampling/stack_store.h"
#include "backends/sampling/unwind/test_own_stack.h"
#include "backends/sampling/unwind/unwinder.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::sampling {
namespace {

// Calls `handler` on a stack of its own.
extern "C" [[gnu::noinline, gnu::noipa]] void test_interrupted(
    void (*handler)(int), std::span<char> own) {
  stack_t before;
  const stack_t memory = {
      .ss_sp = own.data(), .ss_flags = 0, .ss_size = own.size()};
  sigaltstack(&memory, &before);
  struct sigaction action = {};
  struct sigaction old = {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGUSR1, &action, &old);
  raise(SIGUSR1);
  sigaction(SIGUSR1, &old, nullptr);
  sigaltstack(&before, nullptr);
}

// The copy is of the handler's stack. That of what was interrupted is read
// afterwards, wherever it lies.
TEST(SampleStoreTest, AHandlerOnAStackOfItsOwnHasTheInterruptedCallers) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "NOT TESTED HERE: allocates in a signal handler, which "
                  "ThreadSanitizer forbids";
#endif
  static char below[128 << 10];  // all stacks
  char above[sizeof(below)];     // the stacks of other threads
  for (const bool is_above : {false, true}) {
    static SampleStore* store;
    SampleStore made(/*period_ns=*/1'000'000);
    store = &made;
    const auto sample = [](int) {
      constexpr size_t kBytes = 16 << 10;
      const OwnStack own = CaptureOwnStack(kBytes);
      SampleEvent event{.pid = getpid(), .tid = gettid(), .weight_ns = 7};
      event.has_registers = true;
      event.registers = own.registers;
      event.stack = own.memory;
      event.stack_was_cut = own.memory.size() == kBytes;
      store->OnSample(event);
    };
    const std::span<char> own(is_above ? above : below, sizeof(below));
    std::thread([&] { test_interrupted(sample, own); }).join();
    model::TraceShard shard;
    made.Collect(shard);
    EXPECT_TRUE(shard.strings.Find("test_interrupted")) << is_above;
    EXPECT_FALSE(shard.ledger.AnythingLost()) << is_above;
    EXPECT_EQ(RemarksOf(made).size(), 1u);
  }
}

TEST(SampleStoreTest, StackThatEndsNowhereIsCountedAsIncomplete) {
  SampleStore store(/*period_ns=*/1'000'000);
  // The event has no process, so no maps are read, and its address is in no
  // code.
  SampleEvent event{.pid = -2, .tid = -2, .time_ns = 5, .weight_ns = 7};
  event.has_registers = true;
  event.registers[kRip] = 0x1234;
  store.OnSample(event);
  model::TraceShard shard;
  store.Collect(shard);
  ASSERT_EQ(shard.samples.size(), 1);
  EXPECT_EQ(shard.samples[0].weight_ns, 7);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kStacksIncomplete), 1);
}

TEST(SampleStoreTest, WhatCouldNotBeReadDoesNotEndAStack) {
  EXPECT_EQ(EndOfUnreadStack(EFAULT), StackEnd::kIncomplete);
  EXPECT_EQ(EndOfUnreadStack(ESRCH), StackEnd::kTruncated);
  // Others have the lock of the process's mappings (other_memory.h).
  EXPECT_EQ(EndOfUnreadStack(EBUSY), StackEnd::kTruncated);
}

// Code without tables, and a chain of two frame pointers. The stack is memory
// of this process, since it is read again.
TEST(SampleStoreTest, AStackThatIsCutHasTheOutermostCallersOfTheLastWholeOne) {
  SampleStore store(/*period_ns=*/1'000'000);
  const int64_t pid = getpid();
  store.OnMap({.pid = pid,
               .address = 0x10000,
               .size_bytes = 0x1000,
               .file_offset = 0,
               .file = {.path = "//anon", .build_id = {}}});
  uint64_t words[] = {0, 0, 0, 0x10100, 0, 0, 0, 0x10200};
  const auto base = reinterpret_cast<uint64_t>(words);
  words[2] = base + 0x30;
  SampleEvent event{.pid = pid, .tid = pid, .time_ns = 5, .weight_ns = 7};
  event.has_registers = true;
  event.registers[kRip] = 0x10010;
  event.registers[kRsp] = base;
  event.registers[kRbp] = base + 0x10;
  event.stack = std::as_bytes(std::span(words));
  store.OnSample(event);
  event.stack = event.stack.first(24);  // up to the first return address
  event.stack_was_cut = true;
  store.OnSample(event);
  words[7] = 0x10300;  // called from elsewhere by now
  store.OnSample(event);
  model::TraceShard shard;
  store.Collect(shard);
  ASSERT_EQ(shard.samples.size(), 3u);
  EXPECT_EQ(shard.stacks.depth(shard.samples[0].stack), 3u);
  EXPECT_EQ(shard.stacks.depth(shard.samples[2].stack), 2u);  // [truncated]
  const model::StackId joined = shard.samples[1].stack;
  EXPECT_EQ(shard.stacks.depth(joined), 4u);
  EXPECT_EQ(
      shard.strings.Get(
          shard.stacks.frame(shard.stacks.leaf(shard.stacks.parent(joined)))
              .function),
      "[cut]");
  // What was between is lost.
  EXPECT_EQ(shard.ledger.Get(model::Loss::kStacksTruncated), 2u);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kStacksIncomplete), 0u);
  EXPECT_EQ(RemarksOf(store).size(), 1u);
}

// The loader calls the constructors of Kymo's runtime and those of the program.
TEST(SampleStoreTest, TheStartOfTheRuntimeIsKymos) {
  SampleStore store(/*period_ns=*/1'000'000);
  constexpr uint64_t kLoader = 0x10000, kRuntime = 0x20000, kLibrary = 0x30000;
  for (const auto& [address, path] : std::map<uint64_t, std::string>{
           {kLoader, "/no/ld-linux-x86-64.so.2"},
           {kRuntime, "/no/libkymo_runtime_memory.so"},
           {kLibrary, "/no/libx.so"}}) {
    store.OnMap({.pid = -2,
                 .address = address,
                 .size_bytes = 0x1000,
                 .file_offset = 0,
                 .file = {.path = path, .build_id = {}, .inode = address}});
  }
  const std::vector<std::vector<uint64_t>> callchains = {
      // A constructor of the runtime, which looks for a function; the same, cut
      // off; a library's constructor, which calls a hook; the loader.
      {kLoader + 9, kLibrary + 9, kRuntime + 9, kLoader + 7, kLoader + 5},
      {kLoader + 9, kLibrary + 9, kRuntime + 9, kLoader + 7},
      {kLibrary + 7, kRuntime + 9, kLibrary + 9, kLoader + 7, kLoader + 5},
      {kLoader + 7, kLoader + 5}};
  for (const std::vector<uint64_t>& callchain : callchains) {
    SampleEvent event{.pid = -2, .tid = -2, .time_ns = 5, .weight_ns = 7};
    event.kernel_address = 0xffffffff80001000;
    event.callchain = callchain;
    event.stack_was_cut = callchain == callchains[1];
    store.OnSample(event);
  }
  model::TraceShard shard;
  store.Collect(shard);
  ASSERT_EQ(shard.samples.size(), callchains.size());
  const model::StackId start = shard.samples[0].stack;
  ASSERT_EQ(shard.stacks.depth(start), 1u);
  const model::Frame& frame = shard.stacks.frame(shard.stacks.leaf(start));
  EXPECT_EQ(shard.strings.Get(frame.function), "[Kymo] start");
  EXPECT_EQ(shard.strings.Get(frame.module), "/no/libkymo_runtime_memory.so");
  // With the kernel's function, but without the hook.
  EXPECT_EQ(shard.stacks.depth(shard.samples[1].stack), 5u);  // [truncated]
  EXPECT_EQ(shard.stacks.depth(shard.samples[2].stack), 5u);
  EXPECT_EQ(shard.stacks.depth(shard.samples[3].stack), 3u);
}

// Two files lie at one place, one after the other; the addresses say which.
TEST(SampleStoreTest, FilesWithNumbersAreApartAtOnePlace) {
  SampleStore store(/*period_ns=*/1'000'000);
  constexpr uint64_t kPlace = 0x10000;
  for (const uint64_t number : {1, 2}) {
    store.OnMap({.pid = -2,
                 .address = number << 48 | kPlace,
                 .size_bytes = 0x1000,
                 .file_offset = 0,
                 .file = {.path = number == 1 ? "/no/first" : "/no/second",
                          .build_id = {},
                          .inode = number,
                          .mapped_ns = 1}});
  }
  for (const uint64_t number : {1, 2, 1}) {
    const uint64_t callchain[] = {number << 48 | (kPlace + 0x10),
                                  number << 48 | (kPlace + 0x20)};
    SampleEvent event{.pid = -2, .tid = -2, .time_ns = 5, .weight_ns = 7};
    event.callchain = callchain;
    store.OnSample(event);
  }
  model::TraceShard shard;
  store.Collect(shard);
  ASSERT_EQ(shard.samples.size(), 3);
  EXPECT_NE(shard.samples[0].stack, shard.samples[1].stack);
  EXPECT_EQ(shard.samples[0].stack, shard.samples[2].stack);
  const auto leaf = [&](size_t i) {
    return shard.stacks.frame(shard.stacks.leaf(shard.samples[i].stack));
  };
  // Without its file, a place has the name of the file and its offset.
  EXPECT_EQ(shard.strings.Get(leaf(0).function), "first+0x10");
  EXPECT_EQ(shard.strings.Get(leaf(1).function), "second+0x10");
}

// This process stands for one that makes code in one place again and again.
TEST(SampleStoreTest, CodeMadeAtRunTimeHasTheNamesOfItsTimes) {
  const std::string path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  for (const size_t most_samples : {0, 4}) {
    SampleStore store(/*period_ns=*/1'000, {.most_samples = most_samples});
    store.OnMap({.pid = getpid(),
                 .address = 0x10000,
                 .size_bytes = 0x1000,
                 .file_offset = 0,
                 .file = {.path = "//anon", .build_id = {}}});
    const auto sample = [&] {
      const uint64_t callchain[] = {0x10010, 0x10020};
      SampleEvent event{.pid = getpid(),
                        .tid = getpid(),
                        .time_ns = MonotonicNs() + EpochOffsetNs(),
                        .weight_ns = 1};
      event.callchain = callchain;
      store.OnSample(event);
    };
    std::ofstream(path) << "10000 40 first\n";
    sample();
    sample();
    // Longer than the time between two looks at the file.
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    sample();
    std::ofstream(path, std::ios::app) << "10000 18 second\n";
    sample();
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    sample();
    unlink(path.c_str());
    model::TraceShard shard;
    store.Collect(shard);
    std::map<std::string, int> counts;
    const auto add = [&](model::StackId stack, uint64_t count) {
      const auto name = [&](model::StackId of) {
        return std::string(shard.strings.Get(
            shard.stacks.frame(shard.stacks.leaf(of)).function));
      };
      counts[name(shard.stacks.parent(stack)) + ";" + name(stack)] +=
          static_cast<int>(count);
    };
    for (const auto& one : shard.samples) add(one.stack, 1);
    for (const auto& sum : shard.sample_sums) add(sum.stack, sum.count);
    EXPECT_EQ(shard.sample_sums.empty(), most_samples == 0);
    // The fourth sample is from between two looks.
    EXPECT_EQ(counts["first;first"] + counts["first;second"], 5);
    EXPECT_GE(counts["first;first"], 3);
    EXPECT_GE(counts["first;second"], 1);
  }
}

TEST(SampleStoreTest, SamplesInCodeWithoutANameCountOnce) {
  constexpr int kCount = 150;
  for (const size_t most_samples : {0, 4}) {
    SampleStore store(/*period_ns=*/1'000, {.most_samples = most_samples});
    store.OnMap({.pid = -2,
                 .address = 0x10000,
                 .size_bytes = 0x1000,
                 .file_offset = 0,
                 .file = {.path = "//anon", .build_id = {}}});
    for (uint64_t i = 0; i < kCount; ++i) {
      const uint64_t callchain[] = {0x10010 + i % 50};
      SampleEvent event{.pid = -2, .tid = -2, .time_ns = 5, .weight_ns = 7};
      event.callchain = callchain;
      store.OnSample(event);
    }
    model::TraceShard shard;
    store.Collect(shard);
    EXPECT_THAT(RemarksOf(store),
                testing::Contains(testing::HasSubstr("sampling: 150 samples")));
  }
}

// Samples of two threads at `places` places each, one after the other.
void AddSamples(SampleStore& store, int count, uint64_t places) {
  store.OnMap(
      {.pid = -2,
       .address = 0x10000,
       .size_bytes = 0x1000,
       .file_offset = 0,
       .file = {
           .path = "/no/file", .build_id = {}, .inode = 1, .mapped_ns = 1}});
  for (int i = 0; i < count; ++i) {
    const uint64_t callchain[] = {0x10010 + static_cast<uint64_t>(i) % places,
                                  0x10100};
    SampleEvent event{
        .pid = -2, .tid = -2 - i % 2, .time_ns = i, .weight_ns = 1 + i};
    event.callchain = callchain;
    store.OnSample(event);
  }
}

// By thread and stack: how many samples, and their weight.
using Sums =
    std::map<std::pair<int64_t, uint32_t>, std::pair<uint64_t, int64_t>>;

Sums SumsOf(const model::TraceShard& shard) {
  Sums sums;
  const auto add = [&](const auto& record, uint64_t count) {
    auto& sum = sums[{shard.tracks[record.track].id, Index(record.stack)}];
    sum.first += count;
    sum.second += record.weight_ns;
  };
  for (const model::SampleSum& sum : shard.sample_sums) add(sum, sum.count);
  for (const model::StackSample& sample : shard.samples) add(sample, 1);
  return sums;
}

TEST(SampleStoreTest, TheOldestSamplesAreAddedUp) {
  constexpr int kCount = 1'000;
  SampleStore all(/*period_ns=*/1'000, {.most_samples = 0});
  SampleStore some(/*period_ns=*/1'000, {.most_samples = 100});
  model::TraceShard shards[2];
  AddSamples(all, kCount, 7);
  AddSamples(some, kCount, 7);
  EXPECT_EQ(some.total_weight_ns(), all.total_weight_ns());
  all.Collect(shards[0]);
  some.Collect(shards[1]);
  // Both say that the file of the code is gone.
  ASSERT_EQ(RemarksOf(all).size(), 1u);
  EXPECT_NE(RemarksOf(all)[0].find("replaced or deleted"), std::string::npos);
  ASSERT_EQ(RemarksOf(some).size(), 2u);
  EXPECT_NE(RemarksOf(some)[1].find("long recording"), std::string::npos);
  EXPECT_EQ(shards[0].samples.size(), size_t{kCount});
  EXPECT_TRUE(shards[0].sample_sums.empty());
  EXPECT_EQ(shards[0].ledger.Get(model::Loss::kSamplesSummed), 0u);
  EXPECT_GE(shards[1].samples.size(), 75u);
  EXPECT_LT(shards[1].samples.size(), 100u);
  EXPECT_EQ(shards[1].samples.back().time_ns, kCount - 1);
  EXPECT_EQ(shards[1].samples.front().time_ns,
            kCount - static_cast<TimeNs>(shards[1].samples.size()));
  EXPECT_EQ(shards[1].sample_sums.size(), 14u);
  EXPECT_EQ(shards[1].ledger.Get(model::Loss::kSamplesSummed),
            kCount - shards[1].samples.size());
  EXPECT_EQ(SumsOf(shards[1]), SumsOf(shards[0]));
}

TEST(SampleStoreTest, StacksBeyondTheLimitCountForTheirCallers) {
  SampleStore store(/*period_ns=*/1'000, {.most_stacks = 4});
  AddSamples(store, 20, 10);
  model::TraceShard shard;
  store.Collect(shard);
  EXPECT_EQ(shard.samples.size(), 20u);
  EXPECT_EQ(shard.stacks.stack_count(), 5u);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kStacksBeyondLimit), 14u);
  // The caller has the weight of seven of the ten places.
  int64_t callers_ns = 0;
  for (const model::StackSample& sample : shard.samples) {
    if (shard.stacks.depth(sample.stack) == 1) callers_ns += sample.weight_ns;
  }
  EXPECT_EQ(callers_ns, (4 + 10) * 7 / 2 + (14 + 20) * 7 / 2);
}

class StoredStacksTest : public testing::Test {
 protected:
  static constexpr uint64_t kPlace = 0x10000;

  void Map(const std::string& path, uint64_t number = 0) {
    store_.OnMap({.pid = -2,
                  .address = number << 48 | kPlace,
                  .size_bytes = 0x1000,
                  .file_offset = 0,
                  .file = {.path = path,
                           .build_id = {},
                           .inode = number + 1,
                           .mapped_ns = 1}});
  }
  SampleEvent Event() {
    SampleEvent event{.pid = -2, .tid = -3, .time_ns = 5, .weight_ns = 7};
    event.callchain = callchain_;
    return event;
  }
  // The only sample's stack, from the root on.
  std::string Stack() {
    store_.Collect(shard_);
    EXPECT_EQ(shard_.samples.size(), 1u);
    std::string text;
    for (const model::FrameId id :
         shard_.stacks.Frames(shard_.samples.at(0).stack)) {
      const model::Frame& frame = shard_.stacks.frame(id);
      text += std::string(shard_.strings.Get(frame.function)) +
              (frame.is_kernel ? " (kernel) " : " ");
    }
    return text;
  }

  // The leaf is where it was, the others are where the call is.
  std::vector<uint64_t> callchain_ = {kPlace + 0x10, kPlace + 0x21};
  SampleStore store_{/*period_ns=*/1'000};
  model::TraceShard shard_;
};

TEST_F(StoredStacksTest, CallersAreAtTheirCalls) {
  Map("/no/file");
  store_.OnSample(Event());
  EXPECT_EQ(store_.total_weight_ns(), 7);
  EXPECT_EQ(Stack(), "file+0x20 file+0x10 ");
  EXPECT_EQ(shard_.sampling_period_ns, 1'000);
  EXPECT_EQ(shard_.samples[0].time_ns, 5);
  EXPECT_EQ(shard_.samples[0].weight_ns, 7);
  EXPECT_EQ(shard_.tracks.at(shard_.samples[0].track).id, -3);
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

TEST_F(StoredStacksTest, AStackThatWasCutSaysSo) {
  Map("/no/file");
  SampleEvent event = Event();
  event.stack_was_cut = true;
  store_.OnSample(event);
  EXPECT_EQ(Stack(), "[truncated] file+0x20 file+0x10 ");
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kStacksTruncated), 1u);
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kStacksIncomplete), 0u);
}

TEST_F(StoredStacksTest, TheKernelsFrameIsTheLeaf) {
  Map("/no/file");
  SampleEvent event = Event();
  event.kernel_address = ~uint64_t{0};
  store_.OnSample(event);
  const std::string stack = Stack();
  EXPECT_EQ(stack.find("file+0x20 file+0x10 "), 0u) << stack;
  EXPECT_TRUE(stack.ends_with(" (kernel) ")) << stack;
}

// The registers may be those of the program before an exec.
TEST_F(StoredStacksTest, InTheKernelPlacesOfNoModuleAreLeftOut) {
  SampleEvent event = Event();
  event.kernel_address = ~uint64_t{0};
  store_.OnSample(event);
  const std::string stack = Stack();
  EXPECT_EQ(std::count(stack.begin(), stack.end(), ' '), 2) << stack;
  EXPECT_TRUE(stack.ends_with(" (kernel) ")) << stack;
}

TEST_F(StoredStacksTest, NumbersOfUnknownFilesAreIgnored) {
  Map("/no/file");
  Map("/no/second", 2);
  callchain_ = {uint64_t{1} << 48 | (kPlace + 0x10),
                uint64_t{9} << 48 | (kPlace + 0x21),
                uint64_t{2} << 48 | (kPlace + 0x31)};
  store_.OnSample(Event());
  EXPECT_EQ(Stack(), "second+0x30 file+0x20 file+0x10 ");
}

// --- process_table.h ---

constexpr int64_t kPid = 100'000'000;  // more than any process has

std::map<int64_t, std::string> NamesOf(const ProcessTable& table) {
  model::TraceShard shard;
  table.Describe(shard);
  std::map<int64_t, std::string> names;
  for (const model::Track& track : shard.tracks) {
    names[track.id] = shard.strings.Get(track.name);
  }
  return names;
}

TEST(ProcessTableTest, AThreadHasTheNameThatItsProgramSays) {
  ProcessTable table;
  table.OnExisting(kPid, 1, "python3");
  table.OnFork(kPid, 2, kPid, 1, 0);
  table.Track(kPid, 1);
  // Without a sample.
  table.OnProgramName(kPid, 2, "worker-3", 1);
  table.OnName(kPid, 2, "set later", /*is_exec=*/false);
  EXPECT_EQ(NamesOf(table),
            (std::map<int64_t, std::string>{{1, "python3"}, {2, "worker-3"}}));
}

TEST(ProcessTableTest, WhatComesAfterAThreadHasNotItsName) {
  ProcessTable table;
  table.OnExisting(kPid, 1, "python3");
  for (const bool is_exec : {false, true}) {
    EXPECT_TRUE(table.IsNameDue(kPid, 2, kNsPerSecond));
    table.OnProgramName(kPid, 2, "worker-3", 1);
    if (is_exec) {
      table.OnName(kPid, 2, "ls", is_exec);
    } else {
      table.OnFork(kPid, 2, kPid, 1, 0);
    }
    EXPECT_EQ(NamesOf(table)[2], is_exec ? "ls" : "python3");
    EXPECT_TRUE(table.IsNameDue(kPid, 2, kNsPerSecond));
    table.OnFork(kPid, 2, kPid, 1, 0);
  }
}

TEST(ProcessTableTest, NamesAreReadOnceASecond) {
  ProcessTable table;
  EXPECT_TRUE(table.IsNameDue(1, 2, 5));
  EXPECT_TRUE(table.IsNameDue(1, 2, 6)) << "it was not found";
  table.OnProgramName(1, 2, "worker-3", 6);
  EXPECT_FALSE(table.IsNameDue(1, 2, 5 + kNsPerSecond));
  EXPECT_TRUE(table.IsNameDue(1, 3, 5 + kNsPerSecond));
  EXPECT_TRUE(table.IsNameDue(1, 2, 6 + kNsPerSecond));
}

// Each try reads much of the program, and there is one at each sample.
TEST(ProcessTableTest, AfterAnothersNameAreTenTriesASecond) {
  ProcessTable table;
  table.OnExisting(kPid, 2, "python3");
  int tries = 0;
  for (int64_t ms = 0; ms < 1000; ++ms) {
    if (!table.IsNameDue(kPid, 2, ms * kNsPerMs)) continue;
    ++tries;
    table.OnOthersName(kPid, 2, ms * kNsPerMs);
  }
  EXPECT_EQ(tries, 10);
  EXPECT_EQ(NamesOf(table).count(2), 0u) << "it has no sample";
  EXPECT_EQ(table.Thread(kPid, 2).program_name, "");
  table.OnProgramName(kPid, 2, "worker-3", kNsPerSecond);
  EXPECT_EQ(NamesOf(table)[2], "worker-3");
}

}  // namespace
}  // namespace kymo::sampling
