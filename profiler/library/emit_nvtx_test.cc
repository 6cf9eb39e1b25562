#include "kymo/emit_nvtx.h"

#include <string>
#include <thread>
#include <vector>

#include "backends/nvtx/target/nvtx_abi.h"
#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/sequence_number.h"
#include "kymo/thread_state.h"

namespace kymo {
namespace {

// A tool that is linked into the program, and keeps what it is told.
std::vector<std::string> told;

int Push(const char* message) {
  told.push_back(message);
  return 0;
}
int Pop() {
  told.push_back("pop");
  return 0;
}
uint64_t Start(const char* message) {
  told.push_back(std::string("start ") + message);
  return 5;
}
void End(uint64_t id) { told.push_back("end " + std::to_string(id)); }
void Mark(const char* message) {
  told.push_back(std::string("mark ") + message);
}

int InitializeTool(nvtx::GetExportTable get_table) {
  const auto* const callbacks =
      static_cast<const nvtx::CallbacksTable*>(get_table(nvtx::kCallbacks));
  nvtx::FunctionTable table = nullptr;
  unsigned size = 0;
  EXPECT_EQ(callbacks->get_module_functions(nvtx::kCore, &table, &size), 1);
  EXPECT_EQ(size, unsigned{nvtx::kCoreSize});
  const auto set = [&](unsigned id, auto* function) {
    *table[id] = reinterpret_cast<nvtx::FunctionPointer>(function);
  };
  set(nvtx::kRangePushA, Push);
  set(nvtx::kRangePop, Pop);
  set(nvtx::kRangeStartA, Start);
  set(nvtx::kRangeEnd, End);
  set(nvtx::kMarkA, Mark);
  return 1;
}

class EmitNvtxTest : public testing::Test {
 protected:
  EmitNvtxTest() { told.clear(); }
};

std::string WithoutId(std::string text) {
  const size_t at = text.find(", op_id = ");
  if (at == std::string::npos) return text;
  size_t end = at + 10;
  while (end < text.size() && isdigit(text[end])) ++end;
  return text.erase(at, end - at);
}

uint64_t IdIn(const std::string& text) {
  const size_t at = text.find(", op_id = ");
  return at == std::string::npos ? 0 : std::stoull(text.substr(at + 10));
}

TEST_F(EmitNvtxTest, OperationsBecomeRanges) {
  EmitNvtx emit;
  ASSERT_TRUE(emit.Start().ok());
  {
    RecordFunction outer("outer");
    RecordFunction inner(std::string("inner"));
  }
  ASSERT_TRUE(emit.Stop().ok());
  { RecordFunction unheard("unheard"); }
  ASSERT_EQ(told.size(), 4u);
  const uint64_t id = IdIn(told[0]);
  EXPECT_EQ(told[0], "outer, op_id = " + std::to_string(id));
  EXPECT_EQ(told[1], "inner, op_id = " + std::to_string(id + 1));
  EXPECT_EQ(told[2], "pop");
  EXPECT_EQ(told[3], "pop");
}

TEST_F(EmitNvtxTest, SequenceNumbersAreSaid) {
  EmitNvtx emit;
  ASSERT_TRUE(emit.Start().ok());
  { RecordFunction op("AddBackward0", {.sequence_nr = 5}); }
  ASSERT_TRUE(emit.Stop().ok());
  EXPECT_EQ(told[0],
            "AddBackward0, seq = 5, op_id = " + std::to_string(IdIn(told[0])));
}

TEST_F(EmitNvtxTest, BackwardSequenceNumbersMayBeCalledStashed) {
  EmitNvtx emit({.stashed_backward_seq = true});
  ASSERT_TRUE(emit.Start().ok());
  { RecordFunction forward("Add", {.sequence_nr = 5}); }
  {
    RecordFunction backward(
        "AddBackward0",
        {.scope = RecordScope::kBackwardFunction, .sequence_nr = 5});
  }
  ASSERT_TRUE(emit.Stop().ok());
  EXPECT_EQ(WithoutId(told[0]), "Add, seq = 5");
  EXPECT_EQ(WithoutId(told[2]), "AddBackward0, stashed seq = 5");
}

TEST_F(EmitNvtxTest, SizesAndProducersAreThoseOfPyTorch) {
  const int64_t two_by_three[] = {2, 3};
  const int64_t four[] = {4};
  int a = 0, b = 0;
  EmitNvtx emit({.record_shapes = true});
  ASSERT_TRUE(emit.Start().ok());
  {
    RecordFunction make("make", [&] { return Inputs(1); });
    const Input outputs[] = {Input(std::string_view("no tensor")),
                             TensorMeta{.sizes = two_by_three, .identity = &a}};
    make.End(outputs);
  }
  {
    RecordFunction add("aten::add", [&] {
      return Inputs(TensorMeta{.sizes = two_by_three, .identity = &a},
                    Input::UndefinedTensor(),
                    TensorMeta{.sizes = four, .identity = &b});
    });
  }
  ASSERT_TRUE(emit.Stop().ok());
  EXPECT_EQ(WithoutId(told[0]), "make, sizes = [[]], input_op_ids = [(0,-1)]");
  EXPECT_EQ(WithoutId(told[2]),
            "aten::add, sizes = [[2, 3], [], [4]], input_op_ids = [(" +
                std::to_string(IdIn(told[0])) + ",1), (0,-1), (0,-1)]");
}

TEST_F(EmitNvtxTest, ListsOfTensorsAreFlattened) {
  const int64_t one[] = {1};
  const int64_t two[] = {2, 2};
  const TensorMeta list[] = {{.sizes = one}, {.sizes = two}};
  EmitNvtx emit({.record_shapes = true});
  ASSERT_TRUE(emit.Start().ok());
  {
    RecordFunction cat("cat", [&] {
      return Inputs(std::span<const TensorMeta>(list),
                    std::span<const TensorMeta>(), Input(0.5));
    });
  }
  ASSERT_TRUE(emit.Stop().ok());
  EXPECT_EQ(WithoutId(told[0]),
            "cat, sizes = [[1], [2, 2], [], []], input_op_ids = [(0,-1), "
            "(0,-1), (0,-1), (0,-1)]");
}

TEST_F(EmitNvtxTest, WithoutShapesInputsAreNotSaid) {
  EmitNvtx emit;
  ASSERT_TRUE(emit.Start().ok());
  {
    RecordFunction op("op", [] { return Inputs(1, 2); });
  }
  ASSERT_TRUE(emit.Stop().ok());
  EXPECT_EQ(WithoutId(told[0]), "op");
}

TEST_F(EmitNvtxTest, ItIsNotReentrant) {
  EmitNvtx emit;
  ASSERT_TRUE(emit.Start().ok());
  EXPECT_EQ(emit.Start().message(),
            "NVTX annotation context manager is not reentrant");
  EmitNvtx other;
  EXPECT_EQ(other.Start().message(),
            "Profiler is already enabled on this thread.");
  ASSERT_TRUE(emit.Stop().ok());
  ASSERT_TRUE(other.Start().ok());
}

TEST_F(EmitNvtxTest, SwitchedOffItDoesNothing) {
  EmitNvtx emit({.enabled = false});
  ASSERT_TRUE(emit.Start().ok());
  { RecordFunction op("op"); }
  ASSERT_TRUE(emit.Stop().ok());
  EXPECT_TRUE(told.empty());
}

TEST_F(EmitNvtxTest, OtherThreadsAreHeardIfTheyAreAskedFor) {
  EmitNvtx emit;
  ASSERT_TRUE(emit.Start().ok());
  std::thread([] { RecordFunction op("plain thread"); }).join();
  EXPECT_TRUE(told.empty());
  std::thread(Propagate([] { RecordFunction op("propagated"); })).join();
  EXPECT_EQ(WithoutId(told[0]), "propagated");
  ASSERT_TRUE(emit.Stop().ok());
  told.clear();
  EmitNvtx all({.all_threads = true});
  ASSERT_TRUE(all.Start().ok());
  std::thread([] { RecordFunction op("any thread"); }).join();
  EXPECT_EQ(WithoutId(told[0]), "any thread");
  EXPECT_FALSE(emit.Start().ok());
  std::thread([&] { EXPECT_TRUE(all.Stop().ok()); }).join();
  told.clear();
  { RecordFunction op("unheard"); }
  EXPECT_TRUE(told.empty());
}

TEST_F(EmitNvtxTest, OneThreadsEmissionIsItsOwnToStop) {
  EmitNvtx emit;
  ASSERT_TRUE(emit.Start().ok());
  std::thread([&] { EXPECT_FALSE(emit.Stop().ok()); }).join();
  EXPECT_TRUE(emit.Stop().ok());
}

TEST_F(EmitNvtxTest, ASessionEmitsWhileItRecords) {
  Profile profile({.activities = {"cpu", "emit_nvtx"}, .record_shapes = true});
  ASSERT_TRUE(profile.Start().ok());
  { RecordFunction op("work"); }
  ASSERT_TRUE(profile.Stop().ok());
  { RecordFunction op("unheard"); }
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(WithoutId(told[0]), "work");
  EXPECT_EQ(told[1], "pop");
  EXPECT_EQ(profile.key_averages().size(), 1u);
}

TEST_F(EmitNvtxTest, AsynchronousOperationsAreStartedAndEnded) {
  EmitNvtx emit;
  ASSERT_TRUE(emit.Start().ok());
  { RecordFunction op("async", {.is_async = true}); }
  ASSERT_TRUE(emit.Stop().ok());
  EXPECT_EQ(WithoutId(told[0]), "start async");
  EXPECT_EQ(told[1], "end 5");
}

TEST_F(EmitNvtxTest, RangesOfOnesOwn) {
  EXPECT_TRUE(NvtxIsAvailable());
  { NvtxRange range("mine"); }
  EXPECT_EQ(NvtxRangeStart("long"), 5u);
  NvtxRangeEnd(5);
  NvtxMark("here");
  EXPECT_EQ(told, (std::vector<std::string>{"mine", "pop", "start long",
                                            "end 5", "mark here"}));
}

}  // namespace
}  // namespace kymo

extern "C" {
kymo::nvtx::InitializeInjection InitializeInjectionNvtx2_fnptr =
    kymo::InitializeTool;
}
