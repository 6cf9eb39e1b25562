// Tests of what callbacks see of an operation, from its start to its end.
#include "kymo/callbacks.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/record_function.h"
#include "profiler/callbacks/test_callbacks.h"

namespace kymo {
namespace {

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

// Without the "=" of the macro, these are declarations of functions.
TEST_F(CallbacksTest, ANameMayBeMadeWithinTheMacro) {
  AddGlobalCallback(Logging("c"));
  const std::string name = "name";
  {
    KYMO_RECORD_FUNCTION(std::string(name));
    KYMO_RECORD_FUNCTION(std::string_view(name), RecordScope::kUserScope);
  }
  EXPECT_EQ(log_, (Texts{"+c name", "+c name", "-c name", "-c name"}));
}

TEST_F(CallbacksTest, ANullPointerIsNoName) {
  Texts seen;
  AddGlobalCallback(RecordFunctionCallback([&](const OperationView& operation) {
                      seen.emplace_back(operation.name);
                      for (const record::Arg& arg : operation.kwinputs) {
                        seen.emplace_back(arg.text());
                      }
                      for (const Input& input : operation.inputs) {
                        EXPECT_EQ(input.kind, InputKind::kString);
                        EXPECT_EQ(input.count, 9);
                      }
                      return nullptr;
                    }).needs_inputs(true));
  const char* const none = nullptr;
  { KYMO_RECORD_FUNCTION(none, {{"arg", none}}); }
  { KYMO_RECORD_OP(none, none); }
  { const RecordFunction op(none, {.sequence_nr = 1}); }
  Recorded(none, [] {})();
  EXPECT_EQ(seen, Texts(5, "(no name)"));
}

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

TEST_F(CallbacksTest, OperationsThatTheyEndLeaveThemUnobserved) {
  std::unique_ptr<RecordFunction> open;
  AddGlobalCallback(AtStart([&](const OperationView& op) {
    log_.emplace_back(op.name);
    open.reset();
    RecordFunction own("own");
  }));
  open.reset(new RecordFunction("a"));
  { RecordFunction op("b"); }
  EXPECT_EQ(open, nullptr);
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

// --- what an operation leaves in its record ---

TEST_F(CallbacksTest, RecordsSayWhichOperationsAreAsynchronous) {
  record::SessionId session = record::kNoSession;
  ASSERT_EQ(
      record::StartSession({.scope = record::SessionScope::kThread}, &session),
      0);
  for (const bool is_async : {true, false}) {
    RecordFunction op("op", {.is_async = is_async});
    internal::OpenOperation open = op.Detach();
    ASSERT_NE(open.range.slot, nullptr);
    EXPECT_EQ((open.range.slot->flags & record::kSlotAsync) != 0, is_async);
    internal::EndOperation(open);
  }
  record::StopSession(session);
  record::ReleaseSession(session);
}

// The kernel keeps 15 characters (PR_SET_NAME).
TEST(SetThreadNameTest, CutsTheNameToTheKernelsLength) {
  std::thread([] {
    char name[64] = {};
    SetThreadName("123456789012345");
    pthread_getname_np(pthread_self(), name, sizeof(name));
    EXPECT_STREQ(name, "123456789012345");
    SetThreadName("abcdefghijklmnopq");
    pthread_getname_np(pthread_self(), name, sizeof(name));
    EXPECT_STREQ(name, "abcdefghijklmno");
  }).join();
}

}  // namespace
}  // namespace kymo
