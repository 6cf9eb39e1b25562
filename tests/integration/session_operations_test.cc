// The details of operations in a session: inputs, stacks, modules, memory,
// futures.
//
// Long, because each thing that an operation can carry has its own case.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/callbacks.h"
#include "kymo/coverage.h"
#include "kymo/events.h"
#include "kymo/flops.h"
#include "kymo/future.h"
#include "kymo/memory.h"
#include "kymo/node_id.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/sequence_number.h"
#include "kymo/thread_state.h"
#include "profiler/base/clock.h"
#include "profiler/model/trace.h"
#include "profiler/record/host/host.h"
#include "tests/integration/test_session.h"

namespace kymo {
namespace {

TEST(SessionTest, OverloadNamesAreKeptOnlyWhenAskedFor) {
  const auto add_twice = [] {
    const OperationInfo tensor = {.overload_name = "Tensor"};
    const OperationInfo out = {.overload_name = "out"};
    { RecordFunction range("aten::add", tensor); }
    { RecordFunction range("aten::add", out); }
  };
  const std::string path = testing::TempDir() + "/overloads.json";
  const KeyAveragesOptions by_overload = {.group_by_overload_name = true};

  const auto without = Record({}, add_twice);
  EXPECT_EQ(Find(*without, "aten::add")->overload_name, "");
  EXPECT_EQ(without->key_averages(by_overload).size(), 1);
  EXPECT_EQ(without->table().find("Overload Name"), std::string::npos);
  ASSERT_TRUE(without->export_chrome_trace(path).ok());
  EXPECT_EQ(ReadFile(path).find("Tensor"), std::string::npos);

  const auto with = Record(
      {.experimental_config = {.capture_overload_names = true}}, add_twice);
  EXPECT_EQ(Find(*with, "aten::add")->overload_name, "Tensor");
  EXPECT_EQ(CountsOf(with->key_averages()), (NameCounts{{"aten::add", 2}}));
  const KeyAverages rows = with->key_averages(by_overload);
  ASSERT_EQ(rows.size(), 2);
  EXPECT_EQ(rows.rows()[0].overload_name, "Tensor");
  EXPECT_EQ(rows.rows()[1].overload_name, "out");
  EXPECT_NE(rows.table().find("Overload Name"), std::string::npos);
  ASSERT_TRUE(with->export_chrome_trace(path).ok());
  EXPECT_NE(ReadFile(path).find("\"aten::add.Tensor\""), std::string::npos);
}

__attribute__((noinline)) void CalledFromHere() {
  RecordFunction range("with a stack");
  usleep(2000);  // a file of stacks leaves out what is shorter than 1 us
  range.End();
}

// The last column of a row of a table, by its name.
std::string LastCell(const std::string& table, const std::string& name) {
  const size_t row = table.find(" " + name + " ");
  if (row == std::string::npos) return "no row " + name;
  std::string text = table.substr(row, table.find('\n', row) - row);
  text.erase(text.find_last_not_of(' ') + 1);
  return text.substr(text.rfind(' ') + 1);
}

// PyTorch's table() shows the column where an event has a node_id other than
// -1; RecordFunction takes it from setDefaultNodeId when it begins.
TEST(SessionTest, OperationsOfEveryKindCarryTheDefaultNodeId) {
  const auto profile = Record({.with_modules = true}, [] {
    { RecordFunction range("before"); }
    SetDefaultNodeId(3);
    {
      KYMO_RECORD_FUNCTION("literal");
      RecordModule module("module");
      { KYMO_RECORD_OP("with inputs", 64); }
      { RecordFunction range(std::string("dynamic")); }
      { RecordFunction range("with arguments", {{"heads", 8}}); }
      { RecordFunction range("scoped", RecordScope::kUserScope); }
    }
    SetDefaultNodeId(4);
    { RecordFunction range("after"); }
  });
  EXPECT_EQ(DefaultNodeId(), 4);
  record::SetNodeId(-1);  // as before, for the other tests
  EXPECT_EQ(Find(*profile, "before")->node_id, -1);
  EXPECT_EQ(Find(*profile, "after")->node_id, 4);
  for (const char* name : {"literal", "module", "with inputs", "dynamic",
                           "with arguments", "scoped"}) {
    EXPECT_EQ(Find(*profile, name)->node_id, 3) << name;
  }
  // Events nest within their node.
  EXPECT_EQ((**profile->events())[*Find(*profile, "scoped")->cpu_parent].name,
            "module");
  const std::string table = profile->key_averages().table();
  EXPECT_NE(table.find("  # of Calls       Node ID  "), std::string::npos)
      << table;
  EXPECT_EQ(LastCell(table, "before"), "-1");
  EXPECT_EQ(LastCell(table, "literal"), "3");
  EXPECT_EQ(LastCell(table, "after"), "4");
}

TEST(SessionTest, TablesWithoutNodesHaveNoColumnForThem) {
  const auto profile =
      Record({}, [] { RecordFunction range("without a node"); });
  EXPECT_EQ(Find(*profile, "without a node")->node_id, -1);
  EXPECT_EQ(profile->key_averages().table().find("Node ID"), std::string::npos);
}

__attribute__((noinline)) void ItsCaller() {
  CalledFromHere();
  asm volatile("");  // not a tail call, which has no frame
}

TEST(SessionTest, StacksBeginAtTheCaller) {
  const auto profile = Record({.with_stack = true}, [] { ItsCaller(); });
  const FunctionEvent* const event = Find(*profile, "with a stack");
  ASSERT_NE(event, nullptr);
  ASSERT_NE(event->stack, nullptr);
  const EventStack& stack = *event->stack;
  ASSERT_GE(stack.size(), 3u);
  EXPECT_NE(stack[0].find("CalledFromHere"), std::string::npos) << stack[0];
  EXPECT_NE(stack[1].find("ItsCaller"), std::string::npos) << stack[1];
  EXPECT_NE(stack.back().find("_start"), std::string::npos) << stack.back();
  const KeyAverages by_stack = profile->key_averages({.group_by_stack_n = 2});
  ASSERT_EQ(by_stack.size(), 1);
  EXPECT_EQ(by_stack.rows()[0].stack, (EventStack{stack[0], stack[1]}));

  // PyTorch's folded form: outermost first, and no separators in names.
  const std::string path = testing::TempDir() + "/stacks.txt";
  ASSERT_TRUE(profile->export_stacks(path).ok());
  std::string line;
  for (auto entry = stack.rbegin(); entry != stack.rend(); ++entry) {
    if (!line.empty()) line += ';';
    for (const char c : *entry) {
      line += std::string_view(" ;\t\n").find(c) == std::string_view::npos
                  ? c
                  : '_';
    }
  }
  const auto self_us = static_cast<int64_t>(event->self_cpu_time_total());
  EXPECT_GE(self_us, 2000);
  EXPECT_EQ(ReadFile(path), line + " " + std::to_string(self_us) + "\n");
}

TEST(SessionTest, ModulesFormAHierarchy) {
  const auto profile = Record({.with_modules = true}, [] {
    RecordModule top("top(Net).forward");
    RecordModule inner(std::string("inner(Layer).forward"));
    RecordFunction op("op");
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (NameCounts{{"op", 1}}));
  const FunctionEvent* const op = Find(*profile, "op");
  ASSERT_TRUE(op->details != nullptr);
  EXPECT_EQ(
      op->details->module_hierarchy,
      (std::vector<std::string>{"top(Net).forward", "inner(Layer).forward"}));
}

TEST(SessionTest, RecordedCallablesAreUserRanges) {
  std::function<int(int)> tree =
      Recorded(std::string("tr") + "ee", [&](int depth) {
        return depth == 0 ? 1 : tree(depth - 1) + tree(depth - 1);
      });
  auto forward = Recorded("forward", [] { return 7; });
  auto op = Recorded(
      "op", [] {}, RecordScope::kFunction);
  const auto profile = Record({}, [&] {
    EXPECT_EQ(tree(1), 2);
    EXPECT_EQ(forward(), 7);
    op();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()),
            (NameCounts{{"tree", 3}, {"forward", 1}, {"op", 1}}));
  EXPECT_EQ(Find(*profile, "tree")->scope, RecordScope::kUserScope);
  EXPECT_TRUE(Find(*profile, "tree")->is_user_annotation);
  EXPECT_EQ(Find(*profile, "forward")->scope, RecordScope::kUserScope);
  EXPECT_EQ(Find(*profile, "op")->scope, RecordScope::kFunction);
}

// PyTorch charges the memory of an operation's last nanosecond to it. Two
// readings of the clock can be less than that apart.
void WaitForTheNextMicrosecond() {
  const int64_t now_ns = MonotonicNs();
  while (MonotonicNs() < now_ns + 1'000) {
  }
}

TEST(SessionTest, MemoryThatTheProgramReportsIsCharged) {
  const auto profile = Record({.profile_memory = true}, [] {
    int block = 0;
    {
      RecordFunction allocates("allocates");
      ReportMemoryUsage(&block, 4096, {.allocated = 4096, .reserved = 8192});
    }
    WaitForTheNextMicrosecond();
    {
      RecordFunction frees("frees");
      WaitForTheNextMicrosecond();
      ReportMemoryUsage(&block, -4096);
    }
    WaitForTheNextMicrosecond();
    ReportMemoryUsage(&block, 100);
    ReportOutOfMemory(1 << 30);
  });
  EXPECT_EQ(Find(*profile, "allocates")->cpu_memory_usage, 4096);
  EXPECT_EQ(Find(*profile, "frees")->cpu_memory_usage, -4096);
  EXPECT_EQ(Find(*profile, "[memory]")->cpu_memory_usage, 100);
  EXPECT_NE(Find(*profile, "[OutOfMemory]"), nullptr);
  EXPECT_NE(profile->key_averages().table().find("CPU Mem"), std::string::npos);
}

TEST(SessionTest, MemorysScopesAreRecordedFromBeginningToEndOrNotAtAll) {
  const auto scopes_in = [](const ProfileOptions& options) {
    Profile profile(options);
    auto before =
        std::make_optional<MemoryCategoryScope>(MemoryCategory::kInput);
    EXPECT_TRUE(profile.Start().ok());
    before.reset();
    { const MemoryCategoryScope scope(MemoryCategory::kGradient); }
    auto after =
        std::make_optional<MemoryCategoryScope>(MemoryCategory::kParameter);
    EXPECT_TRUE(profile.Stop().ok());
    after.reset();
    std::vector<std::string> scopes;
    const model::Trace& trace = *profile.trace();
    for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
      if (trace.EventName(i) != "[memory scope]") continue;
      std::string& category = scopes.emplace_back("end");
      for (const model::Arg& arg : trace.args(i)) {
        category = trace.strings().Get(arg.string_value());
      }
    }
    return scopes;
  };
  EXPECT_EQ(scopes_in({.profile_memory = true}),
            (std::vector<std::string>{"GRADIENT", "end", "PARAMETER"}));
  EXPECT_EQ(scopes_in({}), std::vector<std::string>());
}

TEST(SessionTest, SequenceNumbersLinkBackwardToForwardStacks) {
  uint64_t forward_thread = 0;
  const auto profile = Record({.with_stack = true}, [&] {
    const int64_t sequence = GetAndIncrementSequenceNumber();
    forward_thread = CurrentThreadId();
    {
      RecordFunction forward("aten::linear",
                             OperationInfo{.sequence_nr = sequence});
    }
    std::thread(Propagate([&] {
      RecordFunction backward(
          "AddmmBackward0",
          OperationInfo{.scope = RecordScope::kBackwardFunction,
                        .sequence_nr = sequence,
                        .forward_thread_id = forward_thread});
    })).join();
  });
  const FunctionEvent* const forward = Find(*profile, "aten::linear");
  const FunctionEvent* const backward = Find(*profile, "AddmmBackward0");
  EXPECT_EQ(backward->fwd_thread, static_cast<int64_t>(forward_thread));
  EXPECT_EQ(forward->thread, static_cast<int64_t>(forward_thread));
  ASSERT_NE(backward->stack, nullptr);
  EXPECT_EQ(*backward->stack, *forward->stack);
}

TEST(SessionTest, OperationsMayEndWhenAFutureIsReady) {
  std::promise<int> reply;
  const auto profile = Record({}, [&] {
    std::future<int> done;
    {
      RecordFunction rpc("rpc");
      EndOnFuture end(rpc);
      auto future = end.On(reply.get_future());
      ASSERT_TRUE(future.ok());
      done = *std::move(future);
      EXPECT_EQ(end.On(std::promise<int>().get_future()).status().message(),
                "_call_end_callbacks_on_future can only be called once.");
      EXPECT_EQ(end.On(std::future<int>()).status().message(),
                "_call_end_callbacks_on_future can only be called once.");
    }
    { RecordFunction after("after"); }
    usleep(2000);
    reply.set_value(7);
    EXPECT_EQ(done.get(), 7);
  });
  const FunctionEvent* const rpc = Find(*profile, "rpc");
  EXPECT_TRUE(rpc->is_async);
  EXPECT_EQ(rpc->self_cpu_time_total(), 0);
  EXPECT_GT(rpc->cpu_time_total(), 2000);
}

TEST(SessionTest, FuturesErrorsPassThrough) {
  std::promise<int> reply;
  const auto profile = Record({}, [&] {
    RecordFunction rpc("rpc");
    EndOnFuture end(rpc);
    auto done = end.On(reply.get_future());
    reply.set_exception(std::make_exception_ptr(std::runtime_error("lost")));
    EXPECT_THROW(done->get(), std::runtime_error);
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (NameCounts{{"rpc", 1}}));
}

TEST(SessionTest, CallbacksSeeOperationsWithAndWithoutASession) {
  const Matrix a = {{2, 3}};
  std::vector<std::string> seen;
  const CallbackHandle handle = AddThreadLocalCallback(
      RecordFunctionCallback(
          [&](const OperationView& op) {
            seen.push_back(std::string(op.name) + " " +
                           std::to_string(op.inputs.size()));
            return nullptr;
          },
          [&](const OperationView& op, ObserverContext*) {
            seen.push_back("end of " + std::string(op.name));
          })
          .needs_inputs(true));
  MatMul(a, a);
  const auto profile = Record({}, [&] { MatMul(a, a); });
  RemoveCallback(handle);
  MatMul(a, a);
  EXPECT_EQ(seen, (std::vector<std::string>{"aten::mm 2", "end of aten::mm",
                                            "aten::mm 2", "end of aten::mm"}));
  EXPECT_EQ(CountsOf(profile->key_averages()), (NameCounts{{"aten::mm", 1}}));
}

TEST(SessionTest, GuardsSwitchRecordingOffForAScope) {
  const auto profile = Record({}, [] {
    RecordFunction outer("outer");
    {
      const DisableRecordFunctionGuard guard;
      RecordFunction hidden("hidden");
      const RecordFunctionGuard again(true);
      RecordFunction shown("shown");
    }
    RecordFunction after("after");
  });
  EXPECT_EQ(CountsOf(profile->key_averages()),
            (NameCounts{{"outer", 1}, {"shown", 1}, {"after", 1}}));
}

TEST(SessionTest, CapturedRegionsAreCovered) {
  CapturedRegions::Take();
  auto captured = insert_profiling([](int i) {
    RecordFunction op("captured op");
    return i + 1;
  });
  CoverageProfiler profiler;
  EXPECT_FALSE(profiler.results().ok());
  ASSERT_TRUE(profiler.Start().ok());
  EXPECT_EQ(captured(1), 2);
  EXPECT_EQ(captured(2), 3);
  { RecordFunction op("other op"); }
  ASSERT_TRUE(profiler.Stop().ok());
  const absl::StatusOr<ProfileResult> result = profiler.results();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->unique_graphs, 1);
  EXPECT_EQ(result->captured.graphs, 2);
  EXPECT_EQ(result->captured.operators, 2);
  EXPECT_EQ(result->total.operators, 3);
}

TEST(SessionTest, LegacyOperationsAreSubtractedOnRequest) {
  auto captured = insert_profiling([] { RecordFunction op("captured op"); });
  CoverageProfiler profiler;
  ASSERT_TRUE(profiler.Start().ok());
  captured();
  { RecordFunction op("other op"); }
  ASSERT_TRUE(profiler.Stop().ok());
  EXPECT_EQ(profiler.results()->total.operators, 2);
  // One for the region and one for the profiler, as PyTorch always does.
  EXPECT_EQ(profiler.results(true)->total.operators, 0);
}

TEST(SessionTest, MissingOperationsAreWarnedOfOnRequest) {
  const auto missing = [] { RecordFunction op("missing op"); };
  auto captured = insert_profiling([] { RecordFunction op("captured op"); });
  const auto warnings_of = [](const std::function<void()>& work) {
    const Warnings warnings;
    CoverageProfiler profiler;
    EXPECT_TRUE(profiler.Start().ok());
    work();
    EXPECT_TRUE(profiler.Stop().ok());
    EXPECT_TRUE(profiler.results().ok());
    return warnings.texts();
  };
  EXPECT_EQ(warnings_of(missing), std::vector<std::string>());

  setenv("TORCHDYNAMO_PRINT_MISSING", "1", 1);
  const std::vector<std::string> of_captured = warnings_of(captured);
  const std::vector<std::string> of_missing = warnings_of([&] {
    missing();
    captured();
    missing();
  });
  unsetenv("TORCHDYNAMO_PRINT_MISSING");
  EXPECT_EQ(of_captured, std::vector<std::string>());
  // Once, with the three outermost frames; those are the same here.
  const auto profile = Record({.with_stack = true}, missing);
  const EventStack& stack = *Find(*profile, "missing op")->stack;
  ASSERT_GE(stack.size(), 3u);
  const size_t n = stack.size();
  EXPECT_EQ(of_missing,
            (std::vector<std::string>{"MISSING " + stack[n - 3] + " >> " +
                                      stack[n - 2] + " >> " + stack[n - 1]}));
}

}  // namespace
}  // namespace kymo
