// Compares profiles of random traces with the simplest way to compute them, for
// any number of threads.
#include "profiler/analysis/memory/memory_profile.h"

#include <algorithm>
#include <bit>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/base/parallel.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::MemoryIndex;
using model::MemoryRecord;
using model::MemorySource;
using model::Trace;

class RandomTrace {
 public:
  explicit RandomTrace(unsigned seed) : random_(seed) {}

  Trace Make(int actions) {
    const TimeNs end = actions * 3;
    t_.SetWindow(0, end);
    const int threads = 1 + Below(4);
    for (int i = 0; i < threads; ++i) AddThread(i, end);
    for (int i = 0; i < 8; ++i) {
      stacks_.push_back(t_.data().stacks.Push(
          model::kEmptyStack,
          t_.data().stacks.AddFrame(
              {.function = t_.Intern("f"), .line = static_cast<uint32_t>(i)})));
    }
    for (int i = 0; i < actions; ++i) Act();
    std::move(memory_).AddTo(t_.data());
    return std::move(t_).Build();
  }

 private:
  int Below(int n) { return std::uniform_int_distribution(0, n - 1)(random_); }

  void AddThread(int i, TimeNs end) {
    const auto track = t_.AddThread(i / 2, i, "thread");
    tracks_.push_back(track);
    for (TimeNs now = Below(20); now < end; now += 60) {
      if (i == 0) {
        t_.AddAnnotation(track, "ProfilerStep#" + std::to_string(now / 60), now,
                         now + 60);
      }
      t_.AddRange(track, "outer" + std::to_string(Below(3)), now, now + 50);
      t_.AddRange(track, "inner", now + 10, now + 10 + Below(30));
    }
  }

  void Act() {
    now_ += 1 + Below(3);
    const auto track = tracks_[Below(static_cast<int>(tracks_.size()))];
    const int choice = Below(100);
    if (choice < 2) {
      memory_.OutOfMemory({.track = track, .bytes = 1 << 20}, now_);
    } else if (choice < 55 || live_.empty()) {
      Allocate(track);
    } else {
      // Often frees the block that was allocated last: a temporary block.
      const size_t at =
          Below(2) ? live_.size() - 1 : Below(static_cast<int>(live_.size()));
      const Live live = live_[at];
      live_.erase(live_.begin() + static_cast<long>(at));
      End(live, track, choice);
    }
  }

  struct Live {
    TestMemory::Block block;
    model::TrackIndex track;
    MemorySource source;
  };

  void Allocate(model::TrackIndex track) {
    const MemorySource source = static_cast<MemorySource>(Below(3));
    const bool is_device = source == MemorySource::kReported && Below(2);
    const int64_t bytes = Below(10) == 0 ? Below(1 << Below(20)) : Below(64);
    live_.push_back(
        {memory_.Allocate(
             {.track = track,
              .bytes = bytes,
              .stack = stacks_[Below(8)],
              .source = source,
              .device_type = static_cast<int8_t>(is_device),
              .device_index = static_cast<int8_t>(is_device ? Below(2) : -1)},
             now_),
         track, source});
  }

  // Freed by its own thread or by another thread of the process; sometimes
  // unseen.
  void End(const Live& live, model::TrackIndex track, int choice) {
    const auto pid = [&](model::TrackIndex t) {
      return t_.data().tracks[t].pid;
    };
    const auto by = pid(track) == pid(live.track) ? track : live.track;
    if (choice < 60 && live.source != MemorySource::kReported) {
      live_.push_back({memory_.Replace(live.block, by, now_), by, live.source});
    } else {
      memory_.Free(live.block, by, now_);
    }
  }

  std::mt19937 random_;
  TestTrace t_;
  TestMemory memory_;
  TimeNs now_ = 0;
  std::vector<model::TrackIndex> tracks_;
  std::vector<model::StackId> stacks_;
  std::vector<Live> live_;
};

// --- the simplest way ---

