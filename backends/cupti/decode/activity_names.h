// activity_names.h - what activities are called, in Kineto's words.
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
// Of a counter of unified memory: "CPU page faults"; empty for transfers.
std::string_view UnifiedCounterName(uint32_t counter);
// Of a transfer of unified memory: "Unified Memory HtoD"; else empty.
std::string_view UnifiedCopyName(uint32_t counter);

// What a stream waits for by itself: "blocking" (for the default stream),
// "non-blocking", or "default" for that one.
std::string_view StreamKind(uint32_t flag);

// The argument that has the program's own id of this kind: "External id" of the
// first custom one, which Kineto pushes, "External id (OpenACC)" and the like
// of others.
std::string_view ExternalKey(uint32_t kind);

// Demangled; "kernel" is Kineto's "Kernel", and no name "(no name)".
std::string KernelName(std::string_view symbol);
// Without the version that some end with: cudaLaunchKernel_v7000 is
// cudaLaunchKernel, cuMemcpy_v2 stays; no name is "INVALID".
std::string_view CallName(std::string_view function);

// Whether a call only asks (cudaGetDevice, cuCtxGetCurrent): such calls are
// many, short, and say nothing of what the device does.
bool IsQuery(std::string_view call);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_ACTIVITY_NAMES_H_
