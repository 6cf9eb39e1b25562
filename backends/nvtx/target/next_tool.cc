#include "backends/nvtx/target/next_tool.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "profiler/record/tool_variables.h"

namespace kymo::nvtx {

constinit NextTool next_tool = {};
constinit bool has_next_tool = false;
constinit record::HandleMap others_strings;
constinit record::HandleMap others_ranges;

namespace {

constinit void* library = nullptr;
// The tables of the copy of NVTX that is being attached to.
constinit GetExportTable real_tables = nullptr;

// A table of pointers to `functions`, as GetModuleFunctionTable returns it.
template <size_t kSize>
struct Table {
  FunctionPointer* entries[kSize] = {};

  constexpr explicit Table(FunctionPointer (&functions)[kSize]) noexcept {
    for (size_t i = 1; i < kSize; ++i) entries[i] = &functions[i];
  }
};
constinit Table core_table(next_tool.core);
constinit Table core2_table(next_tool.core2);
constinit Table cuda_table(next_tool.cuda);
constinit Table cuda_runtime_table(next_tool.cuda_runtime);

template <size_t kSize>
int Give(Table<kSize>& table, FunctionTable* out, unsigned* size) noexcept {
  if (out != nullptr) *out = table.entries;
  if (size != nullptr) *size = kSize;
  return 1;
}

int GetModuleFunctions(int module, FunctionTable* table, unsigned* size) {
  switch (module) {
    case kCore:
      return Give(core_table, table, size);
    case kCore2:
      return Give(core2_table, table, size);
    case kCuda:
      return Give(cuda_table, table, size);
    case kCudaRuntime:
      return Give(cuda_runtime_table, table, size);
    default: {
      const auto* const real =
          static_cast<const CallbacksTable*>(real_tables(kCallbacks));
      return real == nullptr ? 0
                             : real->get_module_functions(module, table, size);
    }
  }
}

constinit const CallbacksTable callbacks = {sizeof(CallbacksTable),
                                            GetModuleFunctions};

const void* GetTable(uint32_t id) {
  return id == kCallbacks ? &callbacks : real_tables(id);
}

}  // namespace

void LoadNextTool() noexcept {
  const char* const path = getenv(record::kNextNvtxToolVariable);
  if (path == nullptr || *path == '\0') return;
  library = dlopen(path, RTLD_LAZY);
}

void AttachNextTool(GetExportTable get_export_table) noexcept {
  if (library == nullptr) return;
  const auto initialize = reinterpret_cast<InitializeInjection>(
      dlsym(library, "InitializeInjectionNvtx2"));
  if (initialize == nullptr) return;
  real_tables = get_export_table;
  if (initialize(GetTable) != 0) {
    has_next_tool = true;
  } else if (!has_next_tool) {
    next_tool = {};
  }
}

bool AttachNextExtension(ExtensionModule* module) noexcept {
  if (library == nullptr) return false;
  const auto initialize = reinterpret_cast<InitializeExtension>(
      dlsym(library, "InitializeInjectionNvtxExtension"));
  if (initialize == nullptr) return false;
  intptr_t* ours = nullptr;
  if (module->module == kPayloadExtension) ours = next_tool.payload;
  if (module->module == kCounterExtension) ours = next_tool.counter;
  if (ours == nullptr) return initialize(module) != 0;
  if (module->segment_count != 1 ||
      module->segments[0].slot_count > NextTool::kSlots) {
    return false;
  }
  ExtensionSegment segment = module->segments[0];
  segment.slots = ours;
  ExtensionModule copy = *module;
  copy.segments = &segment;
  if (initialize(&copy) == 0) return false;
  // Slots with values from 0 to 4 are states, not functions.
  for (size_t i = 0; i < segment.slot_count; ++i) {
    if (ours[i] >= 0 && ours[i] <= 4) ours[i] = 0;
  }
  has_next_tool = true;
  return true;
}

}  // namespace kymo::nvtx