template <typename Id>
std::vector<MemoryGroup<Id>> Sorted(
    const std::map<Id, std::pair<int64_t, int64_t>>& sums) {
  std::vector<MemoryGroup<Id>> groups;
  for (const auto& [id, sum] : sums)
    groups.push_back({id, sum.first, sum.second});
  std::stable_sort(groups.begin(), groups.end(), [](auto& a, auto& b) {
    return std::pair(a.bytes, a.count) > std::pair(b.bytes, b.count);
  });
  return groups;
}

template <typename IdOf>
auto GroupBlocks(const Trace& trace, const std::vector<MemoryIndex>& blocks,
                 IdOf id_of) {
  std::map<decltype(id_of(0)), std::pair<int64_t, int64_t>> sums;
  for (const MemoryIndex block : blocks) {
    auto& [count, bytes] = sums[id_of(block)];
    ++count;
    bytes += trace.memory()[block].bytes;
  }
  return Sorted(sums);
}

class NaivePool {
 public:
  NaivePool(const Trace& trace, const MemoryPool& pool,
            const std::vector<MemoryIndex>& records)
      : trace_(trace) {
    profile_.pool = pool;
    for (const MemoryIndex i : records) Add(i);
    profile_.totals.alive_bytes = live_bytes_;
    profile_.leaks = ByStack(live_);
    profile_.temporary.by_stack = ByStack(temporary_);
    AddSteps();
  }
  const MemoryProfile& profile() const { return profile_; }

 private:
  void Add(MemoryIndex i) {
    const MemoryRecord& record = trace_.memory()[i];
    if (record.event == model::MemoryEvent::kOutOfMemory) {
      ++profile_.totals.out_of_memory;
      return;
    }
    const auto freed = std::find(live_.begin(), live_.end(), record.partner);
    if (freed != live_.end()) {
      AddFree(record, freed);
    } else {
      AddAllocation(i);
    }
    history_.push_back({record.time_ns, live_bytes_, profile_.totals});
    if (live_bytes_ <= profile_.peak.bytes) return;
    profile_.peak = {live_bytes_, record.time_ns, ByStack(live_),
                     GroupBlocks(trace_, live_, [&](MemoryIndex block) {
                       return OperationOf(trace_.memory()[block]);
                     })};
  }

  void AddAllocation(MemoryIndex i) {
    const MemoryRecord& record = trace_.memory()[i];
    const auto replaced = std::find_if(
        live_.begin(), live_.end(),
        [&](MemoryIndex block) { return trace_.memory()[block].partner == i; });
    if (replaced != live_.end()) End(replaced);
    live_.push_back(i);
    live_bytes_ += record.bytes;
    ++profile_.totals.allocations;
    profile_.totals.allocated_bytes += record.bytes;
    ++profile_.sizes[std::bit_width(static_cast<uint64_t>(record.bytes))];
    last_of_track_[record.track] = i;
  }

  void AddFree(const MemoryRecord& record,
               std::vector<MemoryIndex>::iterator freed) {
    const MemoryRecord& block = trace_.memory()[*freed];
    const uint64_t lifetime =
        static_cast<uint64_t>(record.time_ns - block.time_ns);
    ++profile_.lifetimes[std::bit_width(lifetime)];
    if (block.track == record.track && last_of_track_[record.track] == *freed) {
      temporary_.push_back(*freed);
      ++profile_.temporary.count;
      profile_.temporary.bytes += block.bytes;
    }
    End(freed);
  }

  void End(std::vector<MemoryIndex>::iterator block) {
    const int64_t bytes = trace_.memory()[*block].bytes;
    ++profile_.totals.frees;
    profile_.totals.freed_bytes += bytes;
    live_bytes_ -= bytes;
    live_.erase(block);
  }

  // The last open event, in the order of events.
  model::NameId OperationOf(const MemoryRecord& record) const {
    for (auto i = trace_.track_end(record.track);
         i-- > trace_.track_begin(record.track);) {
      if (trace_.start()[i] <= record.time_ns &&
          record.time_ns <= trace_.end()[i]) {
        return trace_.name()[i];
      }
    }
    return model::kEmptyName;
  }

