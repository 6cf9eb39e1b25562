// activity_names.h - names of activities, in Kineto's words.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_ACTIVITY_NAMES_H_
#define KYMO_BACKENDS_CUPTI_DECODE_ACTIVITY_NAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/cupti/log/gpu_record.h"

namespace kymo::cupti {

// "Memcpy HtoD (Pageable -> Device)".
std::string CopyName(const CopyRecord& copy);
// "Memset (Device)".
std::string SetName(const SetRecord& set);
// "Stream Sync".
std::string_view SyncName(uint32_t type);
// "Buffer Flush".
std::string_view OverheadName(uint32_t overhead);
// For a counter of unified memory: "CPU page faults"; empty for transfers.
std::string_view UnifiedCounterName(uint32_t counter);
// For a transfer of unified memory: "Unified Memory HtoD"; else empty.
std::string_view UnifiedCopyName(uint32_t counter);

// Whether a stream waits for the default stream: "blocking" or "non-blocking";
// for the default stream itself "default".
std::string_view StreamKind(uint32_t flag);

// The key of the argument that holds the program's own id of this kind:
// "External id" for the first custom kind, which Kineto pushes; "External id
// (OpenACC)" and the like for others.
std::string_view ExternalKey(uint32_t kind);

// The demangled name. "kernel" becomes Kineto's "Kernel", an empty name "(no
// name)".
std::string KernelName(std::string_view symbol);
// The name without the version that some names end with: cudaLaunchKernel_v7000
// becomes cudaLaunchKernel, cuMemcpy_v2 stays. No name gives "INVALID".
std::string_view CallName(std::string_view function);

// Whether a call only asks something (cudaGetDevice, cuCtxGetCurrent). Such
// calls are many and short, and say nothing about what the device does.
bool IsQuery(std::string_view call);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_ACTIVITY_NAMES_H_
