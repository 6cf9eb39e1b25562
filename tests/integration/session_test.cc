// Sessions as PyTorch has them: of one thread, and following its work.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kymo/device_events.h"
#include "kymo/events.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/tbb.h"
#include "kymo/thread_state.h"
#include "oneapi/tbb/parallel_for.h"
#include "tests/integration/test_session.h"

namespace kymo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

void RunRangesOfTwoThreads() {
  RecordFunction mine("mine");
  std::thread([] { RecordFunction others("others"); }).join();
}

TEST(SessionTest, RecordsTheThreadThatStartsItAndNoOther) {
  const auto profile = Record({}, RunRangesOfTwoThreads);
  EXPECT_EQ(CountsOf(profile->key_averages()), (NameCounts{{"mine", 1}}));
}

// In a process of its own: another test may have been the first.
TEST(SessionDeathTest, TheFirstSessionThatLeavesThreadsOutSaysSo) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        const Warnings warnings;
        for (int session = 0; session < 2; ++session) {
          Record({}, RunRangesOfTwoThreads);
        }
        for (const std::string& text : warnings.texts()) {
          std::cerr << "[" << text << "]";
        }
        std::_Exit(static_cast<int>(warnings.texts().size()));
      },
      ::testing::ExitedWithCode(1),
      AllOf(StartsWith("[1 other thread ran ranges"),
            HasSubstr("profile_all_threads")));
}

TEST(SessionTest, FollowsWorkThatIsHandedOver) {
  const auto profile = Record({}, [] {
    std::thread(Propagate([] { RecordFunction range("thread"); })).join();
    Async([] { RecordFunction range("async"); }).get();
    EXPECT_EQ(Async(
                  std::launch::deferred, [](int i) { return i + 1; }, 2)
                  .get(),
              3);
    const ThreadState state = ThreadState::Capture();
    std::thread([&] {
      RecordFunction before("before");
      {
        ThreadStateGuard guard(state);
        RecordFunction within("within");
      }
      RecordFunction after("after");
    }).join();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()),
            (NameCounts{{"thread", 1}, {"async", 1}, {"within", 1}}));
}

