#include "backends/cupti/target/cupti_functions.h"

#include <dlfcn.h>

namespace kymo::cupti {
namespace {

template <typename F>
bool Find(void* library, const char* name, F*& function) noexcept {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

void FindNewer(void* library, CuptiFunctions& f) noexcept {
  Find(library, "cuptiSubscribe_v2", f.subscribe_v2);
  Find(library, "cuptiActivityEnableAndDump", f.enable_and_dump);
  Find(library, "cuptiActivityRegisterTimestampCallback", f.set_clock);
  Find(library, "cuptiActivityConfigureUnifiedMemoryCounter",
       f.configure_unified);
  Find(library, "cuptiActivityEnableLatencyTimestamps", f.enable_latency);
  Find(library, "cuptiActivityEnableCudaEventDeviceTimestamps",
       f.enable_event_times);
  Find(library, "cuptiActivityEnableAllSyncRecords", f.enable_all_sync);
  Find(library, "cuptiSetThreadIdType", f.set_thread_id_type);
  Find(library, "cuptiGetThreadIdType", f.get_thread_id_type);
  Find(library, "cuptiEnableCallback", f.enable_callback);
  Find(library, "cuptiActivityRegisterCallbacks_v2", f.register_callbacks_v2);
  Find(library, "cuptiActivityEnable_v2", f.enable_v2);
  Find(library, "cuptiActivityDisable_v2", f.disable_v2);
  Find(library, "cuptiActivityEnableAndDump_v2", f.enable_and_dump_v2);
  Find(library, "cuptiActivityGetNextRecord_v2", f.next_record_v2);
  Find(library, "cuptiActivityGetNumDroppedRecords_v2", f.dropped_v2);
  Find(library, "cuptiGetTimestamp_v2", f.get_timestamp_v2);
  Find(library, "cuptiActivitySetAttribute_v2", f.set_attribute_v2);
}

}  // namespace

bool FindFunctions(void* library, CuptiFunctions& f) noexcept {
  FindNewer(library, f);
  return Find(library, "cuptiGetVersion", f.get_version) &&
         Find(library, "cuptiSubscribe", f.subscribe) &&
         Find(library, "cuptiUnsubscribe", f.unsubscribe) &&
         Find(library, "cuptiActivityRegisterCallbacks",
              f.register_callbacks) &&
         Find(library, "cuptiActivityEnable", f.enable) &&
         Find(library, "cuptiActivityDisable", f.disable) &&
         Find(library, "cuptiActivityFlushAll", f.flush_all) &&
         Find(library, "cuptiGetTimestamp", f.get_timestamp) &&
         Find(library, "cuptiActivityGetNumDroppedRecords", f.dropped) &&
         Find(library, "cuptiGetResultString", f.result_string) &&
         Find(library, "cuptiActivityGetNextRecord", f.next_record) &&
         Find(library, "cuptiGetCallbackName", f.callback_name);
}

bool HasClients(const CuptiFunctions& f) noexcept {
  return f.subscribe_v2 != nullptr && f.register_callbacks_v2 != nullptr &&
         f.enable_v2 != nullptr && f.disable_v2 != nullptr &&
         f.enable_and_dump_v2 != nullptr && f.next_record_v2 != nullptr &&
         f.dropped_v2 != nullptr && f.get_timestamp_v2 != nullptr &&
         f.set_attribute_v2 != nullptr;
}

}  // namespace kymo::cupti
