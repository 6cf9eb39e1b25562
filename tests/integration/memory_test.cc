// A program that has the hooks among its dependencies: what its own sessions
// see of its heap.
//
// Long, because each way to allocate has its own case.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <memory_resource>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/events.h"
#include "kymo/memory.h"
#include "kymo/memory_resource.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/thread_state.h"
#include "profiler/analysis/memory/timeline/memory_timeline.h"
#include "profiler/model/trace.h"

namespace kymo {
namespace {

using model::MemoryEvent;
using model::MemoryRecord;
using model::MemorySource;

// Keeps the compiler from knowing what becomes of a block.
template <typename T>
T* Opaque(T* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

template <typename Work>
std::unique_ptr<Profile> Record(ProfileOptions options, Work work) {
  options.profile_memory = true;
  auto profile = std::make_unique<Profile>(std::move(options));
  absl::Status status = profile->Start();
  EXPECT_TRUE(status.ok()) << status;
  work();
  status = profile->Stop();
  EXPECT_TRUE(status.ok()) << status;
  return profile;
}

std::vector<MemoryRecord> HeapOf(const Profile& profile) {
  std::vector<MemoryRecord> records;
  for (const MemoryRecord& record : profile.trace()->memory()) {
    if (record.source == MemorySource::kHeap) records.push_back(record);
  }
  return records;
}

// The records of allocations of just so many bytes, and of their frees.
std::vector<MemoryRecord> OfSize(const Profile& profile, int64_t bytes) {
  std::vector<MemoryRecord> records = HeapOf(profile);
  std::erase_if(records, [bytes](const MemoryRecord& record) {
    return std::abs(record.bytes) != bytes;
  });
  return records;
}

FunctionEventAvg RowOf(Profile& profile, const std::string& name) {
  for (const FunctionEventAvg& row : profile.key_averages()) {
    if (row.key == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return {};
}

TEST(MemoryTest, OperationsAreChargedWithTheHeap) {
  const auto profile = Record({}, [] {
    KYMO_RECORD_FUNCTION("A");
    void* in_b = nullptr;
    {
      KYMO_RECORD_FUNCTION("B");
      in_b = Opaque(malloc(100'000));
      free(Opaque(calloc(10, 7)));
    }
    free(in_b);
  });
  EXPECT_EQ(RowOf(*profile, "B").self_cpu_memory_usage, 100'000);
  EXPECT_EQ(RowOf(*profile, "A").cpu_memory_usage, 0);
  EXPECT_EQ(RowOf(*profile, "A").self_cpu_memory_usage, -100'000);
}

TEST(MemoryTest, EveryFormIsSeenWithItsBytes) {
  struct alignas(128) Wide {
    char bytes[128];
  };
  const auto profile = Record({}, [] {
    free(Opaque(malloc(1001)));
    free(Opaque(calloc(17, 59)));
    free(Opaque(realloc(nullptr, 1005)));
    free(Opaque(reallocarray(nullptr, 19, 53)));
    free(Opaque(memalign(64, 1009)));
    free(Opaque(aligned_alloc(64, 1024)));
    void* block = nullptr;
    ASSERT_EQ(posix_memalign(&block, 64, 1011), 0);
    EXPECT_GE(malloc_usable_size(block), 1011u);
    free(block);
    free(Opaque(valloc(1013)));
    delete[] Opaque(new char[1015]);
    delete Opaque(new Wide);
    ::operator delete(Opaque(::operator new(1017, std::nothrow)), 1017);
  });
  for (const int64_t bytes :
       {1001, 1003, 1005, 1007, 1009, 1024, 1011, 1013, 1015, 128, 1017}) {
    const std::vector<MemoryRecord> records = OfSize(*profile, bytes);
    ASSERT_EQ(records.size(), 2u) << bytes;
    EXPECT_EQ(records[0].bytes, bytes);
    EXPECT_EQ(records[1].bytes, -bytes);
  }
}

TEST(MemoryTest, ReallocIsAFreeAndAnAllocation) {
  const auto profile = Record({}, [] {
    void* block = Opaque(malloc(1001));
    block = Opaque(realloc(block, 200'000));
    EXPECT_EQ(realloc(block, 0), nullptr);
  });
  EXPECT_EQ(OfSize(*profile, 1001).size(), 2u);
  EXPECT_EQ(OfSize(*profile, 200'000).size(), 2u);
}

TEST(MemoryTest, AFreeOnAnotherThreadIsFound) {
  const auto profile = Record({}, [] {
    void* const block = Opaque(malloc(4321));
    std::thread(Propagate([&] { free(block); })).join();
  });
  const std::vector<MemoryRecord> records = OfSize(*profile, 4321);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_NE(records[0].track, records[1].track);
}

TEST(MemoryTest, BlocksFromBeforeAreFreedWithoutHarm) {
  void* const before = Opaque(malloc(4322));
  const auto profile = Record({}, [&] { free(before); });
  EXPECT_TRUE(OfSize(*profile, 4322).empty());
  EXPECT_GE(profile->trace()->ledger().Get(model::Loss::kFreesOfUnknownBlocks),
            1u);
}

TEST(MemoryTest, WhatCannotBeHadIsOutOfMemory) {
  const auto profile = Record({}, [] {
    errno = 0;
    EXPECT_EQ(Opaque(malloc(size_t{1} << 60)), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_EQ(Opaque(::operator new (size_t{1} << 60, std::nothrow)), nullptr);
    EXPECT_THROW(Opaque(::operator new (size_t{1} << 60)), std::bad_alloc);
    // The compiler shall not know the product.
    volatile size_t half = size_t{1} << 40;
    EXPECT_EQ(reallocarray(nullptr, half, half), nullptr);
  });
  const auto memory = profile->trace()->memory();
  EXPECT_GE(std::count_if(memory.begin(), memory.end(),
                          [](const MemoryRecord& record) {
                            return record.event == MemoryEvent::kOutOfMemory &&
                                   record.source == MemorySource::kHeap &&
                                   record.bytes == int64_t{1} << 60;
                          }),
            1);
}

__attribute__((noinline)) void AllocateInHere() {
  free(Opaque(malloc(4323)));
  delete[] Opaque(new char[4325]);
}

TEST(MemoryTest, AveragesHaveTheRowsOfTheEvents) {
  const auto profile = Record({}, [] {
    free(Opaque(malloc(100)));
    {
      KYMO_RECORD_FUNCTION("op");
      Opaque(malloc(200));
      EXPECT_EQ(Opaque(malloc(size_t{1} << 60)), nullptr);
    }
    Opaque(malloc(300));
  });
  const KeyAverages fast = profile->key_averages();  // from the columns
  const absl::StatusOr<const EventList*> events = profile->events();
  ASSERT_TRUE(events.ok());
  const absl::StatusOr<EventAverages> slow = (*events)->key_averages();
  ASSERT_TRUE(slow.ok());
  ASSERT_EQ(fast.size(), slow->size());
  auto row = fast.begin();
  for (const FunctionEventAvg& expected : *slow) {
    EXPECT_EQ(row->key, expected.key);
    EXPECT_EQ(row->count, expected.count) << row->key;
    EXPECT_EQ(row->cpu_memory_usage, expected.cpu_memory_usage) << row->key;
    EXPECT_EQ(row->self_cpu_memory_usage, expected.self_cpu_memory_usage)
        << row->key;
    ++row;
  }
  EXPECT_EQ(RowOf(*profile, "[OutOfMemory]").count, 1);
}

TEST(MemoryTest, SessionsAtTheSameTimeWatchTheHeapInOneWay) {
  Profile all({.profile_memory = true});
  ASSERT_TRUE(all.Start().ok());
  std::thread([] {
    Profile sampled(
        {.profile_memory = true, .settings = {{"memory_mode", "sampled"}}});
    EXPECT_EQ(sampled.Start().code(), absl::StatusCode::kFailedPrecondition);
    Profile other({.profile_memory = true});
    EXPECT_TRUE(other.Start().ok());
    EXPECT_TRUE(other.Stop().ok());
    Profile without;
    EXPECT_TRUE(without.Start().ok());
    free(Opaque(malloc(4327)));
    EXPECT_TRUE(without.Stop().ok());
    EXPECT_TRUE(without.trace()->memory().empty());
  }).join();
  EXPECT_TRUE(all.Stop().ok());
}

TEST(MemoryTest, StacksBeginWithTheCaller) {
  const auto profile = Record({.with_stack = true}, AllocateInHere);
  for (const int64_t bytes : {4323, 4325}) {
    const std::vector<MemoryRecord> records = OfSize(*profile, bytes);
    ASSERT_EQ(records.size(), 2u);
    const model::StackTable& stacks = profile->trace()->stacks();
    ASSERT_NE(records[0].stack, model::kEmptyStack);
    const model::Frame& frame = stacks.frame(stacks.leaf(records[0].stack));
    EXPECT_NE(std::string(profile->trace()->Name(frame.function))
                  .find("AllocateInHere"),
              std::string::npos)
        << profile->trace()->Name(frame.function);
  }
}

TEST(MemoryTest, SamplesStandForAllAllocations) {
  constexpr int kRounds = 50'000;
  const auto profile = Record(
      {.settings = {{"memory_mode", "sampled"}, {"memory_interval", "65536"}}},
      [] {
        for (int i = 0; i < kRounds; ++i) {
          free(Opaque(malloc(100)));
          free(Opaque(malloc(30'000)));
        }
      });
  const double interval = profile->trace()->memory_sample_interval();
  ASSERT_EQ(interval, 65536);
  for (const int64_t bytes : {100, 30'000}) {
    double allocations = 0;
    double variance = 0;
    for (const MemoryRecord& record : OfSize(*profile, bytes)) {
      if (record.bytes < 0) continue;
      const double weight = model::MemorySampleWeight(bytes, interval);
      allocations += weight;
      variance += weight * (weight - 1);
    }
    // Five standard deviations of the estimate.
    EXPECT_NEAR(allocations, kRounds, 5 * std::sqrt(variance)) << bytes;
    EXPECT_GT(variance, 0);
  }
  // Every sampled block was freed.
  for (const MemoryRecord& record : HeapOf(*profile)) {
    if (record.bytes == 100) {
      EXPECT_NE(record.partner, model::kNoMemory);
    }
  }
}

TEST(MemoryTest, CountersCountWithoutRecords) {
  const auto profile = Record({.settings = {{"memory_mode", "counters"}}}, [] {
    for (int i = 0; i < 1000; ++i) free(Opaque(malloc(100)));
  });
  EXPECT_TRUE(HeapOf(*profile).empty());
  ASSERT_EQ(profile->trace()->allocation_counts().size(), 1u);
  const model::AllocationCounts& counts =
      profile->trace()->allocation_counts()[0];
  // And the few that the session itself makes between its start and its stop.
  EXPECT_GE(counts.allocations, 1000u);
  EXPECT_LT(counts.allocations, 1100u);
  EXPECT_GE(counts.allocated_bytes, 100'000u);
  EXPECT_GE(counts.frees, 1000u);
}

TEST(MemoryTest, MappingsAreSeenWhereTheyAreAskedFor) {
  const auto profile = Record({.settings = {{"memory_mappings", "1"}}}, [] {
    void* mapped = mmap(nullptr, 12 << 20, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(mapped, MAP_FAILED);
    mapped = mremap(mapped, 12 << 20, 24 << 20, MREMAP_MAYMOVE);
    ASSERT_NE(mapped, MAP_FAILED);
    munmap(mapped, 24 << 20);
  });
  std::vector<int64_t> bytes;
  for (const MemoryRecord& record : profile->trace()->memory()) {
    if (record.source == MemorySource::kMapped) bytes.push_back(record.bytes);
  }
  EXPECT_EQ(bytes, (std::vector<int64_t>{12 << 20, -(12 << 20), 24 << 20,
                                         -(24 << 20)}));
}

TEST(MemoryTest, ReportsAreNotCountedBesideTheHeap) {
  const auto profile = Record({}, [] {
    KYMO_RECORD_FUNCTION("op");
    ReportingMemoryResource resource;
    void* const block = resource.allocate(5555);
    EXPECT_EQ(resource.allocated_bytes(), 5555);
    resource.deallocate(Opaque(block), 5555);
    EXPECT_EQ(resource.allocated_bytes(), 0);
    void* const kept = resource.allocate(7777);
    Opaque(kept);
  });
  EXPECT_EQ(RowOf(*profile, "op").cpu_memory_usage, 7777);
  const auto memory = profile->trace()->memory();
  EXPECT_EQ(std::count_if(memory.begin(), memory.end(),
                          [](const MemoryRecord& record) {
                            return record.source == MemorySource::kReported;
                          }),
            3);
}

TEST(MemoryTest, AResourceReportsWhatItDoesNotGet) {
  const auto profile = Record({}, [] {
    ReportingMemoryResource resource(std::pmr::null_memory_resource());
    EXPECT_THROW(Opaque(resource.allocate(4444)), std::bad_alloc);
    EXPECT_EQ(resource.allocated_bytes(), 0);
  });
  int reported = 0;
  for (const MemoryRecord& record : profile->trace()->memory()) {
    if (record.source != MemorySource::kReported) continue;
    EXPECT_EQ(record.event, MemoryEvent::kOutOfMemory);
    EXPECT_EQ(record.bytes, 4444);
    ++reported;
  }
  EXPECT_EQ(reported, 1);
}

TEST(MemoryTest, TheTimelineHasPyTorchsThreeForms) {
  const auto profile = Record({}, [] {
    KYMO_RECORD_FUNCTION("op");
    free(Opaque(malloc(4326)));
  });
  for (const std::string name : {"m.json", "m.raw.json.gz", "m.html"}) {
    const std::string path = testing::TempDir() + "/" + name;
    const absl::Status status = profile->export_memory_timeline(path);
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_GT(std::filesystem::file_size(path), 20u) << name;
  }
  EXPECT_EQ(profile->export_memory_timeline("/tmp/x.html", "nothing").code(),
            absl::StatusCode::kInvalidArgument);
  Profile without;
  ASSERT_TRUE(without.Start().ok());
  ASSERT_TRUE(without.Stop().ok());
  EXPECT_EQ(without.export_memory_timeline("/tmp/x.html").message(),
            "profile_memory = true required for memory profiling.");
  // Who names the activity wants the option.
  Profile named({.activities = {"cpu", "memory"}});
  ASSERT_TRUE(named.Start().ok());
  ASSERT_TRUE(named.Stop().ok());
  const std::string path = testing::TempDir() + "/named.html";
  EXPECT_TRUE(named.export_memory_timeline(path).ok());
}

// Bytes of the blocks of a category that were made within the recording.
int64_t MadeBytes(const Profile& profile, MemoryCategory category) {
  int64_t bytes = 0;
  for (const analysis::MemoryTimelineEvent& event :
       analysis::MemoryTimeline(*profile.trace(), {})) {
    if (event.action == analysis::MemoryAction::kCreate &&
        event.category == category) {
      bytes += event.bytes;
    }
  }
  return bytes;
}

TEST(MemoryTest, TheProgramSaysWhatItsMemoryIsFor) {
  // With the program's ranges and without them.
  for (const std::string activity : {"cpu", "memory"}) {
    void* parameter = nullptr;
    void* activation = nullptr;
    const auto profile = Record({.activities = {activity}}, [&] {
      parameter = Opaque(malloc(4327));
      SetMemoryCategory(parameter, 4327, MemoryCategory::kParameter);
      const MemoryCategoryScope scope(MemoryCategory::kActivation);
      activation = Opaque(malloc(4328));
    });
    free(parameter);
    free(activation);
    EXPECT_EQ(MadeBytes(*profile, MemoryCategory::kParameter), 4327)
        << activity;
    EXPECT_EQ(MadeBytes(*profile, MemoryCategory::kActivation), 4328)
        << activity;
  }
}

TEST(MemoryTest, ThreadsForksAndSessionsAtOnce) {
  std::atomic<bool> stop = false;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&stop, t] {
      std::vector<void*> blocks;
      for (uint64_t i = 0; !stop; ++i) {
        blocks.push_back(malloc((i * 37 + t) % 3000));
        if (blocks.size() > 100) {
          free(blocks[i % 100]);
          blocks[i % 100] = blocks.back();
          blocks.pop_back();
        }
        if (i % 1000 == 0) std::thread([] { free(Opaque(malloc(10))); }).join();
      }
      for (void* block : blocks) free(block);
    });
  }
  for (int round = 0; round < 20; ++round) {
    const auto profile = Record(
        {.experimental_config = {.profile_all_threads = true},
         .settings = {{"memory_mode", round % 2 == 0 ? "all" : "sampled"},
                      {"memory_interval", "10000"}}},
        [] {
          const pid_t child = fork();
          if (child == 0) {
            free(Opaque(malloc(100)));
            _exit(7);
          }
          int status = 0;
          ASSERT_EQ(waitpid(child, &status, 0), child);
          EXPECT_EQ(WEXITSTATUS(status), 7);
        });
    const absl::Status valid = model::ValidateTrace(*profile->trace());
    EXPECT_TRUE(valid.ok()) << valid;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace kymo