TEST(SessionTest, WorkThatWasMadeBeforeTheSessionIsNotInIt) {
  auto early = Propagate([] { RecordFunction range("early"); });
  const auto profile = Record({}, [&] {
    std::thread(early).join();
    RecordFunction range("mine");
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (NameCounts{{"mine", 1}}));
}

TEST(SessionTest, WorkThatOutlivesTheSessionDoesNothing) {
  std::promise<void> started, stopped, ranged, restarted;
  std::future<void> late;
  bool is_active = true;
  const auto profile = Record({}, [&] {
    late = Async([&] {
      RecordFunction during("during");
      started.set_value();
      stopped.get_future().wait();
      is_active = RecordFunction("after").is_active();
      ranged.set_value();
      restarted.get_future().wait();
      RecordFunction later("later");
    });
    started.get_future().wait();
  });
  stopped.set_value();
  ranged.get_future().wait();
  EXPECT_FALSE(is_active);
  // The thread has the state of the first session, so the next session must not
  // get what the thread does now.
  const auto next = Record({}, [&] {
    RecordFunction mine("mine");
    restarted.set_value();
    late.get();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (NameCounts{{"during", 1}}));
  EXPECT_EQ(CountsOf(next->key_averages()), (NameCounts{{"mine", 1}}));
}

TEST(SessionTest, FollowsTaskGroupsAndArenasOfTbb) {
  const auto profile = Record({}, [] {
    TaskGroup group;
    for (int i = 0; i < 20; ++i) {
      group.run([] { RecordFunction range("task"); });
    }
    group.wait();
    oneapi::tbb::task_arena arena(2);
    const ArenaState state(arena);
    arena.execute([] {
      oneapi::tbb::parallel_for(0, 100,
                                [](int) { RecordFunction range("iteration"); });
    });
  });
  EXPECT_EQ(CountsOf(profile->key_averages()),
            (NameCounts{{"task", 20}, {"iteration", 100}}));
}

// Two ranges in the arena of the calling thread. Each waits for the other one,
// so that another thread of the arena runs one of them, but no longer than
// `most`.
void TwoThreadsRunARange(const char* name, std::chrono::milliseconds most) {
  std::atomic<int> arrived = 0;
  oneapi::tbb::parallel_for(0, 2, [&](int) {
    RecordFunction range(name);
    ++arrived;
    const auto start = std::chrono::steady_clock::now();
    while (arrived < 2 && std::chrono::steady_clock::now() - start < most) {
      std::this_thread::yield();
    }
  });
}

TEST(SessionTest, KeepsItsThreadWhenScopesOfAnArenaEnd) {
  const auto profile = Record({}, [] {
    oneapi::tbb::task_arena arena(2);
    for (int step = 0; step < 20; ++step) {
      {
        const ArenaState state(arena);
        arena.execute([] {
          // The other thread is often still in the arena when the scope ends.
          TwoThreadsRunARange("iteration", std::chrono::milliseconds(100));
        });
      }
      RecordFunction mine("mine");
    }
  });
  EXPECT_EQ(CountsOf(profile->key_averages()),
            (NameCounts{{"iteration", 40}, {"mine", 20}}));
}

TEST(SessionTest, ScopesOfTheThreadsOwnArenaEndOnTheThread) {
  const auto profile = Record({}, [] {
    std::thread(Propagate([] {
      RecordFunction before("before");
      {
        const ArenaState state;
        TwoThreadsRunARange("iteration", std::chrono::seconds(5));
      }
      RecordFunction after("after");
    })).join();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()),
            (NameCounts{{"before", 1}, {"iteration", 2}, {"after", 1}}));
}

TEST(SessionTest, AScopeIsOfTheArenaThatItsThreadIsInThen) {
  const auto profile = Record({}, [] {
    std::thread(Propagate([] {
      { const ArenaState state; }  // of the thread's own arena
      oneapi::tbb::task_arena arena(2);
      arena.execute([] {
        const ArenaState state;
        TwoThreadsRunARange("iteration", std::chrono::seconds(5));
      });
    })).join();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (NameCounts{{"iteration", 2}}));
}

TEST(SessionTest, ThreadsHaveSessionsOfTheirOwnAtTheSameTime) {
  const auto profile = Record({}, [] {
    RecordFunction mine("mine");
    std::thread([] {
      const auto other = Record({}, [] { RecordFunction range("other"); });
      EXPECT_EQ(CountsOf(other->key_averages()), (NameCounts{{"other", 1}}));
    }).join();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (NameCounts{{"mine", 1}}));
}

TEST(SessionTest, ChildThreadsJoinAndLeaveByThemselves) {
  Profile profile;
  std::thread([&] {
    EXPECT_EQ(profile.EnableInChildThread().message(),
              "Profiler is not enabled in main thread.");
  }).join();
  ASSERT_TRUE(profile.Start().ok());
  std::thread([&] {
    EXPECT_TRUE(profile.EnableInChildThread().ok());
    EXPECT_EQ(profile.EnableInChildThread().message(),
              "Profiler is already enabled in this thread.");
    { RecordFunction range("child"); }
    EXPECT_TRUE(profile.DisableInChildThread().ok());
    EXPECT_FALSE(profile.DisableInChildThread().ok());
    RecordFunction range("after");
  }).join();
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(CountsOf(profile.key_averages()), (NameCounts{{"child", 1}}));
}

TEST(SessionTest, SecondSessionsAreRefusedWithPyTorchsWords) {
  Profile first;
  ASSERT_TRUE(first.Start().ok());
  EXPECT_EQ(first.Start().message(),
            "Profiler context manager is not reentrant");
  Profile second;
  EXPECT_NE(second.Start().message().find(
                "Profiler is already enabled on this thread."),
            std::string::npos);
  std::thread([&] {
    EXPECT_EQ(first.Stop().code(), absl::StatusCode::kFailedPrecondition);
    Profile all({.experimental_config = {.profile_all_threads = true}});
    EXPECT_NE(all.Start().message().find("Profiler is already enabled."),
              std::string::npos);
  }).join();
  EXPECT_TRUE(first.Stop().ok());
  EXPECT_TRUE(second.Start().ok());
  EXPECT_TRUE(second.Stop().ok());
}

TEST(SessionTest, DisabledProfileDoesNothing) {
  const Warnings warnings;
  const std::string path = testing::TempDir() + "/disabled";
  const auto profile =
      Record({.enabled = false}, [] { RecordFunction range("range"); });
  EXPECT_TRUE(profile->cycles().empty());
  EXPECT_EQ(profile->trace(), nullptr);
  EXPECT_EQ(profile->stats(), nullptr);
  EXPECT_EQ(profile->get_trace_id(), "");
  EXPECT_TRUE(profile->key_averages().status().ok());
  EXPECT_EQ(profile->key_averages().table(), "");
  EXPECT_EQ(profile->table(), "");
  const absl::StatusOr<const EventList*> events = profile->events();
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_TRUE((*events)->empty());
  EXPECT_TRUE((*events)->key_averages().ok());
  const absl::StatusOr<FunctionEventAvg> total = profile->total_average();
  ASSERT_TRUE(total.ok()) << total.status();
  EXPECT_EQ(total->key, "Total");
  EXPECT_EQ(total->count, 0);
  const absl::StatusOr<double> self_us = profile->self_cpu_time_total();
  ASSERT_TRUE(self_us.ok()) << self_us.status();
  EXPECT_EQ(*self_us, 0);
  EXPECT_EQ(ToString(*profile), "<unfinished torch.autograd.profile>");
  const auto files = profile->Export("chrome", path);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_TRUE(files->empty());
  for (const absl::Status& status :
       {profile->Step(), profile->export_chrome_trace(path),
        profile->export_stacks(path), profile->export_memory_timeline(path),
        profile->toggle_collection_dynamic(false, {"cpu", "other"}),
        profile->EnableInChildThread(), profile->DisableInChildThread(),
        profile->Dump(path), profile->add_metadata("key", "value"),
        profile->add_metadata_json("key", "1"),
        profile->preset_metadata_json("key", "1")}) {
    EXPECT_TRUE(status.ok()) << status;
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_EQ(warnings.texts(), std::vector<std::string>());
}

TEST(SessionTest, ScopeStartsAndStops) {
  Profile profile;
  {
    ProfileScope scope(profile);
    ASSERT_TRUE(scope.status().ok());
    RecordFunction range("range");
    EXPECT_TRUE(scope.Stop().ok());
  }
  EXPECT_EQ(CountsOf(profile.key_averages()), (NameCounts{{"range", 1}}));
}

TEST(SessionTest, TogglingLeavesOutWhatHappensMeanwhile) {
  Profile profile;
  ASSERT_TRUE(profile.Start().ok());
  { RecordFunction range("first"); }
  EXPECT_TRUE(profile.toggle_collection_dynamic(false, {"cpu"}).ok());
  { RecordFunction range("off"); }
  EXPECT_TRUE(profile.toggle_collection_dynamic(true, {"cpu"}).ok());
  { RecordFunction range("last"); }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(CountsOf(profile.key_averages()),
            (NameCounts{{"first", 1}, {"last", 1}}));
}

// Expectations of both tests: toggleCollectionDynamic in
// torch/csrc/autograd/profiler_kineto.cpp of PyTorch 2.15.
TEST(SessionTest, TogglingWarnsInPyTorchsWordsAndOrder) {
  const Warnings warnings;
  Profile profile;
  const std::string skipping =
      "Dynamic toggle is only supported for CPU/GPU activity, skipping "
      "toggling of ";
  EXPECT_TRUE(
      profile
          .toggle_collection_dynamic(
              false, {"nvtx", "privateuseone", "mtia", "cuda", "hpu", "mtia"})
          .ok());
  EXPECT_EQ(
      warnings.texts(),
      (std::vector<std::string>{
          "Toggling GPU activity with CPU activity on may result in traces "
          "with incorrect correlation between CPU and GPU events",
          skipping + "HPU", skipping + "MTIA", skipping + "PrivateUse1"}))
      << "nvtx is Kymo's own, and nothing records yet";
  const size_t before = warnings.texts().size();
  EXPECT_TRUE(profile.toggle_collection_dynamic(false, {"cpu", "cuda"}).ok());
  EXPECT_TRUE(profile.toggle_collection_dynamic(true, {"xpu", "cpu"}).ok());
  EXPECT_EQ(warnings.texts().size(), before);
}

TEST(SessionTest, TogglingTheCpuAloneWarnsIfADeviceIsShown) {
  ASSERT_TRUE(
      RegisterDeviceEvents(
          "cuda", {.record = [] { return nullptr; },
                   .elapsed_us = [](const void*, const void*) { return 0.; }})
          .ok());
  const Warnings warnings;
  Profile profile({.use_device = "cuda"});
  ASSERT_TRUE(profile.Start().ok());
  EXPECT_TRUE(profile.toggle_collection_dynamic(false, {"cpu", "cuda"}).ok());
  EXPECT_EQ(warnings.texts(), std::vector<std::string>());
  EXPECT_TRUE(profile.toggle_collection_dynamic(true, {"cpu"}).ok());
  EXPECT_EQ(warnings.texts(),
            std::vector<std::string>{
                "Toggling CPU activity with GPU activity on may result in "
                "traces with GPU events on arbitrary tracks"});
  ASSERT_TRUE(profile.Stop().ok());
  UnregisterDeviceEvents("cuda");
}

// PyTorch switches what it records, and has no error.
TEST(SessionTest, TogglingWhatIsNotRecordedChangesNothing) {
  const Warnings warnings;
  Profile captured({.activities = {"nvtx"}});
  ASSERT_TRUE(captured.Start().ok());
  for (const char* activity : {"cpu", "sampling", "host"}) {
    EXPECT_EQ(captured.toggle_collection_dynamic(false, {activity}),
              absl::OkStatus());
  }
  ASSERT_TRUE(captured.Stop().ok());
  EXPECT_EQ(warnings.texts(), std::vector<std::string>());

  Profile profile;
  ASSERT_TRUE(profile.Start().ok());
  for (const char* activity : {"cuda", "xpu"}) {
    EXPECT_EQ(profile.toggle_collection_dynamic(false, {activity, "cpu"}),
              absl::OkStatus());
    { RecordFunction range("off"); }
    EXPECT_TRUE(profile.toggle_collection_dynamic(true, {"cpu"}).ok());
  }
  { RecordFunction range("on"); }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(CountsOf(profile.key_averages()), (NameCounts{{"on", 1}}));
}

}  // namespace
}  // namespace kymo
