// Each function that the hooks replace: what it does, and what is recorded.
#include <errno.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "backends/memory/memory_backend.h"
#include "backends/memory/target/real_allocator.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/shared_parts.h"

// Of jemalloc. The hooks define them, too.
extern "C" {
void* mallocx(size_t bytes, int flags);
void* rallocx(void* block, size_t bytes, int flags);
void dallocx(void* block, int flags);
void sdallocx(void* block, size_t bytes, int flags);
}

namespace kymo {
namespace {

using model::MemoryEvent;
using model::MemoryRecord;
using model::MemorySource;

// Keeps the compiler from knowing what a function of the heap does.
template <typename T>
T* Opaque(T* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

class HeapTest : public testing::Test {
 protected:
  void Start(std::map<std::string, std::string> settings = {}) {
    SessionOptions options;
    options.shared = std::make_shared<SharedParts>();
    options.settings = std::move(settings);
    auto session = NewMemoryBackend()->NewSession(options);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
    ASSERT_TRUE(session_->Prepare(nullptr).ok());
    ASSERT_TRUE(session_->Start(getpid()).ok());
  }
  const model::TraceShard& Stop() {
    EXPECT_TRUE(session_->Stop().ok());
    EXPECT_TRUE(session_->Collect(shard_).ok());
    return shard_;
  }
  // The records of a block, in order: "+bytes", "-bytes" or "free".
  std::vector<std::string> Of(const void* block) const {
    std::vector<std::string> texts;
    for (const MemoryRecord& record : shard_.memory) {
      if (record.address != reinterpret_cast<uint64_t>(block)) continue;
      std::string text = record.source == MemorySource::kMapped ? "map " : "";
      text +=
          record.event == MemoryEvent::kFreeOfUnknown
              ? "free"
              : (record.bytes >= 0 ? "+" : "") + std::to_string(record.bytes);
      texts.push_back(text);
    }
    return texts;
  }
  // The bytes of allocations that failed.
  std::vector<int64_t> Failed() const {
    std::vector<int64_t> bytes;
    for (const MemoryRecord& record : shard_.memory) {
      if (record.event == MemoryEvent::kOutOfMemory) {
        bytes.push_back(record.bytes);
      }
    }
    return bytes;
  }

  std::unique_ptr<ActivitySession> session_;
  model::TraceShard shard_;
};

using Texts = std::vector<std::string>;

// All blocks live at the same time, so each has an address of its own.
TEST_F(HeapTest, EachFunctionIsRecordedOnce) {
  struct Made {
    void* block;
    size_t bytes;
    size_t alignment;
  };
  std::vector<Made> made;
  made.reserve(20);
  Start();
  const auto add = [&](void* block, size_t bytes, size_t alignment = 16) {
    made.push_back({Opaque(block), bytes, alignment});
  };
  constexpr auto k64 = std::align_val_t{64};
  void* by_posix = nullptr;
  add(malloc(7'001), 7'001);
  add(calloc(7, 1'003), 7'021);
  add(realloc(nullptr, 7'003), 7'003);
  add(reallocarray(nullptr, 2, 3'502), 7'004);
  add(memalign(256, 7'005), 7'005, 256);
  add(aligned_alloc(256, 7'424), 7'424, 256);
  EXPECT_EQ(posix_memalign(&by_posix, 512, 7'007), 0);
  add(by_posix, 7'007, 512);
  add(valloc(7'008), 7'008, 4'096);
  add(pvalloc(7'009), 7'009, 4'096);
  const size_t first_new = made.size();
  add(operator new(7'010), 7'010);
  add(operator new[](7'011), 7'011);
  add(operator new(7'012, std::nothrow), 7'012);
  add(operator new[](7'013, std::nothrow), 7'013);
  add(operator new(7'014, k64), 7'014, 64);
  add(operator new[](7'015, k64), 7'015, 64);
  add(operator new(7'016, k64, std::nothrow), 7'016, 64);
  add(operator new[](7'017, k64, std::nothrow), 7'017, 64);
  for (const Made& m : made) {
    EXPECT_NE(m.block, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(m.block) % m.alignment, 0u);
    EXPECT_GE(malloc_usable_size(m.block), m.bytes);
    std::memset(m.block, 1, m.bytes);
  }
  for (size_t i = 0; i < first_new; ++i) free(made[i].block);
  operator delete(made[first_new].block);
  operator delete[](made[first_new + 1].block);
  operator delete(made[first_new + 2].block, std::nothrow);
  operator delete[](made[first_new + 3].block, std::nothrow);
  operator delete(made[first_new + 4].block, k64);
  operator delete[](made[first_new + 5].block, 7'015, k64);
  operator delete(made[first_new + 6].block, k64, std::nothrow);
  operator delete[](made[first_new + 7].block, k64, std::nothrow);
  void* const sized = operator new(7'018);
  operator delete(sized, 7'018);
  Stop();
  for (const Made& m : made) {
    Texts expected = {"+" + std::to_string(m.bytes), "free"};
    // It may have got the place of any of them.
    if (m.block == sized) expected.insert(expected.end(), {"+7018", "free"});
    EXPECT_EQ(Of(m.block), expected) << m.bytes;
  }
  EXPECT_TRUE(Failed().empty());
}

TEST_F(HeapTest, ReallocFreesAndAllocates) {
  auto* const kept = static_cast<char*>(malloc(100));
  std::memcpy(kept, "text", 5);
  Start();
  auto* const moved = static_cast<char*>(Opaque(realloc(kept, 300'000)));
  EXPECT_STREQ(moved, "text");
  EXPECT_NE(moved, kept);
  EXPECT_EQ(Opaque(realloc(moved, 0)), nullptr);  // glibc frees it
  free(nullptr);
  Stop();
  EXPECT_EQ(Of(kept), (Texts{"free"}));
  EXPECT_EQ(Of(moved), (Texts{"+300000", "free"}));
  EXPECT_TRUE(Failed().empty());
}

// With jemalloc preloaded (heap_jemalloc_test), and without it.
TEST_F(HeapTest, JemallocsFunctionsAllocateAndFree) {
  constexpr int kAlign256 = 8;  // the logarithm
  constexpr int kZero = 64;
  EXPECT_EQ(memory::FindNext("mallocx") != nullptr,
            getenv("LD_PRELOAD") != nullptr)
      << "libjemalloc2 is not installed";
  const auto is_zero = [](const char* block, size_t bytes) {
    return std::all_of(block, block + bytes, [](char c) { return c == 0; });
  };
  Start();
  auto* const plain = static_cast<char*>(Opaque(mallocx(7'001, 0)));
  auto* const zero = static_cast<char*>(Opaque(mallocx(7'002, kZero)));
  auto* const aligned =
      static_cast<char*>(Opaque(mallocx(7'003, kAlign256 | kZero)));
  std::memcpy(plain, "text", 5);
  auto* const moved =
      static_cast<char*>(Opaque(rallocx(plain, 300'000, kAlign256)));
  EXPECT_STREQ(moved, "text");
  EXPECT_TRUE(is_zero(zero, 7'002));
  EXPECT_TRUE(is_zero(aligned, 7'003));
  EXPECT_EQ(reinterpret_cast<uint64_t>(aligned) % 256, 0u);
  EXPECT_EQ(reinterpret_cast<uint64_t>(moved) % 256, 0u);
  sdallocx(zero, 7'002, kZero);
  dallocx(aligned, kAlign256);
  dallocx(moved, 0);
  EXPECT_EQ(Opaque(mallocx(size_t{1} << 62, kAlign256)), nullptr);
  Stop();
  EXPECT_EQ(Of(plain), (Texts{"+7001", "free"}));
  EXPECT_EQ(Of(zero), (Texts{"+7002", "free"}));
  EXPECT_EQ(Of(aligned), (Texts{"+7003", "free"}));
  EXPECT_EQ(Of(moved), (Texts{"+300000", "free"}));
  EXPECT_EQ(Failed(), (std::vector<int64_t>{int64_t{1} << 62}));
}

TEST_F(HeapTest, EmptyBlocksAreBlocks) {
  Start();
  void* const by_malloc = Opaque(malloc(0));
  void* const by_new = Opaque(operator new(0));
  EXPECT_NE(by_new, nullptr);
  EXPECT_NE(by_new, by_malloc);
  free(by_malloc);
  operator delete(by_new);
  Stop();
  EXPECT_EQ(Of(by_malloc), (Texts{"+0", "free"}));
  EXPECT_EQ(Of(by_new), (Texts{"+0", "free"}));
}

TEST_F(HeapTest, WhatFailsIsRecordedAsThat) {
  // More than x86-64 can address.
  volatile size_t too_much = size_t{1} << 47;
  void* const kept = malloc(100);
  void* out = kept;
  Start();
  errno = 0;
  EXPECT_EQ(malloc(too_much), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(calloc(too_much / 2, 2), nullptr);
  EXPECT_EQ(calloc(too_much, too_much), nullptr);
  EXPECT_EQ(realloc(kept, too_much), nullptr);
  errno = 0;
  EXPECT_EQ(reallocarray(kept, too_much, too_much), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(posix_memalign(&out, 16, too_much), ENOMEM);
  EXPECT_EQ(posix_memalign(&out, 3, 16), EINVAL);
  EXPECT_EQ(out, kept);
  EXPECT_THROW(operator delete(operator new(too_much)), std::bad_alloc);
  EXPECT_EQ(operator new(too_much, std::nothrow), nullptr);
  Stop();
  EXPECT_TRUE(Of(kept).empty());
  constexpr int64_t kBytes = int64_t{1} << 47;
  // Of an overflow, the most that is shown.
  EXPECT_EQ(Failed(), (std::vector<int64_t>{kBytes, kBytes, int64_t{1} << 62,
                                            kBytes, kBytes, kBytes, kBytes}));
  free(kept);
}

// Runs `work` on a thread of its own, which allocates nothing else.
void OnThread(void* (*work)(void*)) {
  pthread_t thread;
  ASSERT_EQ(pthread_create(&thread, nullptr, work, nullptr), 0);
  pthread_join(thread, nullptr);
}

void* AllocateOnThread(void*) {
  void* blocks[100];
  for (void*& block : blocks) block = Opaque(malloc(10));
  for (int i = 0; i < 60; ++i) free(blocks[i]);
  for (int i = 60; i < 100; ++i) blocks[i] = realloc(blocks[i], 20);
  free(Opaque(calloc(5, 1)));
  free(nullptr);
  return nullptr;
}

TEST_F(HeapTest, CountersAreTheNumbersOfEachThread) {
  Start({{"memory_mode", "counters"}});
  OnThread(AllocateOnThread);
  Stop();
  EXPECT_EQ(shard_.memory.size(), 0u);
  bool is_found = false;
  for (const model::AllocationCounts& counts : shard_.allocation_counts) {
    if (shard_.tracks[counts.track].id == getpid()) continue;
    is_found = true;
    EXPECT_EQ(counts.allocations, 100u + 40 + 1);
    EXPECT_EQ(counts.frees, 60u + 40 + 1);
    EXPECT_EQ(counts.allocated_bytes, 1'000u + 800 + 5);
  }
  EXPECT_TRUE(is_found);
}

TEST_F(HeapTest, SamplesAreSome) {
  Start({{"memory_mode", "sampled"}, {"memory_interval", "1"}});
  void* const all = Opaque(malloc(7'001));
  void* const zeros = Opaque(calloc(7, 1'003));
  free(Opaque(all));
  Stop();
  // Of blocks that are so much larger than the interval, each is sampled.
  EXPECT_EQ(Of(all), (Texts{"+7001", "free"}));
  EXPECT_EQ(Of(zeros), (Texts{"+7021"}));
  EXPECT_EQ(shard_.memory_sample_interval, 1.0);
  shard_ = model::TraceShard();
  Start({{"memory_mode", "sampled"}, {"memory_interval", "1099511627776"}});
  void* const none = Opaque(malloc(7'001));
  free(Opaque(none));
  Stop();
  EXPECT_TRUE(Of(none).empty());
  free(zeros);
}

TEST_F(HeapTest, MappingsAreRecordedOnRequest) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
  const auto map = [] {
    void* const plain = mmap(nullptr, 12'288, PROT_READ, kFlags, -1, 0);
    void* const large = mmap64(nullptr, 16'384, PROT_READ, kFlags, -1, 0);
    void* const grown = mremap(plain, 12'288, 1 << 20, MREMAP_MAYMOVE);
    EXPECT_EQ(mmap(nullptr, 4'096, PROT_READ, kFlags, -1, 1), MAP_FAILED);
    EXPECT_EQ(munmap(large, 16'384), 0);
    EXPECT_EQ(munmap(reinterpret_cast<char*>(large) + 1, 4'096), -1);
    void* const place = mmap(nullptr, 1 << 20, PROT_NONE, kFlags, -1, 0);
    EXPECT_EQ(
        mremap(grown, 1 << 20, 1 << 20, MREMAP_MAYMOVE | MREMAP_FIXED, place),
        place);
    return std::vector<void*>{plain, large, grown, place};
  };
  Start({{"memory_mode", "reports"}, {"memory_mappings", "1"}});
  const std::vector<void*> blocks = map();
  EXPECT_EQ(munmap(blocks[3], 1 << 20), 0);
  Stop();
  Texts all;
  for (const MemoryRecord& record : shard_.memory) {
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (record.address != reinterpret_cast<uint64_t>(blocks[i])) continue;
      all.push_back(std::to_string(i) + ": " + std::to_string(record.bytes));
      break;
    }
    EXPECT_EQ(record.source, MemorySource::kMapped);
  }
  const std::string grown = blocks[2] == blocks[0] ? "0: " : "2: ";
  EXPECT_EQ(all, (Texts{"0: 12288", "1: 16384", "0: -12288", grown + "1048576",
                        "1: -16384", "3: 1048576", grown + "-1048576",
                        "3: 1048576", "3: -1048576"}));
  shard_ = model::TraceShard();
  Start();
  munmap(map()[3], 1 << 20);
  Stop();
  for (const MemoryRecord& record : shard_.memory) {
    EXPECT_EQ(record.source, MemorySource::kHeap);
  }
}

TEST_F(HeapTest, AMappingThatIsLeftInPlaceIsNotUnmapped) {
  constexpr int kLeave = MREMAP_MAYMOVE | 4;  // MREMAP_DONTUNMAP
  Start({{"memory_mode", "reports"}, {"memory_mappings", "1"}});
  void* const old = mmap(nullptr, 8'192, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const moved = mremap(old, 8'192, 8'192, kLeave, nullptr);
  ASSERT_NE(moved, MAP_FAILED);
  munmap(old, 8'192);
  munmap(moved, 8'192);
  Stop();
  std::vector<int64_t> bytes;
  for (const MemoryRecord& record : shard_.memory) {
    if (record.address == reinterpret_cast<uint64_t>(old) ||
        record.address == reinterpret_cast<uint64_t>(moved)) {
      bytes.push_back(record.bytes);
    }
  }
  EXPECT_EQ(bytes, (std::vector<int64_t>{8'192, 8'192, -8'192, -8'192}));
}

// The files that are asked for decide it.
TEST_F(HeapTest, HelpSaysNoDefaultOfFolding) {
  const auto backend = NewMemoryBackend();
  for (const SettingInfo& setting : backend->info().settings) {
    if (setting.name == "memory_fold_above") {
      EXPECT_EQ(setting.default_value, "");
    }
  }
}

TEST_F(HeapTest, SettingsAreChecked) {
  for (const auto& [name, value] : {std::pair("memory_mode", "some"),
                                    {"memory_interval", "0"},
                                    {"memory_fold_above", "-2"}}) {
    SessionOptions options;
    options.settings[name] = value;
    EXPECT_FALSE(NewMemoryBackend()->NewSession(options).ok()) << name;
  }
  SessionOptions options;
  const auto backend = NewMemoryBackend();
  EXPECT_FALSE(backend->IsWanted({}, options));
  EXPECT_TRUE(backend->IsWanted({"memory"}, options));
  options.profile_memory = true;
  EXPECT_TRUE(backend->IsWanted({}, options));
}

}  // namespace
}  // namespace kymo
