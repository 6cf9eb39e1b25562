#include "backends/nvtx/target/client.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <cstddef>
#include <cstdint>

#include "profiler/record/tool_variables.h"

extern "C" __attribute__((weak))
kymo::nvtx::InitializeInjection InitializeInjectionNvtx2_fnptr;

namespace kymo::nvtx {
namespace {

// The functions that a tool fills in, behind pointers to them.
template <size_t kSize>
struct ClientTable {
  FunctionPointer functions[kSize] = {};
  FunctionPointer* entries[kSize] = {};

  constexpr ClientTable() {
    for (size_t i = 1; i < kSize; ++i) entries[i] = &functions[i];
  }
};
constinit ClientTable<kCoreSize> core;
constinit ClientTable<kCore2Size> core2;

int GetModuleFunctions(int module, FunctionTable* table, unsigned* size) {
  if (module != kCore && module != kCore2) return 0;
  if (table != nullptr) {
    *table = module == kCore ? core.entries : core2.entries;
  }
  if (size != nullptr) {
    *size = module == kCore ? unsigned{kCoreSize} : unsigned{kCore2Size};
  }
  return 1;
}

void IgnoreToolsVersion(uint32_t) {}

struct VersionTable {
  size_t size;
  uint32_t version;
  uint32_t reserved;
  void (*set_tools_version)(uint32_t);
};

const void* GetTable(uint32_t id) {
  static constexpr CallbacksTable kCallbacksTable = {sizeof(CallbacksTable),
                                                     GetModuleFunctions};
  static constexpr VersionTable kVersionTable = {sizeof(VersionTable), 3, 0,
                                                 IgnoreToolsVersion};
  constexpr uint32_t kVersion = 3;
  if (id == kCallbacks) return &kCallbacksTable;
  return id == kVersion ? &kVersionTable : nullptr;
}

InitializeInjection FindTool() {
  if (const char* const path = getenv(record::kNvtxToolVariable)) {
    void* const library = dlopen(path, RTLD_LAZY);
    if (library == nullptr) return nullptr;
    return reinterpret_cast<InitializeInjection>(
        dlsym(library, "InitializeInjectionNvtx2"));
  }
  return &InitializeInjectionNvtx2_fnptr == nullptr
             ? nullptr
             : InitializeInjectionNvtx2_fnptr;
}

template <typename Function>
void Take(CoreFunction id, Function*& function) {
  function = reinterpret_cast<Function*>(core.functions[id]);
}

NvtxClient MakeClient() {
  NvtxClient client;
  const InitializeInjection initialize = FindTool();
  if (initialize == nullptr || initialize(GetTable) == 0) return client;
  Take(kRangePushA, client.push);
  Take(kRangePop, client.pop);
  Take(kRangeStartA, client.start);
  Take(kRangeEnd, client.end);
  Take(kMarkA, client.mark);
  return client;
}

}  // namespace

const NvtxClient& GetNvtxClient() {
  static const NvtxClient client = MakeClient();
  return client;
}

}  // namespace kymo::nvtx
