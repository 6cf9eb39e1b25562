// flops.h - how many floating-point operations each operation performs.
//
//   kymo::FlopsRegistry registry = kymo::FlopsRegistry::WithPyTorchFormulas();
//   registry.Register(
//       "my::scale", [](std::span<const kymo::model::OpInput> inputs) {
//         if (inputs.empty()) return kymo::FlopsResult();
//         kymo::FlopsResult result{.flops = 1};
//         for (const int64_t size : inputs[0].sizes) result.flops *= size;
//         return result;
//       });
//   const kymo::FlopsEstimate estimate = kymo::EstimateFlops(trace, registry);
//   Print(estimate.flops[0], estimate.warnings);   // of event 0; of all events
//
// A formula belongs to one exact name of operations. It gets the inputs that
// the operation was recorded with, so record with record_shapes or with_flops.
// These are PyTorch's formulas (torch/csrc/profiler/util.cpp), with 64-bit
// products:
//
//   | aten::conv2d              2 N OH OW KH KW Cin Cout / groups
//   | aten::mm, aten::addmm     2 prod(a) / K prod(b), K the last size of a
//   | aten::bmm, aten::baddbmm  2 prod(a) / K / B prod(b), B the first of a
//   | aten::mul, aten::add      prod(a): the first tensor, no broadcasting
//   |
//   | OH = (H + 2 padding - dilation (KH - 1) - 1) / stride + 1, OW likewise
//
// A convolution whose output would have no size counts 0. (In PyTorch a
// negative size becomes a huge number.)
//
// Errors: inputs that do not fit a formula give 0 and a warning in PyTorch's
//   words.
// Cost:   each distinct pair of name and inputs is computed once.
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
  std::vector<std::string> warnings = {};  // the reasons why `flops` is 0
};

using FlopsFormula =
    std::function<FlopsResult(std::span<const model::OpInput> inputs)>;

// Formulas by name. Threads: Register needs exclusive access; Find may run
// concurrently.
class FlopsRegistry {
 public:
  FlopsRegistry() = default;
  static FlopsRegistry WithPyTorchFormulas();
  // The process's registry, which begins with PyTorch's formulas. Sessions use
  // it, so register before they start.
  static FlopsRegistry& Process();

  // Adds a formula. It replaces an earlier one of the same name.
  void Register(std::string name, FlopsFormula formula);
  // The formula of a name, or null.
  const FlopsFormula* Find(std::string_view name) const;

 private:
  std::map<std::string, FlopsFormula, std::less<>> formulas_;
};

struct FlopsEstimate {
  std::vector<int64_t> flops;         // one per event of the trace
  std::vector<std::string> warnings;  // each text once, in order of the events
};

// Estimates the FLOPs of every event. An operation that was recorded without
// inputs counts 0, with a warning.
FlopsEstimate EstimateFlops(const model::Trace& trace,
                            const FlopsRegistry& registry);

}  // namespace kymo

#endif  // KYMO_PROFILER_ANALYSIS_FLOPS_H_
