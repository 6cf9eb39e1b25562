// A tool of NVTX that has all functions. Each writes "module.function" and its
// arguments to a log, and returns something of the tool's own.
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "backends/nvtx/target/nvtx_abi.h"

namespace {

using namespace kymo::nvtx;  // NOLINT: what this is about

std::string log;
uint64_t last_id = 0x9000;

std::string TextOf(const char* text) { return text == nullptr ? "null" : text; }
std::string TextOf(const wchar_t*) { return "wide"; }
std::string TextOf(const EventAttributes*) { return "event"; }
std::string TextOf(const void* handle) {
  return std::to_string(reinterpret_cast<uintptr_t>(handle));
}
std::string TextOf(double value) { return std::to_string(value); }
template <typename T>
requires std::is_arithmetic_v<T> std::string TextOf(T number) {
  return std::to_string(number);
}

template <int kModule, unsigned kId, typename Result, typename... Arguments>
Result Function(Arguments... arguments) {
  log += std::to_string(kModule) + "." + std::to_string(kId);
  ((log += " " + TextOf(arguments)), ...);
  log += "\n";
  if constexpr (std::is_pointer_v<Result>) {
    return reinterpret_cast<Result>(++last_id);
  } else if constexpr (!std::is_void_v<Result>) {
    return static_cast<Result>(sizeof(Result) == 8 ? ++last_id : 70 + kId);
  }
}

FunctionTable table = nullptr;

template <int kModule, unsigned kId, typename Result, typename... Arguments>
void Set() {
  *table[kId] = reinterpret_cast<FunctionPointer>(
      Function<kModule, kId, Result, Arguments...>);
}
template <int kModule, unsigned kA, typename Result, typename... Arguments>
void SetPair() {  // of an A and a W function
  Set<kModule, kA, Result, Arguments..., const char*>();
  Set<kModule, kA + 1, Result, Arguments..., const wchar_t*>();
}

template <unsigned kModule, unsigned kId, typename Result,
          typename... Arguments>
void Set(const ExtensionSegment& segment) {
  segment.slots[kId] = reinterpret_cast<intptr_t>(
      Function<100 + kModule, kId, Result, Arguments...>);
}

}  // namespace

// Takes what was written.
extern "C" const char* TakeToolLog() {
  static std::string taken;
  taken = std::exchange(log, "");
  return taken.c_str();
}

extern "C" int InitializeInjectionNvtx2(GetExportTable get_table) {
  const auto* const callbacks =
      static_cast<const CallbacksTable*>(get_table(kCallbacks));
  const auto get = [&](int module, unsigned wanted) {
    unsigned size = 0;
    return callbacks->get_module_functions(module, &table, &size) == 1 &&
           size == wanted;
  };
  using Event = const EventAttributes*;
  if (!get(kCore, kCoreSize)) return 0;
  Set<1, kMarkEx, void, Event>();
  SetPair<1, kMarkA, void>();
  Set<1, kRangeStartEx, RangeId, Event>();
  SetPair<1, kRangeStartA, RangeId>();
  Set<1, kRangeEnd, void, RangeId>();
  Set<1, kRangePushEx, int, Event>();
  SetPair<1, kRangePushA, int>();
  Set<1, kRangePop, int>();
  SetPair<1, kNameCategoryA, void, uint32_t>();
  SetPair<1, kNameOsThreadA, void, uint32_t>();
  if (!get(kCore2, kCore2Size)) return 0;
  Set<5, kDomainMarkEx, void, Handle, Event>();
  Set<5, kDomainRangeStartEx, RangeId, Handle, Event>();
  Set<5, kDomainRangeEnd, void, Handle, RangeId>();
  Set<5, kDomainRangePushEx, int, Handle, Event>();
  Set<5, kDomainRangePop, int, Handle>();
  Set<5, kDomainResourceCreate, Handle, Handle, ResourceAttributes*>();
  Set<5, kDomainResourceDestroy, void, Handle>();
  SetPair<5, kDomainNameCategoryA, void, Handle, uint32_t>();
  SetPair<5, kDomainRegisterStringA, Handle, Handle>();
  SetPair<5, kDomainCreateA, Handle>();
  Set<5, kDomainDestroy, void, Handle>();
  Set<5, kInitialize, void, const void*>();
  if (!get(kCuda, kCudaSize)) return 0;
  SetPair<2, kNameCuDeviceA, void, int>();
  SetPair<2, kNameCuContextA, void, Handle>();
  SetPair<2, kNameCuStreamA, void, Handle>();
  SetPair<2, kNameCuEventA, void, Handle>();
  if (!get(kCudaRuntime, kCudaRuntimeSize)) return 0;
  SetPair<4, kNameCudaDeviceA, void, int>();
  SetPair<4, kNameCudaStreamA, void, Handle>();
  SetPair<4, kNameCudaEventA, void, Handle>();
  // Neither this program nor Kymo has OpenCL's; nor is there another table.
  return !get(kOpenCl, 0) && get_table(kCallbacks + 1) == nullptr ? 1 : 0;
}

extern "C" int InitializeInjectionNvtxExtension(ExtensionModule* module) {
  const ExtensionSegment& segment = module->segments[0];
  using Data = const PayloadData*;
  switch (module->module) {
    case kPayloadExtension:
      Set<2, kSchemaRegister, uint64_t, Handle, const SchemaAttributes*>(
          segment);
      Set<2, kEnumRegister, uint64_t, Handle, const EnumAttributes*>(segment);
      Set<2, kMarkPayload, void, Handle, Data, size_t>(segment);
      Set<2, kRangePushPayload, int, Handle, Data, size_t>(segment);
      Set<2, kRangePopPayload, int, Handle, Data, size_t>(segment);
      Set<2, kRangeStartPayload, RangeId, Handle, Data, size_t>(segment);
      Set<2, kRangeEndPayload, void, Handle, RangeId, Data, size_t>(segment);
      Set<2, kDomainIsEnabled, uint8_t, Handle>(segment);
      // One that Kymo does not know, and a state.
      Set<2, 8, void, Handle>(segment);
      segment.slots[9] = 4;
      return 1;
    case kCounterExtension:
      Set<4, kCounterRegister, uint64_t, Handle, const CounterAttributes*>(
          segment);
      Set<4, kCounterSampleInt64, void, Handle, uint64_t, int64_t>(segment);
      Set<4, kCounterSampleFloat64, void, Handle, uint64_t, double>(segment);
      return 1;
    default:
      return module->module == 77 ? 1 : 0;
  }
}
