#include "profiler/library/emit_text.h"

#include <cstdint>
#include <iterator>
#include <span>
#include <string>

#include "gtest/gtest.h"
#include "kymo/record_function.h"

namespace kymo::internal {
namespace {

constexpr int64_t kTwoByThree[] = {2, 3};
constexpr int64_t kFour[] = {4};

std::string Name(const OperationView& operation,
                 const Producers* producers = nullptr,
                 SequenceWords words = SequenceWords::kSame) {
  return EmittedName(operation, producers, words);
}

// PyTorch's own texts, one by one.

TEST(EmitTextTest, ANameAlone) {
  EXPECT_EQ(Name({.name = "relu", .sequence_nr = -1}), "relu");
}

TEST(EmitTextTest, ASequenceNumberAndAnId) {
  EXPECT_EQ(Name({.name = "AddBackward0", .handle = 9, .sequence_nr = 5}),
            "AddBackward0, seq = 5, op_id = 9");
  EXPECT_EQ(Name({.name = "op", .handle = 1, .sequence_nr = -1}),
            "op, op_id = 1");
  EXPECT_EQ(Name({.name = "first", .sequence_nr = 0}), "first, seq = 0");
}

TEST(EmitTextTest, SizesAndWhoMadeTheInputs) {
  int made = 0;
  Producers producers;
  const Input outputs[] = {TensorMeta{.identity = &made}};
  producers.Add(3, outputs);
  const auto inputs =
      Inputs(TensorMeta{.sizes = kTwoByThree, .identity = &made},
             Input::UndefinedTensor(), TensorMeta{.sizes = kFour});
  EXPECT_EQ(Name({.name = "aten::add",
                  .handle = 7,
                  .sequence_nr = 5,
                  .inputs = inputs},
                 &producers),
            "aten::add, seq = 5, op_id = 7, sizes = [[2, 3], [], [4]], "
            "input_op_ids = [(3,0), (0,-1), (0,-1)]");
}

// updateOutputTensorTracker in torch/csrc/profiler/standalone/
// nvtx_observer.cpp: each output has a number, and only tensors are known.
TEST(EmitTextTest, ProducersAreKnownByTheNumberOfTheOutput) {
  int first = 0, second = 0, listed = 0;
  const TensorMeta list[] = {{.identity = &listed}, {.identity = &listed}};
  const auto outputs =
      Inputs(2.5, std::span<const TensorMeta>(list),
             TensorMeta{.identity = &first}, TensorMeta{.identity = &second});
  Producers producers;
  producers.Add(3, outputs);
  const auto output_of = [&](const int& made) {
    const Producer producer = producers.Find(&made);
    EXPECT_EQ(producer.op_id, producer.output < 0 ? 0u : 3u);
    return producer.output;
  };
  EXPECT_EQ(output_of(first), 2);
  EXPECT_EQ(output_of(second), 3);
  EXPECT_EQ(output_of(listed), -1);
}

TEST(EmitTextTest, TooManyProducersAreForgotten) {
  static const char tensors[65'537] = {};
  Producers producers;
  for (size_t i = 0; i < std::size(tensors); ++i) {
    if (i == 65'536) {
      EXPECT_EQ(producers.Find(&tensors[0]).op_id, 1);
    }
    producers.Add(i + 1, Inputs(TensorMeta{.identity = &tensors[i]}));
  }
  EXPECT_EQ(producers.Find(&tensors[0]).op_id, 0);
  EXPECT_EQ(producers.Find(&tensors[65'536]).op_id, 65'537);
}

TEST(EmitTextTest, AScalarHasNoSizes) {
  EXPECT_EQ(Name({.name = "foo", .handle = 2, .inputs = Inputs(1.5)}),
            "foo, op_id = 2, sizes = [[]]");
}

TEST(EmitTextTest, AListStandsForItsTensorsAndAnEmptyOneForItself) {
  const TensorMeta list[] = {{.sizes = kTwoByThree}, {.sizes = kFour}};
  const Producers nobody;
  const auto inputs = Inputs(std::span<const TensorMeta>(list),
                             std::span<const TensorMeta>(), 0.5);
  EXPECT_EQ(Name({.name = "cat", .inputs = inputs}, &nobody),
            "cat, sizes = [[2, 3], [4], [], []], "
            "input_op_ids = [(0,-1), (0,-1), (0,-1), (0,-1)]");
}

TEST(EmitTextTest, ASequenceNumberBelowNoneIsNone) {
  EXPECT_EQ(Name({.name = "odd", .sequence_nr = -2, .inputs = Inputs(1)}),
            "odd, sizes = [[]]");
}

TEST(EmitTextTest, BackwardOperationsMayHaveTheDocumentedWords) {
  const OperationView forward = {.name = "Add", .sequence_nr = 5};
  const OperationView backward = {.name = "AddBackward0",
                                  .scope = RecordScope::kBackwardFunction,
                                  .sequence_nr = 5};
  EXPECT_EQ(Name(backward), "AddBackward0, seq = 5");
  EXPECT_EQ(Name(forward, nullptr, SequenceWords::kStashedBackward),
            "Add, seq = 5");
  EXPECT_EQ(Name(backward, nullptr, SequenceWords::kStashedBackward),
            "AddBackward0, stashed seq = 5");
}

}  // namespace
}  // namespace kymo::internal
