#include "backends/itt/target/functions.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <string_view>

#include "profiler/record/tool_variables.h"
namespace kymo::itt {
namespace {

// Names without their "__itt_".
constexpr const char* kNames[] = {
    "domain_create",
    "string_handle_create",
    "task_begin",
    "task_begin_fn",
    "task_end",
    "task_begin_overlapped",
    "task_end_overlapped",
    "region_begin",
    "region_end",
    "frame_begin_v3",
    "frame_end_v3",
    "marker",
    "metadata_add",
    "metadata_str_add",
    "counter_create",
    "counter_create_typed",
    "counter_set_value",
    "counter_inc",
    "counter_inc_delta",
    "counter_dec",
    "counter_dec_delta",
    "counter_inc_v3",
    "counter_inc_delta_v3",
    "counter_dec_v3",
    "counter_dec_delta_v3",
    "thread_set_name",
    "stack_caller_create",
    "stack_callee_enter",
    "stack_callee_leave",
    "get_timestamp",
};
static_assert(sizeof(kNames) / sizeof(kNames[0]) == kFunctionCount);

}  // namespace

constinit void* next_functions[kFunctionCount] = {};

FunctionIndex FindFunction(const char* name) noexcept {
  constexpr std::string_view kPrefix = "__itt_";
  if (strncmp(name, kPrefix.data(), kPrefix.size()) == 0) {
    name += kPrefix.size();
  }
  int index = 0;
  while (index < kFunctionCount && strcmp(kNames[index], name) != 0) ++index;
  return static_cast<FunctionIndex>(index);
}

void AttachNext(Global* global, int groups) noexcept {
  static constinit ApiInit initialize = nullptr;
  static constinit void* library = nullptr;
  if (library == nullptr) {
    const char* const path = getenv(record::kNextIttToolVariable);
    if (path == nullptr || *path == '\0') return;
    library = dlopen(path, RTLD_LAZY);
    if (library == nullptr) return;
    initialize = reinterpret_cast<ApiInit>(dlsym(library, "__itt_api_init"));
  }
  if (initialize == nullptr) return;
  void* const ours = global->library;
  global->library = library;
  initialize(global, groups);
  global->library = ours;
  for (const ApiEntry* entry = global->api_list; entry->name != nullptr;
       ++entry) {
    const FunctionIndex index = FindFunction(entry->name);
    void* const theirs = *entry->function;
    if (index == kFunctionCount || theirs == entry->null_function ||
        theirs == entry->init_function) {
      continue;
    }
    next_functions[index] = theirs;
  }
}

}  // namespace kymo::itt
