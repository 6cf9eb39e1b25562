#include "kymo/callbacks.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/record_function.h"
#include "kymo/thread_state.h"
#include "kymo/warning.h"
#include "profiler/record/host/host.h"

namespace kymo {
namespace {

using Texts = std::vector<std::string>;

struct Labelled : ObserverContext {
  explicit Labelled(std::string text) : label(std::move(text)) {}
  std::string label;
};

class CallbacksTest : public testing::Test {
 protected:
  CallbacksTest() {
    SetWarningHandler(
        [this](std::string_view text) { warnings_.emplace_back(text); });
  }
  ~CallbacksTest() override {
    ClearCallbacks();
    EXPECT_EQ(record::GateBits() & record::kGateObserved, 0);
    EnableRecordFunction(true);
    SetWarningHandler({});
  }

  // Writes "+LABEL NAME" at starts and "-LABEL NAME" at ends.
  RecordFunctionCallback Logging(const std::string& label) {
    return RecordFunctionCallback(
        [=, this](const OperationView& op) {
          log_.push_back("+" + label + " " + std::string(op.name));
          return std::make_unique<Labelled>(label);
        },
        [this](const OperationView& op, ObserverContext* context) {
          log_.push_back("-" + static_cast<Labelled*>(context)->label + " " +
                         std::string(op.name));
        });
  }

  // Calls `look` at each start.
  static RecordFunctionCallback AtStart(
      std::function<void(const OperationView&)> look) {
    return RecordFunctionCallback([=](const OperationView& op) {
      look(op);
      return nullptr;
    });
  }

