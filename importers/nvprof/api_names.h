// api_names.h - names of CUDA calls by CUPTI's callback ids; nvprof's databases
// have only the ids.
//
//   RuntimeName(211)     // "cudaLaunchKernel"
//   DriverName(999999)   // "driver call 999999"
//   IsLaunch(430)        // true: cudaLaunchKernelExC
//
// A function's id never changes; each toolkit adds new ones. Common calls are
// listed here, others show their number.
#ifndef KYMO_IMPORTERS_NVPROF_API_NAMES_H_
#define KYMO_IMPORTERS_NVPROF_API_NAMES_H_

#include <cstdint>
#include <string>

namespace kymo::nvprof {

std::string RuntimeName(int64_t cbid);
std::string DriverName(int64_t cbid);

// Whether a runtime call may launch kernels, by PyTorch's rule "a kernel comes
// from call 211", which is cudaLaunchKernel. Launches that were added later
// count, too. cudaLaunch (13), the call before it, does not.
bool IsLaunch(int64_t runtime_cbid);

}  // namespace kymo::nvprof

#endif  // KYMO_IMPORTERS_NVPROF_API_NAMES_H_
