#include "importers/nvprof/api_names.h"

#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace kymo::nvprof {
namespace {

// The numbers of CUPTI's enumerations CUpti_runtime_api_trace_cbid and
// CUpti_driver_api_trace_cbid.
constexpr char kRuntimeCalls[] =
    "1:cudaDriverGetVersion 2:cudaRuntimeGetVersion 3:cudaGetDeviceCount "
    "4:cudaGetDeviceProperties 5:cudaChooseDevice 8:cudaConfigureCall "
    "9:cudaSetupArgument 10:cudaGetLastError 11:cudaPeekAtLastError "
    "13:cudaLaunch 14:cudaFuncSetCacheConfig 15:cudaFuncGetAttributes "
    "16:cudaSetDevice 17:cudaGetDevice 20:cudaMalloc 21:cudaMallocPitch "
    "22:cudaFree 25:cudaMallocHost 26:cudaFreeHost 27:cudaHostAlloc "
    "30:cudaMemGetInfo 31:cudaMemcpy 32:cudaMemcpy2D 39:cudaMemcpyToSymbol "
    "40:cudaMemcpyFromSymbol 41:cudaMemcpyAsync 44:cudaMemcpy2DAsync "
    "47:cudaMemcpyToSymbolAsync 49:cudaMemset 50:cudaMemset2D "
    "51:cudaMemsetAsync 52:cudaMemset2DAsync 126:cudaThreadSynchronize "
    "129:cudaStreamCreate 130:cudaStreamDestroy 131:cudaStreamSynchronize "
    "132:cudaStreamQuery 133:cudaEventCreate 134:cudaEventCreateWithFlags "
    "135:cudaEventRecord 136:cudaEventDestroy 137:cudaEventSynchronize "
    "138:cudaEventQuery 139:cudaEventElapsedTime 144:cudaMemcpy3D "
    "145:cudaMemcpy3DAsync 147:cudaStreamWaitEvent "
    "151:cudaPointerGetAttributes 152:cudaHostRegister 153:cudaHostUnregister "
    "154:cudaDeviceCanAccessPeer 155:cudaDeviceEnablePeerAccess "
    "160:cudaMemcpyPeer 161:cudaMemcpyPeerAsync 164:cudaDeviceReset "
    "165:cudaDeviceSynchronize 166:cudaDeviceGetLimit 167:cudaDeviceSetLimit "
    "197:cudaStreamAddCallback 198:cudaStreamCreateWithFlags "
    "200:cudaDeviceGetAttribute 201:cudaStreamDestroy "
    "202:cudaStreamCreateWithPriority 206:cudaMallocManaged "
    "207:cudaOccupancyMaxActiveBlocksPerMultiprocessor "
    "210:cudaOccupancyMaxActiveBlocksPerMultiprocessor 211:cudaLaunchKernel "
    "213:cudaLaunch 214:cudaLaunchKernel 215:cudaMemcpy 216:cudaMemcpy2D "
    "223:cudaMemcpyToSymbol 224:cudaMemcpyFromSymbol 225:cudaMemcpyAsync "
    "228:cudaMemcpy2DAsync 231:cudaMemcpyToSymbolAsync 233:cudaMemset "
    "234:cudaMemset2D 235:cudaMemsetAsync 236:cudaMemset2DAsync "
    "239:cudaStreamSynchronize 240:cudaStreamQuery 242:cudaEventRecord "
    "245:cudaMemcpy3D 246:cudaMemcpy3DAsync 247:cudaStreamWaitEvent "
    "248:cudaStreamAddCallback "
    "251:cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags "
    "252:cudaMemPrefetchAsync 253:cudaMemPrefetchAsync "
    "269:cudaLaunchCooperativeKernel 270:cudaLaunchCooperativeKernel "
    "272:cudaLaunchCooperativeKernelMultiDevice 273:cudaFuncSetAttribute "
    "284:cudaLaunchHostFunc 285:cudaLaunchHostFunc 310:cudaGraphInstantiate "
    "311:cudaGraphLaunch 312:cudaGraphLaunch 315:cudaStreamBeginCapture "
    "316:cudaStreamBeginCapture 317:cudaStreamIsCapturing "
    "318:cudaStreamIsCapturing 319:cudaStreamEndCapture "
    "320:cudaStreamEndCapture 324:cudaStreamGetCaptureInfo "
    "325:cudaStreamGetCaptureInfo 370:cudaEventRecordWithFlags "
    "371:cudaEventRecordWithFlags 373:cudaMallocAsync 374:cudaMallocAsync "
    "375:cudaFreeAsync 376:cudaFreeAsync 430:cudaLaunchKernelExC "
    "431:cudaLaunchKernelExC 440:cudaGetDeviceProperties "
    "443:cudaGraphInstantiate 449:cudaMemPrefetchAsync "
    "450:cudaMemPrefetchAsync 461:cudaStreamGetCaptureInfo "
    "462:cudaStreamGetCaptureInfo 486:cudaEventElapsedTime "
    "505:__cudaLaunchKernel 506:__cudaLaunchKernel ";
constexpr char kDriverCalls[] =
    "1:cuInit 3:cuDeviceGet 4:cuDeviceGetCount 5:cuDeviceGetName "
    "9:cuDeviceGetAttribute 17:cuCtxSynchronize 19:cuModuleLoadData "
    "20:cuModuleLoadDataEx 22:cuModuleUnload 23:cuModuleGetFunction "
    "115:cuLaunch 116:cuLaunchGrid 117:cuLaunchGridAsync 119:cuEventRecord "
    "120:cuEventQuery 121:cuEventSynchronize 125:cuStreamQuery "
    "126:cuStreamSynchronize 216:cuMemsetD8Async 220:cuMemsetD32Async "
    "235:cuCtxCreate_v2 242:cuMemGetInfo_v2 243:cuMemAlloc_v2 "
    "245:cuMemFree_v2 276:cuMemcpyHtoD_v2 277:cuMemcpyHtoDAsync_v2 "
    "278:cuMemcpyDtoH_v2 279:cuMemcpyDtoHAsync_v2 280:cuMemcpyDtoD_v2 "
    "281:cuMemcpyDtoDAsync_v2 295:cuStreamWaitEvent 303:cuCtxSetCurrent "
    "304:cuCtxGetCurrent 305:cuMemcpy 306:cuMemcpyAsync 307:cuLaunchKernel "
    "319:cuMemcpyPeerAsync 397:cuMemcpyHtoD_v2 398:cuMemcpyDtoH_v2 "
    "399:cuMemcpyDtoD_v2 408:cuMemcpy 418:cuMemcpyAsync "
    "421:cuMemcpyHtoDAsync_v2 422:cuMemcpyDtoHAsync_v2 "
    "423:cuMemcpyDtoDAsync_v2 426:cuMemcpyPeerAsync 428:cuMemsetD8Async "
    "430:cuMemsetD32Async 436:cuStreamWaitEvent 439:cuStreamQuery "
    "440:cuStreamSynchronize 441:cuEventRecord 442:cuLaunchKernel "
    "477:cuLaunchCooperativeKernel 478:cuLaunchCooperativeKernel "
    "514:cuGraphLaunch 515:cuGraphLaunch 527:cuLaunchHostFunc "
    "528:cuLaunchHostFunc 598:cuMemAllocAsync 599:cuMemAllocAsync "
    "600:cuMemFreeAsync 601:cuMemFreeAsync 652:cuLaunchKernelEx "
    "653:cuLaunchKernelEx ";

TEST(ApiNamesTest, NumbersAreThoseOfCupti) {
  const auto check = [](const char* calls, std::string (*name_of)(int64_t)) {
    std::istringstream words(calls);
    int count = 0;
    for (std::string word; words >> word; ++count) {
      const size_t colon = word.find(':');
      EXPECT_EQ(name_of(std::stol(word)), word.substr(colon + 1)) << word;
    }
    return count;
  };
  EXPECT_EQ(check(kRuntimeCalls, RuntimeName), 124);
  EXPECT_EQ(check(kDriverCalls, DriverName), 65);
}

TEST(ApiNamesTest, NamesCommonCallsAndKeepsTheNumbersOfOthers) {
  EXPECT_EQ(RuntimeName(13), "cudaLaunch");
  EXPECT_EQ(RuntimeName(41), "cudaMemcpyAsync");
  EXPECT_EQ(RuntimeName(211), "cudaLaunchKernel");
  EXPECT_EQ(RuntimeName(505), "__cudaLaunchKernel");
  EXPECT_EQ(DriverName(307), "cuLaunchKernel");
  EXPECT_EQ(RuntimeName(999999), "runtime call 999999");
  EXPECT_EQ(DriverName(-1), "driver call -1");
}

TEST(ApiNamesTest, LaunchesAreTheOneOfPyTorchAndNewerOnes) {
  for (const int64_t launch :
       {211, 214, 269, 270, 272, 311, 312, 430, 431, 505, 506}) {
    EXPECT_TRUE(IsLaunch(launch)) << launch;
  }
  for (const int64_t other : {0, 13, 41, 210, 212, 213, 215, 268, 271, 273, 284,
                              310, 313, 429, 432, 504, 507}) {
    EXPECT_FALSE(IsLaunch(other)) << other;
  }
}

}  // namespace
}  // namespace kymo::nvprof
