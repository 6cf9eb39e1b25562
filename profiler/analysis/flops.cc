#include "profiler/analysis/flops.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kymo {
namespace {

using model::OpInput;
using Inputs = std::span<const OpInput>;

uint64_t Product(const std::vector<int64_t>& sizes) {
  uint64_t product = 1;
  for (const int64_t size : sizes) product *= static_cast<uint64_t>(size);
  return product;
}

FlopsResult Warning(std::string text) {
  return {.warnings = {std::move(text)}};
}

// PyTorch saves the arguments when an operation starts, and computes the FLOPs
// when results are collected: both steps may warn.
struct Saving {
  std::string name;  // of the operation
  size_t min_inputs = 0;
  std::vector<size_t> tensors;  // positions that must be tensors
  std::string missing;          // the warning when nothing was saved
};

// The warnings about arguments that cannot be saved; empty if all can.
std::vector<std::string> CannotSave(const Saving& saving, Inputs inputs) {
  const std::string head = absl::StrCat(
      "Failed to save extra arguments for flops computation of op ",
      saving.name);
  if (inputs.size() < saving.min_inputs) {
    return {absl::StrCat(head, ", min size: ", saving.min_inputs,
                         ", actual size: ", inputs.size()),
            saving.missing};
  }
  for (const size_t i : saving.tensors) {
    if (!inputs[i].is_tensor()) {
      return {absl::StrCat(head, ", input[", i, "] must be a tensor."),
              saving.missing};
    }
  }
  return {};
}

// For mm and addmm: a, of sizes [.., K], times b.
FlopsFormula MatrixProduct(const char* name, size_t min_inputs, size_t a,
                           size_t b, bool batched) {
  Saving saving = {
      .name = name,
      .min_inputs = min_inputs,
      .tensors = {},
      .missing = absl::StrCat("Calculating flops for ", name,
                              " requires mat1_size and mat2_size in saved "
                              "arguments.")};
  for (size_t i = 0; i <= b; ++i) saving.tensors.push_back(i);
  return [=](Inputs inputs) -> FlopsResult {
    if (std::vector<std::string> warnings = CannotSave(saving, inputs);
        !warnings.empty()) {
      return {.warnings = std::move(warnings)};
    }
    const std::vector<int64_t>& first = inputs[a].sizes;
    const std::vector<int64_t>& second = inputs[b].sizes;
    if (first.empty() || second.empty()) return {};
    const uint64_t inner = static_cast<uint64_t>(first.back());
    const uint64_t batch =
        batched ? static_cast<uint64_t>(first.front()) : uint64_t{1};
    if (inner == 0 || batch == 0) return {};
    return {.flops = 2 * (Product(first) / inner / batch) * Product(second)};
  };
}

FlopsFormula Elementwise(const char* name) {
  const Saving saving = {
      .name = name,
      .min_inputs = 1,
      .tensors = {0},
      .missing = absl::StrCat("Calculating flops for ", name,
                              ".Tensor requires mat_size in saved arguments.")};
  return [saving](Inputs inputs) -> FlopsResult {
    if (std::vector<std::string> warnings = CannotSave(saving, inputs);
        !warnings.empty()) {
      return {.warnings = std::move(warnings)};
    }
    return {.flops = Product(inputs[0].sizes)};
  };
}

// Output size along one dimension, or 0 where there is none.
uint64_t OutputSize(int64_t input, int64_t kernel, int64_t stride,
                    int64_t padding, int64_t dilation) {
  const int64_t room = input + 2 * padding - dilation * (kernel - 1) - 1;
  if (room < 0) return 0;
  return static_cast<uint64_t>(room / stride + 1);
}

constexpr char kConvCannot[] =
    "Failed to compute flops for op aten::conv2d because ";

const Saving kSavingConv2d = {
    .name = "aten::conv2d",
    .min_inputs = 7,
    .tensors = {0, 1},
    .missing =
        "Calculating flops for aten::conv2d requires groups, padding, "
        "stride, dilation, input_size, and weight_size in saved arguments."};

FlopsResult Conv2d(Inputs inputs) {
  if (std::vector<std::string> warnings = CannotSave(kSavingConv2d, inputs);
      !warnings.empty()) {
    return {.warnings = std::move(warnings)};
  }
  const std::vector<int64_t>& input = inputs[0].sizes;
  const std::vector<int64_t>& weight = inputs[1].sizes;
  if (weight.size() != 4) {
    return {.warnings = {
                absl::StrCat(kConvCannot, "it requires a 4D kernel tensor."),
                kSavingConv2d.missing}};
  }
  for (const size_t i : {size_t{3}, size_t{4}, size_t{5}}) {
    if (inputs[i].kind != InputKind::kIntList) {
      return Warning(absl::StrCat(
          kConvCannot, "it requires padding, stride, and dilation values."));
    }
  }
  const std::vector<int64_t>& stride = inputs[3].integers;
  const std::vector<int64_t>& padding = inputs[4].integers;
  const std::vector<int64_t>& dilation = inputs[5].integers;
  const int64_t groups =
      inputs[6].kind == InputKind::kInt ? inputs[6].integers[0] : 0;
  if (input.size() != 4) {
    return Warning(
        absl::StrCat(kConvCannot, "both input and weight must be size 4."));
  }
  if (groups == 0) {
    return Warning(absl::StrCat(kConvCannot, "group size must not be 0."));
  }
  if (padding.size() != 2 || dilation.size() != 2) {
    return Warning(
        absl::StrCat(kConvCannot, "both padding and dilation must be size 2."));
  }
  if (stride.size() != 2 || stride[0] * stride[1] == 0) {
    return Warning(
        absl::StrCat(kConvCannot, "stride must be size 2 and cannot be 0."));
  }
  const uint64_t height =
      OutputSize(input[2], weight[2], stride[0], padding[0], dilation[0]);
  const uint64_t width =
      OutputSize(input[3], weight[3], stride[1], padding[1], dilation[1]);
  const auto size = [](int64_t n) { return static_cast<uint64_t>(n); };
  return {.flops = 2 * size(input[0]) * height * width * size(weight[2]) *
                   size(weight[3]) * size(input[1]) * size(weight[0]) /
                   size(groups)};
}

}  // namespace

