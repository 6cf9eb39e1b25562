#include "importers/nvprof/api_names.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace kymo::nvprof {
namespace {

struct ApiName {
  int64_t cbid;
  const char* name;
};

// By id. Some functions have a second id, for the default stream of a thread.
constexpr ApiName kRuntime[] = {
    {1, "cudaDriverGetVersion"},
    {2, "cudaRuntimeGetVersion"},
    {3, "cudaGetDeviceCount"},
    {4, "cudaGetDeviceProperties"},
    {5, "cudaChooseDevice"},
    {8, "cudaConfigureCall"},
    {9, "cudaSetupArgument"},
    {10, "cudaGetLastError"},
    {11, "cudaPeekAtLastError"},
    {13, "cudaLaunch"},
    {14, "cudaFuncSetCacheConfig"},
    {15, "cudaFuncGetAttributes"},
    {16, "cudaSetDevice"},
    {17, "cudaGetDevice"},
    {20, "cudaMalloc"},
    {21, "cudaMallocPitch"},
    {22, "cudaFree"},
    {25, "cudaMallocHost"},
    {26, "cudaFreeHost"},
    {27, "cudaHostAlloc"},
    {30, "cudaMemGetInfo"},
    {31, "cudaMemcpy"},
    {32, "cudaMemcpy2D"},
    {39, "cudaMemcpyToSymbol"},
    {40, "cudaMemcpyFromSymbol"},
    {41, "cudaMemcpyAsync"},
    {44, "cudaMemcpy2DAsync"},
    {47, "cudaMemcpyToSymbolAsync"},
    {49, "cudaMemset"},
    {50, "cudaMemset2D"},
    {51, "cudaMemsetAsync"},
    {52, "cudaMemset2DAsync"},
    {126, "cudaThreadSynchronize"},
    {129, "cudaStreamCreate"},
    {130, "cudaStreamDestroy"},
    {131, "cudaStreamSynchronize"},
    {132, "cudaStreamQuery"},
    {133, "cudaEventCreate"},
    {134, "cudaEventCreateWithFlags"},
    {135, "cudaEventRecord"},
    {136, "cudaEventDestroy"},
    {137, "cudaEventSynchronize"},
    {138, "cudaEventQuery"},
    {139, "cudaEventElapsedTime"},
    {144, "cudaMemcpy3D"},
    {145, "cudaMemcpy3DAsync"},
    {147, "cudaStreamWaitEvent"},
    {151, "cudaPointerGetAttributes"},
    {152, "cudaHostRegister"},
    {153, "cudaHostUnregister"},
    {154, "cudaDeviceCanAccessPeer"},
    {155, "cudaDeviceEnablePeerAccess"},
    {160, "cudaMemcpyPeer"},
    {161, "cudaMemcpyPeerAsync"},
    {164, "cudaDeviceReset"},
    {165, "cudaDeviceSynchronize"},
    {166, "cudaDeviceGetLimit"},
    {167, "cudaDeviceSetLimit"},
    {197, "cudaStreamAddCallback"},
    {198, "cudaStreamCreateWithFlags"},
    {200, "cudaDeviceGetAttribute"},
    {201, "cudaStreamDestroy"},
    {202, "cudaStreamCreateWithPriority"},
    {206, "cudaMallocManaged"},
    {207, "cudaOccupancyMaxActiveBlocksPerMultiprocessor"},
    {210, "cudaOccupancyMaxActiveBlocksPerMultiprocessor"},
    {211, "cudaLaunchKernel"},
    {213, "cudaLaunch"},
    {214, "cudaLaunchKernel"},
    {215, "cudaMemcpy"},
    {216, "cudaMemcpy2D"},
    {223, "cudaMemcpyToSymbol"},
    {224, "cudaMemcpyFromSymbol"},
    {225, "cudaMemcpyAsync"},
    {228, "cudaMemcpy2DAsync"},
    {231, "cudaMemcpyToSymbolAsync"},
    {233, "cudaMemset"},
    {234, "cudaMemset2D"},
    {235, "cudaMemsetAsync"},
    {236, "cudaMemset2DAsync"},
    {239, "cudaStreamSynchronize"},
    {240, "cudaStreamQuery"},
    {242, "cudaEventRecord"},
    {245, "cudaMemcpy3D"},
    {246, "cudaMemcpy3DAsync"},
    {247, "cudaStreamWaitEvent"},
    {248, "cudaStreamAddCallback"},
    {251, "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"},
    {252, "cudaMemPrefetchAsync"},
    {253, "cudaMemPrefetchAsync"},
    {269, "cudaLaunchCooperativeKernel"},
    {270, "cudaLaunchCooperativeKernel"},
    {272, "cudaLaunchCooperativeKernelMultiDevice"},
    {273, "cudaFuncSetAttribute"},
    {284, "cudaLaunchHostFunc"},
    {285, "cudaLaunchHostFunc"},
    {310, "cudaGraphInstantiate"},
    {311, "cudaGraphLaunch"},
    {312, "cudaGraphLaunch"},
    {315, "cudaStreamBeginCapture"},
    {316, "cudaStreamBeginCapture"},
    {317, "cudaStreamIsCapturing"},
    {318, "cudaStreamIsCapturing"},
    {319, "cudaStreamEndCapture"},
    {320, "cudaStreamEndCapture"},
    {324, "cudaStreamGetCaptureInfo"},
    {325, "cudaStreamGetCaptureInfo"},
    {370, "cudaEventRecordWithFlags"},
    {371, "cudaEventRecordWithFlags"},
    {373, "cudaMallocAsync"},
    {374, "cudaMallocAsync"},
    {375, "cudaFreeAsync"},
    {376, "cudaFreeAsync"},
    {430, "cudaLaunchKernelExC"},
    {431, "cudaLaunchKernelExC"},
    {440, "cudaGetDeviceProperties"},
    {443, "cudaGraphInstantiate"},
    {449, "cudaMemPrefetchAsync"},
    {450, "cudaMemPrefetchAsync"},
    {461, "cudaStreamGetCaptureInfo"},
    {462, "cudaStreamGetCaptureInfo"},
    {486, "cudaEventElapsedTime"},
    {505, "__cudaLaunchKernel"},
    {506, "__cudaLaunchKernel"},
};

constexpr ApiName kDriver[] = {
    {1, "cuInit"},
    {3, "cuDeviceGet"},
    {4, "cuDeviceGetCount"},
    {5, "cuDeviceGetName"},
    {9, "cuDeviceGetAttribute"},
    {17, "cuCtxSynchronize"},
    {19, "cuModuleLoadData"},
    {20, "cuModuleLoadDataEx"},
    {22, "cuModuleUnload"},
    {23, "cuModuleGetFunction"},
    {115, "cuLaunch"},
    {116, "cuLaunchGrid"},
    {117, "cuLaunchGridAsync"},
    {119, "cuEventRecord"},
    {120, "cuEventQuery"},
    {121, "cuEventSynchronize"},
    {125, "cuStreamQuery"},
    {126, "cuStreamSynchronize"},
    {216, "cuMemsetD8Async"},
    {220, "cuMemsetD32Async"},
    {235, "cuCtxCreate_v2"},
    {242, "cuMemGetInfo_v2"},
    {243, "cuMemAlloc_v2"},
    {245, "cuMemFree_v2"},
    {276, "cuMemcpyHtoD_v2"},
    {277, "cuMemcpyHtoDAsync_v2"},
    {278, "cuMemcpyDtoH_v2"},
    {279, "cuMemcpyDtoHAsync_v2"},
    {280, "cuMemcpyDtoD_v2"},
    {281, "cuMemcpyDtoDAsync_v2"},
    {295, "cuStreamWaitEvent"},
    {303, "cuCtxSetCurrent"},
    {304, "cuCtxGetCurrent"},
    {305, "cuMemcpy"},
    {306, "cuMemcpyAsync"},
    {307, "cuLaunchKernel"},
    {319, "cuMemcpyPeerAsync"},
    {397, "cuMemcpyHtoD_v2"},
    {398, "cuMemcpyDtoH_v2"},
    {399, "cuMemcpyDtoD_v2"},
    {408, "cuMemcpy"},
    {418, "cuMemcpyAsync"},
    {421, "cuMemcpyHtoDAsync_v2"},
    {422, "cuMemcpyDtoHAsync_v2"},
    {423, "cuMemcpyDtoDAsync_v2"},
    {426, "cuMemcpyPeerAsync"},
    {428, "cuMemsetD8Async"},
    {430, "cuMemsetD32Async"},
    {436, "cuStreamWaitEvent"},
    {439, "cuStreamQuery"},
    {440, "cuStreamSynchronize"},
    {441, "cuEventRecord"},
    {442, "cuLaunchKernel"},
    {477, "cuLaunchCooperativeKernel"},
    {478, "cuLaunchCooperativeKernel"},
    {514, "cuGraphLaunch"},
    {515, "cuGraphLaunch"},
    {527, "cuLaunchHostFunc"},
    {528, "cuLaunchHostFunc"},
    {598, "cuMemAllocAsync"},
    {599, "cuMemAllocAsync"},
    {600, "cuMemFreeAsync"},
    {601, "cuMemFreeAsync"},
    {652, "cuLaunchKernelEx"},
    {653, "cuLaunchKernelEx"},
};

// Each id is found, and only once.
template <size_t N>
consteval bool IsAscending(const ApiName (&names)[N]) {
  for (size_t i = 1; i < N; ++i) {
    if (names[i - 1].cbid >= names[i].cbid) return false;
  }
  return true;
}
static_assert(IsAscending(kRuntime) && IsAscending(kDriver));

template <size_t N>
std::string NameOf(const ApiName (&names)[N], int64_t cbid,
                   const char* otherwise) {
  const auto* const it = std::lower_bound(
      std::begin(names), std::end(names), cbid,
      [](const ApiName& a, int64_t id) { return a.cbid < id; });
  if (it != std::end(names) && it->cbid == cbid) return it->name;
  return absl::StrCat(otherwise, " call ", cbid);
}

}  // namespace

std::string RuntimeName(int64_t cbid) {
  return NameOf(kRuntime, cbid, "runtime");
}

std::string DriverName(int64_t cbid) { return NameOf(kDriver, cbid, "driver"); }

bool IsLaunch(int64_t runtime_cbid) {
  static constexpr int64_t kLaunches[] = {211, 214, 269, 270, 272, 311,
                                          312, 430, 431, 505, 506};
  return std::binary_search(std::begin(kLaunches), std::end(kLaunches),
                            runtime_cbid);
}

}  // namespace kymo::nvprof
