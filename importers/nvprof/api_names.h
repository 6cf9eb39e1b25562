// api_names.h - CUDA calls by CUPTI's callback ids, which is all that nvprof's
// databases have.
//
//   RuntimeName(211)     // "cudaLaunchKernel"
//   DriverName(999999)   // "driver call 999999"
//   IsLaunch(430)        // true: cudaLaunchKernelExC
//
// Ids of one function never change; new ones are added with each toolkit. The
// common calls are listed, others keep their number.
#ifndef KYMO_IMPORTERS_NVPROF_API_NAMES_H_
#define KYMO_IMPORTERS_NVPROF_API_NAMES_H_

#include <cstdint>
#include <string>

namespace kymo::nvprof {

std::string RuntimeName(int64_t cbid);
std::string DriverName(int64_t cbid);

// Whether PyTorch's rule, "a kernel comes from call 211", holds for this call
// of the runtime: 211 is cudaLaunchKernel; the launches that came after it are
// as good. cudaLaunch (13), which it replaced, is not.
bool IsLaunch(int64_t runtime_cbid);

}  // namespace kymo::nvprof

#endif  // KYMO_IMPORTERS_NVPROF_API_NAMES_H_
