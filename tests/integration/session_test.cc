// Sessions as PyTorch has them: of one thread, and following its work.
#include <unistd.h>

#include <future>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/tbb.h"
#include "kymo/thread_state.h"
#include "oneapi/tbb/parallel_for.h"
#include "tests/integration/test_session.h"

namespace kymo {
namespace {

TEST(SessionTest, RecordsTheThreadThatStartsItAndNoOther) {
  const auto profile = Record({}, [] {
    RecordFunction mine("mine");
    std::thread([] { RecordFunction others("others"); }).join();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (Counts{{"mine", 1}}));
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
            (Counts{{"thread", 1}, {"async", 1}, {"within", 1}}));
}

TEST(SessionTest, WorkThatWasMadeBeforeTheSessionIsNotInIt) {
  auto early = Propagate([] { RecordFunction range("early"); });
  const auto profile = Record({}, [&] {
    std::thread(early).join();
    RecordFunction range("mine");
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (Counts{{"mine", 1}}));
}

TEST(SessionTest, WorkThatOutlivesTheSessionDoesNothing) {
  std::promise<void> stopped;
  std::future<void> late;
  const auto profile = Record({}, [&] {
    late = Async([done = stopped.get_future()]() mutable {
      RecordFunction during("during");
      done.wait();
      RecordFunction after("after");
    });
    while (true) {
      usleep(1000);
      break;
    }
  });
  stopped.set_value();
  late.get();
  EXPECT_EQ(CountsOf(profile->key_averages()).count("after"), 0);
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
            (Counts{{"task", 20}, {"iteration", 100}}));
}

TEST(SessionTest, ThreadsHaveSessionsOfTheirOwnAtTheSameTime) {
  const auto profile = Record({}, [] {
    RecordFunction mine("mine");
    std::thread([] {
      const auto other = Record({}, [] { RecordFunction range("other"); });
      EXPECT_EQ(CountsOf(other->key_averages()), (Counts{{"other", 1}}));
    }).join();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (Counts{{"mine", 1}}));
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
  EXPECT_EQ(CountsOf(profile.key_averages()), (Counts{{"child", 1}}));
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
  const auto profile =
      Record({.enabled = false}, [] { RecordFunction range("range"); });
  EXPECT_EQ(profile->key_averages().table(), "");
  EXPECT_TRUE(profile->cycles().empty());
}

TEST(SessionTest, ScopeStartsAndStops) {
  Profile profile;
  {
    ProfileScope scope(profile);
    ASSERT_TRUE(scope.status().ok());
    RecordFunction range("range");
    EXPECT_TRUE(scope.Stop().ok());
  }
  EXPECT_EQ(CountsOf(profile.key_averages()), (Counts{{"range", 1}}));
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
            (Counts{{"first", 1}, {"last", 1}}));
}

}  // namespace
}  // namespace kymo
