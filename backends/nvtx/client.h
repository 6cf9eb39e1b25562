// client.h - says things through NVTX, to whatever tool is there.
//
//   const NvtxClient& nvtx = GetNvtxClient();
//   if (nvtx.push != nullptr) {
//     nvtx.push("step");
//     ...
//     nvtx.pop();
//   }
//
// Finds the tool in the way of NVTX's own headers, without them: the injection
// library that NVTX_INJECTION64_PATH names, or else one that is linked into
// the same file (//:nvtx is such a one).
//
// Threads: any. Errors: without a tool, or where it does not initialise, all
//   functions are null. A tool may leave out single ones.
#ifndef KYMO_BACKENDS_NVTX_CLIENT_H_
#define KYMO_BACKENDS_NVTX_CLIENT_H_

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

#endif  // KYMO_BACKENDS_NVTX_CLIENT_H_