  std::vector<StackMemory> ByStack(
      const std::vector<MemoryIndex>& blocks) const {
    return GroupBlocks(trace_, blocks, [&](MemoryIndex block) {
      return trace_.memory()[block].stack;
    });
  }

  struct Moment {
    TimeNs time_ns = 0;
    int64_t live_bytes = 0;
    MemoryTotals totals;
  };

  Moment LastBefore(TimeNs time_ns) const {
    Moment last;
    for (const Moment& moment : history_) {
      if (moment.time_ns < time_ns) last = moment;
    }
    return last;
  }

  void AddSteps() {
    for (model::EventIndex i = 0; i < trace_.event_count(); ++i) {
      const std::string_view name = trace_.EventName(i);
      if (trace_.tracks()[trace_.track()[i]].pid != profile_.pool.pid ||
          !name.starts_with("ProfilerStep#")) {
        continue;
      }
      const Moment begin = LastBefore(trace_.start()[i]);
      const Moment end = LastBefore(trace_.end()[i] + 1);
      profile_.steps.push_back(
          {.number = std::stoll(std::string(name.substr(13))),
           .start_ns = trace_.start()[i],
           .end_ns = trace_.end()[i],
           .live_begin_bytes = begin.live_bytes,
           .live_end_bytes = end.live_bytes,
           .allocations = end.totals.allocations - begin.totals.allocations,
           .allocated_bytes =
               end.totals.allocated_bytes - begin.totals.allocated_bytes});
    }
  }

  const Trace& trace_;
  MemoryProfile profile_;
  std::vector<MemoryIndex> live_;
  std::vector<MemoryIndex> temporary_;
  int64_t live_bytes_ = 0;
  std::map<model::TrackIndex, MemoryIndex> last_of_track_;
  std::vector<Moment> history_;
};

std::vector<MemoryProfile> Naive(const Trace& trace) {
  std::map<MemoryPool, std::vector<MemoryIndex>> pools;
  for (MemoryIndex i = 0; i < trace.memory().size(); ++i) {
    const MemoryRecord& record = trace.memory()[i];
    pools[{.pid = trace.tracks()[record.track].pid,
           .source = record.source,
           .device_type = record.device_type,
           .device_index = record.device_index}]
        .push_back(i);
  }
  std::vector<MemoryProfile> profiles;
  for (auto& [pool, records] : pools) {
    std::sort(records.begin(), records.end(), [&](auto a, auto b) {
      return std::pair(trace.memory()[a].time_ns, a) <
             std::pair(trace.memory()[b].time_ns, b);
    });
    profiles.push_back(NaivePool(trace, pool, records).profile());
  }
  return profiles;
}

void ExpectEqual(const std::vector<MemoryProfile>& got,
                 const std::vector<MemoryProfile>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].pool, expected[i].pool);
    EXPECT_EQ(got[i].totals, expected[i].totals);
    EXPECT_EQ(got[i].peak, expected[i].peak);
    EXPECT_EQ(got[i].leaks, expected[i].leaks);
    EXPECT_EQ(got[i].temporary, expected[i].temporary);
    EXPECT_EQ(got[i].sizes, expected[i].sizes);
    EXPECT_EQ(got[i].lifetimes, expected[i].lifetimes);
    EXPECT_EQ(got[i].steps, expected[i].steps);
  }
}

TEST(MemoryProfilePropertyTest, AgreesWithTheSimplestWay) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const Trace trace = RandomTrace(seed).Make(/*actions=*/300);
    ASSERT_TRUE(ValidateTrace(trace).ok());
    ExpectEqual(ProfileMemory(trace), Naive(trace));
    if (testing::Test::HasFailure()) return;
  }
}

TEST(MemoryProfilePropertyTest, AgreesAcrossRangesOfRecords) {
  const Trace trace = RandomTrace(1).Make(/*actions=*/400'000);
  const std::vector<MemoryProfile> one = [&] {
    const ParallelismLimit limit(1);
    return ProfileMemory(trace);
  }();
  const ParallelismLimit limit(4);
  EXPECT_EQ(ProfileMemory(trace), one);
}

}  // namespace
}  // namespace kymo::analysis
