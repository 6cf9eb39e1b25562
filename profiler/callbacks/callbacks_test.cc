#include "kymo/callbacks.h"

#include <thread>

#include "gtest/gtest.h"
#include "kymo/record_function.h"
#include "kymo/thread_state.h"
#include "profiler/callbacks/test_callbacks.h"

namespace kymo {
namespace {

TEST_F(CallbacksTest, ExampleOfTheHeader) {
  auto handle =
      AddGlobalCallback(RecordFunctionCallback([&](const OperationView& op) {
                          log_.emplace_back(op.name);
                          return nullptr;
                        })
                            .needs_inputs(true)
                            .scopes({RecordScope::kFunction}));
  EXPECT_GT(handle, 0);
  { RecordFunction op("op"); }
  { RecordFunction range("range", RecordScope::kUserScope); }
  RemoveCallback(handle);
  { RecordFunction op("after"); }
  EXPECT_EQ(log_, Texts{"op"});
  EXPECT_TRUE(warnings_.empty());
}

// --- order, scopes, sets of callbacks ---

TEST_F(CallbacksTest, GlobalOnesRunFirstAndEndsInTheOrderOfStarts) {
  AddThreadLocalCallback(Logging("local1"));
  AddGlobalCallback(Logging("global1"));
  AddThreadLocalCallback(Logging("local2"));
  AddGlobalCallback(Logging("global2"));
  { RecordFunction op("op"); }
  EXPECT_EQ(log_,
            (Texts{"+global1 op", "+global2 op", "+local1 op", "+local2 op",
                   "-global1 op", "-global2 op", "-local1 op", "-local2 op"}));
}

TEST_F(CallbacksTest, OperationsNest) {
  AddGlobalCallback(Logging("c"));
  {
    RecordFunction outer("outer");
    RecordFunction inner("inner");
  }
  EXPECT_EQ(log_, (Texts{"+c outer", "+c inner", "-c inner", "-c outer"}));
}

TEST_F(CallbacksTest, RunForTheirScopesOnly) {
  AddGlobalCallback(
      Logging("backward")
          .scopes({RecordScope::kBackwardFunction, RecordScope::kUserScope}));
  AddGlobalCallback(Logging("all").scopes({}));
  { RecordFunction op("a", RecordScope::kFunction); }
  { RecordFunction op("b", RecordScope::kBackwardFunction); }
  EXPECT_EQ(log_, (Texts{"+all a", "-all a", "+backward b", "+all b",
                         "-backward b", "-all b"}));
}

TEST_F(CallbacksTest, AScopeThatDoesNotExistIsNotObserved) {
  AddGlobalCallback(Logging("c"));
  { RecordFunction op("op", static_cast<RecordScope>(200)); }
  EXPECT_TRUE(log_.empty());
}

TEST_F(CallbacksTest, AScopeThatDoesNotExistIsNotAdded) {
  AddGlobalCallback(Logging("c").scopes({static_cast<RecordScope>(32)}));
  { RecordFunction op("op", static_cast<RecordScope>(0)); }
  EXPECT_TRUE(log_.empty());
}

TEST_F(CallbacksTest, HandlesAreUniqueAndHasTellsWhatThereIs) {
  EXPECT_FALSE(HasCallbacks());
  const CallbackHandle global = AddGlobalCallback(Logging("global"));
  EXPECT_TRUE(HasCallbacks());
  EXPECT_TRUE(HasGlobalCallbacks());
  EXPECT_FALSE(HasThreadLocalCallbacks());
  const CallbackHandle local = AddThreadLocalCallback(Logging("local"));
  EXPECT_NE(local, global);
  EXPECT_TRUE(HasThreadLocalCallbacks());
  ClearGlobalCallbacks();
  EXPECT_FALSE(HasGlobalCallbacks());
  EXPECT_TRUE(HasCallbacks());
  ClearThreadLocalCallbacks();
  EXPECT_FALSE(HasCallbacks());
  EXPECT_GT(AddGlobalCallback(Logging("later")), local);
}

TEST_F(CallbacksTest, DisabledOnesStayAndRunAgainOnceReenabled) {
  const CallbackHandle global = AddGlobalCallback(Logging("global"));
  const CallbackHandle local = AddThreadLocalCallback(Logging("local"));
  DisableCallback(global);
  DisableCallback(local);
  EXPECT_TRUE(HasGlobalCallbacks());
  EXPECT_TRUE(HasThreadLocalCallbacks());
  { RecordFunction op("hidden"); }
  ReenableCallback(global);
  { RecordFunction op("a"); }
  ReenableCallback(local);
  DisableCallback(global);
  { RecordFunction op("b"); }
  EXPECT_EQ(log_, (Texts{"+global a", "-global a", "+local b", "-local b"}));
  EXPECT_TRUE(warnings_.empty());
}

TEST_F(CallbacksTest, UnknownHandlesAreWarnings) {
  const CallbackHandle handle = AddGlobalCallback(Logging("c"));
  RemoveCallback(handle);
  RemoveCallback(handle);
  DisableCallback(handle);
  ReenableCallback(0);
  EXPECT_EQ(warnings_, Texts(3, "Requested callback is not found"));
}

TEST_F(CallbacksTest, ProbabilitiesOutsideOfZeroToOneAddNothing) {
  for (const double probability : {-0.1, 1.1, 0.0 / 0.0}) {
    EXPECT_EQ(AddGlobalCallback(Logging("c").sampling_prob(probability)), 0);
    EXPECT_EQ(AddThreadLocalCallback(Logging("c").sampling_prob(probability)),
              0);
  }
  EXPECT_FALSE(HasCallbacks());
  EXPECT_EQ(warnings_, Texts(6, "Invalid sampling probability"));
  EXPECT_NE(AddGlobalCallback(Logging("never").sampling_prob(0)), 0);
  EXPECT_NE(AddThreadLocalCallback(Logging("always").sampling_prob(1)), 0);
  { RecordFunction op("op"); }
  EXPECT_EQ(log_, (Texts{"+always op", "-always op"}));
}

// --- threads ---

TEST_F(CallbacksTest, GuardsSwitchAThreadOffAndOn) {
  AddGlobalCallback(Logging("c"));
  EXPECT_TRUE(IsRecordFunctionEnabled());
  {
    const DisableRecordFunctionGuard off;
    EXPECT_FALSE(IsRecordFunctionEnabled());
    { RecordFunction op("hidden"); }
    {
      const RecordFunctionGuard on;
      RecordFunction op("shown");
    }
    EXPECT_FALSE(IsRecordFunctionEnabled());
    std::thread([] { EXPECT_TRUE(IsRecordFunctionEnabled()); }).join();
  }
  EXPECT_TRUE(IsRecordFunctionEnabled());
  EXPECT_EQ(log_, (Texts{"+c shown", "-c shown"}));
}

TEST_F(CallbacksTest, GuardsSwitchRecordingToo) {
  record::SessionId session = record::kNoSession;
  ASSERT_EQ(
      record::StartSession({.scope = record::SessionScope::kThread}, &session),
      0);
  {
    const DisableRecordFunctionGuard off;
    EXPECT_FALSE(RecordFunction("hidden").is_active());
  }
  EXPECT_TRUE(RecordFunction("shown").is_active());
  record::StopSession(session);
  record::ReleaseSession(session);
}

TEST_F(CallbacksTest, AnOperationThatBeganEndsInAThreadSwitchedOff) {
  AddGlobalCallback(Logging("c"));
  {
    RecordFunction op("op");
    EnableRecordFunction(false);
  }
  EXPECT_EQ(log_, (Texts{"+c op", "-c op"}));
}

TEST_F(CallbacksTest, ThreadLocalOnesRunOnTheirThreadAlone) {
  AddThreadLocalCallback(Logging("here"));
  std::thread([this] {
    EXPECT_FALSE(HasThreadLocalCallbacks());
    AddThreadLocalCallback(Logging("there"));
    RecordFunction op("a");
  }).join();
  { RecordFunction op("b"); }
  EXPECT_EQ(log_, (Texts{"+there a", "-there a", "+here b", "-here b"}));
}

TEST_F(CallbacksTest, GoAlongWithTheStateOfTheThread) {
  AddThreadLocalCallback(Logging("mine"));
  const ThreadState with = ThreadState::Capture();
  ClearThreadLocalCallbacks();
  EnableRecordFunction(false);
  const ThreadState off = ThreadState::Capture();
  EnableRecordFunction(true);
  std::thread([&] {
    AddThreadLocalCallback(Logging("worker"));
    {
      const ThreadStateGuard guard(with);
      { RecordFunction op("a"); }
      const ThreadStateGuard nested(off);
      EXPECT_FALSE(IsRecordFunctionEnabled());
      EXPECT_FALSE(HasThreadLocalCallbacks());
      { RecordFunction op("hidden"); }
    }
    EXPECT_TRUE(IsRecordFunctionEnabled());
    { RecordFunction op("b"); }
    const ThreadStateGuard none{ThreadState()};
    EXPECT_TRUE(IsRecordFunctionEnabled());
    RecordFunction op("hidden too");
  }).join();
  EXPECT_EQ(log_, (Texts{"+mine a", "-mine a", "+worker b", "-worker b"}));
}

TEST_F(CallbacksTest, ThreadsEndWithOperationsInTheirLastDestructors) {
  struct Late {
    ~Late() {
      RecordFunction op("late");
      EXPECT_EQ(AddThreadLocalCallback(RecordFunctionCallback({})), 0);
      EXPECT_FALSE(HasThreadLocalCallbacks());
      const DisableRecordFunctionGuard guard;
      ClearCallbacks();
    }
  };
  AddGlobalCallback(Logging("c"));
  std::thread([this] {
    // Made before the thread's callbacks, so destroyed after them.
    static thread_local Late late;
    AddThreadLocalCallback(Logging("local"));
    RecordFunction op("op");
    EXPECT_NE(&late, nullptr);
  }).join();
  EXPECT_EQ(log_, (Texts{"+c op", "+local op", "-c op", "-local op"}));
  EXPECT_FALSE(HasCallbacks());
}

}  // namespace
}  // namespace kymo
