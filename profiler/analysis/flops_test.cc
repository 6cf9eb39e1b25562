#include "profiler/analysis/flops.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::OpInput;
using Sizes = std::vector<int64_t>;

OpInput Tensor(Sizes sizes) {
  return {.kind = InputKind::kTensor, .sizes = std::move(sizes)};
}
OpInput List(Sizes values) {
  return {.kind = InputKind::kIntList, .integers = std::move(values)};
}
OpInput Int(int64_t value) {
  return {.kind = InputKind::kInt, .integers = {value}};
}

FlopsResult Flops(const std::string& name, std::vector<OpInput> inputs) {
  static const FlopsRegistry registry = FlopsRegistry::WithPyTorchFormulas();
  const FlopsFormula* const formula = registry.Find(name);
  return formula == nullptr ? FlopsResult() : (*formula)(inputs);
}

std::vector<OpInput> Conv(Sizes input, Sizes weight, Sizes stride,
                          Sizes padding, Sizes dilation, int64_t groups) {
  return {Tensor(std::move(input)),
          Tensor(std::move(weight)),
          OpInput(),
          List(std::move(stride)),
          List(std::move(padding)),
          List(std::move(dilation)),
          Int(groups)};
}

TEST(FlopsTest, PyTorchsExamples) {
  const auto mm = [](Sizes a, Sizes b) {
    return Flops("aten::mm", {Tensor(a), Tensor(b)}).flops;
  };
  EXPECT_EQ(mm({64, 32}, {32, 64}), 262'144);
  EXPECT_EQ(mm({4, 0}, {0, 5}), 0);
  EXPECT_EQ(mm({0, 4}, {4, 5}), 0);
  EXPECT_EQ(mm({4, 4}, {4, 4}), 128);
  EXPECT_EQ(
      Flops("aten::addmm", {Tensor({16}), Tensor({32, 64}), Tensor({64, 16})})
          .flops,
      65'536);
  EXPECT_EQ(
      Flops("aten::bmm", {Tensor({10, 64, 32}), Tensor({10, 32, 16})}).flops,
      655'360);
  EXPECT_EQ(Flops("aten::baddbmm", {Tensor({10, 64, 16}), Tensor({10, 64, 32}),
                                    Tensor({10, 32, 16})})
                .flops,
            655'360);
  EXPECT_EQ(Flops("aten::mul", {Tensor({64, 32}), Int(2)}).flops, 2'048);
  EXPECT_EQ(Flops("aten::mul", {Tensor({1, 32}), Tensor({64, 32})}).flops, 32);
  EXPECT_EQ(Flops("aten::add", {Tensor({}), Tensor({})}).flops, 1);
  EXPECT_EQ(Flops("aten::relu", {Tensor({64})}).flops, 0);
}

TEST(FlopsTest, PyTorchsConvolutions) {
  const auto conv = [](auto... args) {
    const FlopsResult result = Flops("aten::conv2d", Conv(args...));
    EXPECT_TRUE(result.warnings.empty());
    return result.flops;
  };
  EXPECT_EQ(conv(Sizes{1, 3, 224, 224}, Sizes{64, 3, 7, 7}, Sizes{2, 2},
                 Sizes{3, 3}, Sizes{1, 1}, 1),
            236'027'904);
  EXPECT_EQ(conv(Sizes{1, 4, 8, 8}, Sizes{4, 2, 3, 3}, Sizes{1, 1}, Sizes{0, 0},
                 Sizes{1, 1}, 2),
            5'184);
  EXPECT_EQ(conv(Sizes{1, 4, 9, 8}, Sizes{4, 4, 3, 3}, Sizes{2, 1}, Sizes{1, 0},
                 Sizes{1, 2}, 1),
            5'760);
  // A kernel larger than the input, in both directions too.
  EXPECT_EQ(conv(Sizes{1, 1, 2, 2}, Sizes{1, 1, 5, 5}, Sizes{1, 1}, Sizes{0, 0},
                 Sizes{1, 1}, 1),
            0);
}

TEST(FlopsTest, InputsThatCannotBeSavedGiveZeroAndTwoWarnings) {
  const FlopsResult few = Flops("aten::mm", {Tensor({2, 2})});
  EXPECT_EQ(few.flops, 0);
  EXPECT_EQ(few.warnings,
            (std::vector<std::string>{
                "Failed to save extra arguments for flops computation of op "
                "aten::mm, min size: 2, actual size: 1",
                "Calculating flops for aten::mm requires mat1_size and "
                "mat2_size in saved arguments."}));
  const FlopsResult scalar =
      Flops("aten::addmm", {Int(1), Tensor({2, 2}), Tensor({2, 2})});
  EXPECT_EQ(scalar.warnings[0],
            "Failed to save extra arguments for flops computation of op "
            "aten::addmm, input[0] must be a tensor.");
  EXPECT_EQ(Flops("aten::add", {}).warnings[1],
            "Calculating flops for aten::add.Tensor requires mat_size in saved "
            "arguments.");
}

TEST(FlopsTest, ConvolutionsThatDoNotFitSayWhy) {
  const auto warning = [](std::vector<OpInput> inputs) {
    const FlopsResult result = Flops("aten::conv2d", std::move(inputs));
    EXPECT_EQ(result.flops, 0);
    constexpr std::string_view kHead =
        "Failed to compute flops for op aten::conv2d because ";
    EXPECT_EQ(result.warnings.at(0).substr(0, kHead.size()), kHead);
    return result.warnings.at(0).substr(kHead.size());
  };
  const Sizes input = {1, 3, 8, 8};
  const Sizes weight = {4, 3, 3, 3};
  const Sizes ones = {1, 1};
  EXPECT_EQ(warning(Conv(input, {4, 3, 3}, ones, ones, ones, 1)),
            "it requires a 4D kernel tensor.");
  EXPECT_EQ(warning(Conv({3, 8, 8}, weight, ones, ones, ones, 1)),
            "both input and weight must be size 4.");
  EXPECT_EQ(warning(Conv(input, weight, ones, ones, ones, 0)),
            "group size must not be 0.");
  EXPECT_EQ(warning(Conv(input, weight, ones, {1}, ones, 1)),
            "both padding and dilation must be size 2.");
  EXPECT_EQ(warning(Conv(input, weight, {0, 1}, ones, ones, 1)),
            "stride must be size 2 and cannot be 0.");
  std::vector<OpInput> same = Conv(input, weight, ones, ones, ones, 1);
  same[4] = {.kind = InputKind::kString, .text = "same"};
  EXPECT_EQ(warning(same), "it requires padding, stride, and dilation values.");
}

TEST(FlopsTest, EstimatesATraceWithFormulasOfOnesOwn) {
  TestTrace t;
  const model::TrackIndex main = t.AddThread(1, 1, "main");
  const Sizes sizes = {8, 4};
  const Input inputs[] = {TensorMeta{.sizes = sizes}};
  std::string encoded(EncodedInputBytes(inputs, 1), '\0');
  EncodeInputs(inputs, 1, encoded.data());
  for (int i = 0; i < 2; ++i) {
    t.AddRange(main, "my::op", 10 * i, 10 * i + 5);
    t.Describe(0);
    t.data().details.back().inputs = t.Intern(encoded);
  }
  t.AddRange(main, "aten::mul", 30, 31);
  t.AddRange(main, "aten::mul", 32, 33);
  t.AddRange(main, "other", 40, 41);
  const model::Trace trace = std::move(t).Build();
  FlopsRegistry registry = FlopsRegistry::WithPyTorchFormulas();
  int calls = 0;
  registry.Register("my::op", [&](std::span<const OpInput> given) {
    ++calls;
    return FlopsResult{
        .flops = static_cast<uint64_t>(given[0].sizes[0] * given[0].sizes[1])};
  });
  const FlopsEstimate estimate = EstimateFlops(trace, registry);
  EXPECT_EQ(estimate.flops, (std::vector<int64_t>{32, 32, 0, 0, 0}));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(estimate.warnings.size(), 2);  // mul without inputs, once
}

}  // namespace
}  // namespace kymo
