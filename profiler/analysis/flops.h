// flops.h - how many floating-point operations an operation stands for.
//
//   FlopsRegistry registry = FlopsRegistry::WithPyTorchFormulas();
//   registry.Register("my::gemm", [](std::span<const model::OpInput> inputs) {
//     return FlopsResult{.flops = 2 * M * N * K};
//   });
//   FlopsEstimate estimate = EstimateFlops(trace, registry);
//   estimate.flops[event], estimate.warnings
//
// A formula belongs to one exact name and gets the inputs that the operation
// was recorded with. PyTorch's, with products of 64-bit numbers:
//
//   aten::conv2d                2 N OH OW KH KW Cin Cout / groups
//   aten::mm, aten::addmm       2 prod(a) / K prod(b), K the last size of a
//   aten::bmm, aten::baddbmm    2 prod(a) / K / B prod(b), B the first of a
//   aten::mul, aten::add        prod(a): the first tensor, no broadcasting
//
//   OH = (H + 2 padding - dilation (KH - 1) - 1) / stride + 1, OW likewise. A
//   convolution whose output would have no size counts 0 (PyTorch: a negative
//   size becomes a huge number).
//
// Errors: inputs that do not fit a formula give 0 and a warning, in PyTorch's
//   words.
#ifndef KYMO_PROFILER_ANALYSIS_FLOPS_H_
#define KYMO_PROFILER_ANALYSIS_FLOPS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/op_inputs.h"
#include "profiler/model/trace.h"

namespace kymo {

struct FlopsResult {
  uint64_t flops = 0;
  std::vector<std::string> warnings;  // why it is 0; in the order they arose
};

using FlopsFormula =
    std::function<FlopsResult(std::span<const model::OpInput> inputs)>;

// Threads: registering needs exclusive access; reading may be concurrent.
class FlopsRegistry {
 public:
  FlopsRegistry() = default;
  static FlopsRegistry WithPyTorchFormulas();
  // The process's own, with PyTorch's formulas, which sessions use. Register
  // before they start.
  static FlopsRegistry& Process();

  // Replaces a formula of the same name.
  void Register(std::string name, FlopsFormula formula);
  // Null for names without one.
  const FlopsFormula* Find(std::string_view name) const;

 private:
  std::map<std::string, FlopsFormula, std::less<>> formulas_;
};

struct FlopsEstimate {
  std::vector<int64_t> flops;         // one per event of the trace
  std::vector<std::string> warnings;  // each once, in order of the events
};

// Each distinct pair of name and inputs is computed once. An operation that was
// recorded without inputs counts 0, with a warning.
FlopsEstimate EstimateFlops(const model::Trace& trace,
                            const FlopsRegistry& registry);

}  // namespace kymo

#endif  // KYMO_PROFILER_ANALYSIS_FLOPS_H_
