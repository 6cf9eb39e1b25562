#include "backends/cupti/decode/activity_names.h"

#include <cxxabi.h>
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

namespace kymo::cupti {
namespace {

// By CUPTI's numbers.
constexpr std::string_view kCopyKinds[] = {"<unknown>", "HtoD", "DtoH", "HtoA",
                                           "AtoH",      "AtoA", "AtoD", "DtoA",
                                           "DtoD",      "HtoH", "PtoP"};
constexpr std::string_view kMemoryKinds[] = {
    "Unknown", "Pageable", "Pinned",        "Device",
    "Array",   "Managed",  "Device Static", "Managed Static"};
constexpr std::string_view kSyncs[] = {"Unknown Sync", "Event Sync",
                                       "Stream Wait Event", "Stream Sync",
                                       "Context Sync"};
// CUPTI's own kinds, which are numbered in the upper half.
constexpr std::string_view kOverheads[] = {"Unknown",
                                           "Buffer Flush",
                                           "Instrumentation",
                                           "Resource",
                                           "Runtime Triggered Module Loading",
                                           "Lazy Function Loading",
                                           "Command Buffer Full",
                                           "Activity Buffer Request",
                                           "Unified Memory Activity Init"};
constexpr std::string_view kUnifiedCounters[] = {"", "", "", "CPU page faults",
                                                 "GPU page faults"};

constexpr std::string_view kStreamKinds[] = {"unknown", "blocking",
                                             "non-blocking", "default"};
constexpr std::string_view kExternalKeys[] = {
    "External id (invalid)",  "External id (unknown)",
    "External id (OpenACC)",  "External id",
    "External id (custom 1)", "External id (custom 2)"};

template <size_t N>
std::string_view At(const std::string_view (&names)[N], uint32_t i,
                    std::string_view otherwise) {
  return i < N ? names[i] : otherwise;
}

// Whether the name begins with one of the prefixes.
template <size_t N>
bool HasPrefix(std::string_view text,
               const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return text.starts_with(p); });
}

}  // namespace

std::string CopyName(const CopyRecord& copy) {
  std::string name = "Memcpy ";
  name += At(kCopyKinds, copy.copy_kind, "<unknown>");
  name += " (";
  name += At(kMemoryKinds, copy.from_kind, "Unrecognized");
  name += " -> ";
  name += At(kMemoryKinds, copy.to_kind, "Unrecognized");
  name += ')';
  return name;
}

std::string SetName(const SetRecord& set) {
  std::string name = "Memset (";
  name += At(kMemoryKinds, set.memory_kind, "Unrecognized");
  name += ')';
  return name;
}

std::string_view SyncName(uint32_t type) {
  return At(kSyncs, type, "Unknown Sync");
}

std::string_view OverheadName(uint32_t overhead) {
  if (overhead == 1) return "Driver Compiler";
  if (overhead % 0x10000 != 0) return "Unrecognized";
  return At(kOverheads, overhead / 0x10000, "Unrecognized");
}

std::string_view UnifiedCounterName(uint32_t counter) {
  return At(kUnifiedCounters, counter, "");
}

std::string_view UnifiedCopyName(uint32_t counter) {
  switch (counter) {
    case 1:
      return "Unified Memory HtoD";
    case 2:
      return "Unified Memory DtoH";
    default:
      return "";
  }
}

std::string_view StreamKind(uint32_t flag) {
  return At(kStreamKinds, flag, "unknown");
}

std::string_view ExternalKey(uint32_t kind) {
  return At(kExternalKeys, kind, "External id (other)");
}

std::string KernelName(std::string_view symbol) {
  if (symbol.empty()) return "(no name)";
  if (symbol == "kernel") return "Kernel";
  std::string name(symbol);
  // Names of C are not mangled; demangled, "f" would become the type float.
  if (!symbol.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&free)> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &free);
  if (status == 0) name = demangled.get();
  return name;
}

std::string_view CallName(std::string_view function) {
  if (function.empty()) return "INVALID";
  const size_t at = function.rfind("_v");
  if (at == std::string_view::npos) return function;
  const std::string_view digits = function.substr(at + 2);
  const bool is_version =
      digits.size() >= 4 &&
      digits.find_first_not_of("0123456789") == std::string_view::npos;
  return is_version ? function.substr(0, at) : function;
}

bool IsQuery(std::string_view call) {
  static constexpr std::array<std::string_view, 16> kPrefixes = {
      "cudaGetDevice",
      "cudaSetDevice",
      "cudaGetLastError",
      "cudaPeekAtLastError",
      "cudaDeviceGet",
      "cudaPointerGetAttributes",
      "cudaStreamIsCapturing",
      "cudaStreamGetCaptureInfo",
      "cuGetProcAddress",
      "cuDeviceGet",
      "cuDevicePrimaryCtxGetState",
      "cuCtxGet",
      "cuCtxSetCurrent",
      "cuDriverGetVersion",
      "cuPointerGetAttribute",
      "cuKernelGet"};
  static constexpr std::array<std::string_view, 8> kWhole = {
      "cudaEventCreate",     "cudaEventCreateWithFlags", "cudaEventDestroy",
      "cuModuleGetFunction", "cuCtxPushCurrent",         "cuCtxPopCurrent",
      "cuLibraryGetKernel",  "cuFuncGetAttribute"};
  if (HasPrefix(call, kPrefixes)) return true;
  if (call.ends_with("_v2")) call.remove_suffix(3);
  return std::find(kWhole.begin(), kWhole.end(), call) != kWhole.end();
}

}  // namespace kymo::cupti