  Texts log_;
  Texts warnings_;
};

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
}

// --- what callbacks see ---

TEST_F(CallbacksTest, SeeWhatTheOperationSaysOfItself) {
  std::vector<std::pair<OperationView, std::string>> seen;
  AddGlobalCallback(AtStart([&](const OperationView& op) {
    seen.emplace_back(op, std::string(op.name));
  }));
  { RecordFunction plain("plain"); }
  {
    RecordFunction op("aten::mul", {.scope = RecordScope::kBackwardFunction,
                                    .overload_name = "Tensor",
                                    .sequence_nr = 17,
                                    .forward_thread_id = 3,
                                    .debug_handle = 5,
                                    .is_async = true});
  }
  ASSERT_EQ(seen.size(), 2);
  EXPECT_EQ(seen[0].second, "plain");
  EXPECT_EQ(seen[0].first.scope, RecordScope::kFunction);
  EXPECT_EQ(seen[0].first.sequence_nr, -1);
  EXPECT_EQ(seen[0].first.forward_thread_id, 0);
  EXPECT_EQ(seen[0].first.debug_handle, -1);
  EXPECT_EQ(seen[0].first.node_id, -1);
  EXPECT_FALSE(seen[0].first.is_async);
  EXPECT_EQ(seen[1].second, "aten::mul");
  EXPECT_EQ(seen[1].first.scope, RecordScope::kBackwardFunction);
  EXPECT_EQ(seen[1].first.overload_name, "Tensor");
  EXPECT_EQ(seen[1].first.sequence_nr, 17);
  EXPECT_EQ(seen[1].first.forward_thread_id, 3);
  EXPECT_EQ(seen[1].first.debug_handle, 5);
  EXPECT_TRUE(seen[1].first.is_async);
  EXPECT_EQ(seen[1].first.thread_id, CurrentThreadId());
}

TEST_F(CallbacksTest, SeeInputsAtTheStartIfSomebodyNeedsThem) {
  const auto look = [&](const OperationView& op) {
    log_.push_back(std::to_string(op.inputs.size()) + " " +
                   std::to_string(op.kwinputs.size()));
    return nullptr;
  };
  const auto look_at_end = [&](const OperationView& op, ObserverContext*) {
    log_.push_back("end " + std::to_string(op.inputs.size()));
  };
  const auto perform = [] {
    const std::array inputs = Inputs(1, 2.5);
    const Arg args[] = {{"rows", 3}};
    RecordFunction op("op", {.inputs = inputs, .args = args});
  };
  AddGlobalCallback(RecordFunctionCallback(look, look_at_end));
  perform();
  const CallbackHandle other =
      AddThreadLocalCallback(AtStart([](const auto&) {}).needs_inputs(true));
  perform();
  RemoveCallback(other);
  perform();
  EXPECT_EQ(log_, (Texts{"0 0", "end 0", "2 1", "end 0", "0 0", "end 0"}));
}

TEST_F(CallbacksTest, SeeOutputsAtTheEndIfSomebodyNeedsThem) {
  const auto add = [&](bool needed) {
    return AddGlobalCallback(
        RecordFunctionCallback({}, [&](const OperationView& op, auto*) {
          log_.push_back(std::to_string(op.outputs.size()));
        }).needs_outputs(needed));
  };
  const auto perform = [] {
    RecordFunction op("op");
    const std::array outputs = Inputs(1, 2, 3);
    op.End(outputs);
  };
  add(false);
  perform();
  add(true);
  perform();
  EXPECT_EQ(log_, (Texts{"0", "3", "3"}));
}

TEST_F(CallbacksTest, IdsAreUniqueAndOnlyForThoseWhoNeedThem) {
  std::vector<uint64_t> ids;
  const auto note = [&](const OperationView& op) { ids.push_back(op.handle); };
  const CallbackHandle without = AddGlobalCallback(AtStart(note));
  { RecordFunction op("a"); }
  RemoveCallback(without);
  AddGlobalCallback(AtStart(note).needs_ids(true));
  { RecordFunction op("b"); }
  { RecordFunction op("c"); }
  ASSERT_EQ(ids.size(), 3);
  EXPECT_EQ(ids[0], 0);
  EXPECT_GT(ids[1], 0);
  EXPECT_EQ(ids[2], ids[1] + 1);
}

TEST_F(CallbacksTest, TextOfANameNeedNotLiveUntilTheEnd) {
  AddGlobalCallback(Logging("c"));
  std::string name = "a dynamic name, too long to stand in the object";
  const std::string copy = name;
  RecordFunction op(name);
  name.assign(name.size(), 'x');
  op.End();
  EXPECT_EQ(log_, (Texts{"+c " + copy, "-c " + copy}));
}

// --- life of an operation ---

TEST_F(CallbacksTest, EndsRunOnceAndOnTheThreadThatEnds) {
  std::vector<std::pair<std::thread::id, uint64_t>> ends;
  AddThreadLocalCallback(
      RecordFunctionCallback({}, [&](const OperationView& op, auto*) {
        ends.emplace_back(std::this_thread::get_id(), op.thread_id);
      }));
  {
    RecordFunction op("op");
    std::thread other([&] {
      op.End();
      op.End();
    });
    const std::thread::id other_id = other.get_id();
    other.join();
    ASSERT_EQ(ends.size(), 1);
    EXPECT_EQ(ends[0].first, other_id);
    EXPECT_EQ(ends[0].second, CurrentThreadId());
  }
  EXPECT_EQ(ends.size(), 1);
}

TEST_F(CallbacksTest, ContextsAreDeletedAlsoWithoutAnEnd) {
  const auto watched = std::make_shared<int>(0);
  struct Watching : ObserverContext {
    explicit Watching(std::shared_ptr<int> p) : held(std::move(p)) {}
    std::shared_ptr<int> held;
  };
  AddGlobalCallback(RecordFunctionCallback([&](const OperationView&) {
    return std::make_unique<Watching>(watched);
  }));
  {
    RecordFunction op("op");
    EXPECT_EQ(watched.use_count(), 2);
  }
  EXPECT_EQ(watched.use_count(), 1);
}

TEST_F(CallbacksTest, OneRemovedDuringAnOperationStillEnds) {
  const CallbackHandle global = AddGlobalCallback(Logging("global"));
  AddThreadLocalCallback(Logging("local"));
  {
    RecordFunction op("op");
    RemoveCallback(global);
    ClearThreadLocalCallbacks();
    RecordFunction hidden("hidden");
  }
  EXPECT_EQ(log_,
            (Texts{"+global op", "+local op", "-global op", "-local op"}));
}

TEST_F(CallbacksTest, OneAddedDuringAnOperationDoesNotEndIt) {
  {
    RecordFunction op("op");
    AddGlobalCallback(Logging("c"));
  }
  EXPECT_TRUE(log_.empty());
}

TEST_F(CallbacksTest, OneMayRemoveItself) {
  CallbackHandle handle = 0;
  handle = AddGlobalCallback(AtStart([&](const OperationView& op) {
    log_.emplace_back(op.name);
    RemoveCallback(handle);
  }));
  { RecordFunction op("a"); }
  { RecordFunction op("b"); }
  EXPECT_EQ(log_, Texts{"a"});
}

TEST_F(CallbacksTest, TheirOwnOperationsAreNotObserved) {
  AddGlobalCallback(RecordFunctionCallback(
      [&](const OperationView& op) {
        RecordFunction own("own");
        log_.emplace_back(op.name);
        return nullptr;
      },
      [&](const OperationView&, auto*) { RecordFunction own("own"); }));
  { RecordFunction op("a"); }
  { RecordFunction op("b"); }
  EXPECT_EQ(log_, (Texts{"a", "b"}));
}

TEST_F(CallbacksTest, CapturesMayComeBackWhenTheyAreDestroyed) {
  struct Returning {
    ~Returning() {
      HasCallbacks();
      RecordFunction op("from the destructor");
    }
  };
  for (const bool global : {true, false}) {
    auto captured = std::make_shared<Returning>();
    RecordFunctionCallback callback =
        AtStart([captured](const OperationView&) {});
    captured.reset();
    const CallbackHandle handle =
        global ? AddGlobalCallback(std::move(callback))
               : AddThreadLocalCallback(std::move(callback));
    AddGlobalCallback(Logging("c"));
    { RecordFunction op("op"); }
    RemoveCallback(handle);
    { RecordFunction op("destroys it"); }
    ClearCallbacks();
  }
  EXPECT_EQ(std::count(log_.begin(), log_.end(), "+c from the destructor"), 2);
}

TEST_F(CallbacksTest, ExceptionsBecomeWarningsAndTheOthersRun) {
  AddGlobalCallback(RecordFunctionCallback(
      [](const OperationView&) -> std::unique_ptr<ObserverContext> {
        throw std::runtime_error("start broke");
      },
      [this](const OperationView&, ObserverContext* context) {
        EXPECT_EQ(context, nullptr);
        log_.emplace_back("end");
        throw 7;
      }));
  AddGlobalCallback(Logging("c"));
  { RecordFunction op("op"); }
  EXPECT_EQ(log_, (Texts{"+c op", "end", "-c op"}));
  EXPECT_EQ(
      warnings_,
      (Texts{"Exception in RecordFunction callback: start broke , for the "
             "range op",
             "Exception in RecordFunction callback: unknown , for the range "
             "op"}));
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
