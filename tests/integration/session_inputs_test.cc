// The inputs of operations in a session: shapes, numbers, text, overloads.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/events.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "profiler/model/trace.h"
#include "tests/integration/test_session.h"

namespace kymo {
namespace {

TEST(SessionTest, ShapesAndFlopsOfOperations) {
  const Matrix a = {{64, 32}};
  const Matrix b = {{32, 64}};
  const auto profile = Record({.with_flops = true}, [&] {
    MatMul(a, b);
    MatMul(a, b);
    MatMul(b, a);
  });
  const FunctionEvent* const mm = Find(*profile, "aten::mm");
  ASSERT_NE(mm, nullptr);
  EXPECT_EQ(*mm->input_shapes, (InputShapes{{64, 32}, {32, 64}}));
  EXPECT_EQ(mm->flops, 262'144);
  EXPECT_EQ(mm->details->input_dtypes,
            (std::vector<std::string>{"float", "float"}));
  const KeyAverages by_shape =
      profile->key_averages({.group_by_input_shape = true});
  ASSERT_EQ(by_shape.size(), 2);
  EXPECT_EQ(by_shape.rows()[0].input_shapes, "[[64, 32], [32, 64]]");
  EXPECT_EQ(by_shape.rows()[0].count, 2);
  EXPECT_EQ(by_shape.rows()[0].flops, 2 * 262'144);
  EXPECT_NE(by_shape.table().find("Total KFLOPs"), std::string::npos);
}

// A type that has no list of its sizes.
struct Rows {
  size_t rows;
  int columns;
};
TensorMeta KymoInput(const Rows& rows) {
  return {.sizes = {rows.rows, rows.columns}, .dtype = DType::kDouble};
}
struct Slot {
  bool is_used;
};
std::optional<TensorMeta> KymoInput(const Slot& slot) {
  if (!slot.is_used) return std::nullopt;
  const int64_t sizes[] = {7};
  return TensorMeta{.sizes = sizes, .dtype = DType::kInt8};
}
// These could refer to what has ended, and are refused.
static_assert(internal::IsOwnInput<TensorMeta>);
static_assert(internal::IsOwnInput<std::optional<TensorMeta>>);
static_assert(internal::IsOwnInput<double>);
static_assert(!internal::IsOwnInput<Input>);
static_assert(!internal::IsOwnInput<std::span<const int64_t>>);
static_assert(!internal::IsOwnInput<std::string_view>);
// Nine sizes are one too many.
static_assert(std::is_constructible_v<TensorSizes, int, int, int, int, int, int,
                                      int, int>);
static_assert(!std::is_constructible_v<TensorSizes, int, int, int, int, int,
                                       int, int, int, int>);

// Writes over the part of the stack that calls before have used.
__attribute__((noinline)) void WriteOverStack() {
  volatile char bytes[4096];
  for (volatile char& byte : bytes) byte = 0x55;
}

TEST(SessionTest, SizesAreKeptByValue) {
  const auto profile = Record({.record_shapes = true}, [] {
    const auto made = [] {
      WriteOverStack();
      return Inputs(Rows{64, 32}, Slot{true}, Slot{false});
    };
    const auto inputs = made();
    WriteOverStack();
    RecordFunction op("op", OperationInfo{.inputs = inputs});
  });
  const FunctionEvent* const op = Find(*profile, "op");
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(*op->input_shapes, (InputShapes{{64, 32}, {7}, {}}));
  EXPECT_EQ(op->details->input_dtypes,
            (std::vector<std::string>{"double", "signed char", ""}));
}

TEST(SessionTest, OperationsTakeTextListsAndDynamicNames) {
  const auto profile = Record({.record_shapes = true}, [] {
    const std::string text = "padding";
    const std::vector<int64_t> kernel = {3, 3};
    KYMO_RECORD_OP("op " + text, text, kernel);
    // What is temporary lives until it is recorded.
    KYMO_RECORD_OP("literal", std::string(40, 'x'),
                   std::vector<double>({0.5, 2}), std::vector<int64_t>({1}));
  });
  const FunctionEvent* const op = Find(*profile, "op padding");
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->details->concrete_inputs,
            (std::vector<std::string>{"padding", "[3, 3]"}));
  const FunctionEvent* const literal = Find(*profile, "literal");
  ASSERT_NE(literal, nullptr);
  EXPECT_EQ(
      literal->details->concrete_inputs,
      (std::vector<std::string>{std::string(40, 'x'), "[0.5, 2.]", "[1]"}));
}

TEST(SessionTest, ATensorOfTooHighARankIsCounted) {
  const auto profile = Record({.record_shapes = true}, [] {
    const std::vector<int64_t> nine(9, 2);
    KYMO_RECORD_OP("borrowed", TensorMeta{.sizes = TensorSizes::Borrow(nine)});
    KYMO_RECORD_OP("copied", TensorMeta{.sizes = nine});
  });
  EXPECT_EQ(*Find(*profile, "borrowed")->input_shapes,
            (InputShapes{std::vector<int64_t>(9, 2)}));
  EXPECT_TRUE(Find(*profile, "copied")->input_shapes->empty());
  EXPECT_EQ(profile->trace()->ledger().Get(model::Loss::kArgumentsTruncated),
            1);
}

TEST(SessionTest, InputsAreKeptOnlyWhenAskedFor) {
  const Matrix a = {{64, 32}};
  const auto profile = Record({}, [&] { MatMul(a, a); });
  EXPECT_TRUE(Find(*profile, "aten::mm")->input_shapes->empty());
}

TEST(SessionTest, SessionsAtOnceKeepOnlyTheirOwnDetails) {
  const Matrix a = {{2, 3}};
  const auto add = [&] {
    const RecordFunction range(
        "aten::add",
        OperationInfo{.inputs = Inputs(a), .overload_name = "Tensor"});
  };
  std::unique_ptr<Profile> plain;
  const auto detailed =
      Record({.record_shapes = true,
              .with_stack = true,
              .experimental_config = {.capture_overload_names = true}},
             [&] {
               add();
               std::thread([&] { plain = Record({}, add); }).join();
             });
  const FunctionEvent* const with = Find(*detailed, "aten::add");
  EXPECT_EQ(with->overload_name, "Tensor");
  EXPECT_EQ(*with->input_shapes, (InputShapes{{2, 3}}));
  EXPECT_FALSE(with->stack->empty());
  const FunctionEvent* const without = Find(*plain, "aten::add");
  EXPECT_EQ(without->overload_name, "");
  EXPECT_TRUE(without->input_shapes->empty());
  EXPECT_TRUE(without->stack->empty());
}

}  // namespace
}  // namespace kymo
