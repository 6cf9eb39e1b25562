// flops.h - give your own operations a formula for their FLOPs.
//
//   kymo::FlopsRegistry::Process().Register(
//       "my::gemm", [](std::span<const kymo::model::OpInput> inputs) {
//         if (inputs.size() < 2 || inputs[0].sizes.size() != 2 ||
//             inputs[1].sizes.size() != 2) {
//           return kymo::FlopsResult{.warnings = {"my::gemm needs matrices"}};
//         }
//         return kymo::FlopsResult{
//             .flops = static_cast<uint64_t>(2 * inputs[0].sizes[0] *
//                                            inputs[0].sizes[1] *
//                                            inputs[1].sizes[1])};
//       });
//
// Sessions with with_flops use the process's registry. Register before they
// start. profiler/analysis/flops.h declares and describes everything.
#ifndef KYMO_PROFILER_API_FLOPS_H_
#define KYMO_PROFILER_API_FLOPS_H_

#include "profiler/analysis/flops.h"  // IWYU pragma: export

#endif  // KYMO_PROFILER_API_FLOPS_H_
