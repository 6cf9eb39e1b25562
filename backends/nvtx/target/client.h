// client.h - makes NVTX calls, to whatever tool is there.
//
//   const NvtxClient& nvtx = GetNvtxClient();
//   if (nvtx.push != nullptr) {
//     nvtx.push("step");
//     ...
//     nvtx.pop();
//   }
//
// The tool is found as NVTX's own headers find it, but without them: it is the
// injection library that NVTX_INJECTION64_PATH names, else one that is linked
// into the same file, such as //:nvtx.
//
// Threads: any. Errors: without a tool, or if it does not initialise, all
//   functions are null. A tool may also leave out single functions.
#ifndef KYMO_BACKENDS_NVTX_TARGET_CLIENT_H_
#define KYMO_BACKENDS_NVTX_TARGET_CLIENT_H_

#include "backends/nvtx/target/nvtx_abi.h"

namespace kymo::nvtx {

struct NvtxClient {
  int (*push)(const char* message) = nullptr;
  int (*pop)() = nullptr;
  RangeId (*start)(const char* message) = nullptr;
  void (*end)(RangeId id) = nullptr;
  void (*mark)(const char* message) = nullptr;
};

// Initialises the tool on the first call.
const NvtxClient& GetNvtxClient();

}  // namespace kymo::nvtx

#endif  // KYMO_BACKENDS_NVTX_TARGET_CLIENT_H_