FlopsRegistry FlopsRegistry::WithPyTorchFormulas() {
  FlopsRegistry registry;
  registry.Register("aten::conv2d", Conv2d);
  registry.Register("aten::mm", MatrixProduct("aten::mm", 2, 0, 1, false));
  registry.Register("aten::addmm",
                    MatrixProduct("aten::addmm", 3, 1, 2, false));
  registry.Register("aten::bmm", MatrixProduct("aten::bmm", 2, 0, 1, true));
  registry.Register("aten::baddbmm",
                    MatrixProduct("aten::baddbmm", 3, 1, 2, true));
  registry.Register("aten::mul", Elementwise("aten::mul"));
  registry.Register("aten::add", Elementwise("aten::add"));
  return registry;
}

FlopsRegistry& FlopsRegistry::Process() {
  static FlopsRegistry* const registry =
      new FlopsRegistry(WithPyTorchFormulas());
  return *registry;
}

// Made before there are threads: see profiler/library/first_use_test.sh.
[[maybe_unused]] static const FlopsRegistry& kMade = FlopsRegistry::Process();

void FlopsRegistry::Register(std::string name, FlopsFormula formula) {
  formulas_[std::move(name)] = std::move(formula);
}

const FlopsFormula* FlopsRegistry::Find(std::string_view name) const {
  const auto it = formulas_.find(name);
  return it == formulas_.end() ? nullptr : &it->second;
}

FlopsEstimate EstimateFlops(const model::Trace& trace,
                            const FlopsRegistry& registry) {
  FlopsEstimate estimate;
  estimate.flops.resize(trace.event_count());
  // Formulas by name id; most names have none.
  std::vector<const FlopsFormula*> formulas(trace.strings().size());
  for (uint32_t id = 0; id < formulas.size(); ++id) {
    formulas[id] = registry.Find(trace.Name(model::NameId{id}));
  }
  std::unordered_map<uint64_t, int64_t> known;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    const model::NameId name = trace.name()[i];
    const FlopsFormula* const formula = formulas[Index(name)];
    if (formula == nullptr) continue;
    const model::Detail* const detail = trace.detail(i);
    const model::NameId inputs =
        detail == nullptr ? model::kEmptyName : detail->inputs;
    const auto [it, is_new] = known.try_emplace(
        uint64_t{Index(name)} << 32 | Index(inputs), int64_t{0});
    if (is_new) {
      FlopsResult result = (*formula)(model::DecodeInputs(trace.Name(inputs)));
      it->second = static_cast<int64_t>(result.flops);
      for (std::string& warning : result.warnings) {
        if (std::find(estimate.warnings.begin(), estimate.warnings.end(),
                      warning) == estimate.warnings.end()) {
          estimate.warnings.push_back(std::move(warning));
        }
      }
    }
    estimate.flops[i] = it->second;
  }
  return estimate;
}

}  // namespace kymo
