#include "kymo/record_function.h"

#include <pthread.h>
#include <string.h>

#include "kymo/node_id.h"
#include "profiler/callbacks/observed_call.h"

#ifndef KYMO_DISABLE

namespace kymo {
namespace internal {

__attribute__((noinline)) OpenOperation BeginOperation(
    Literal name, std::string_view dynamic_name,
    const OperationInfo& info) noexcept {
  OpenOperation operation;
  uint32_t bits = record::GateBits();
  if (bits & record::kGateUnresolved) {
    record::Host();
    bits = record::GateBits();
  }
  if ((bits & record::kGateObserved) && IsObservationDue(info.scope)) {
    operation.observed = StartObserved(
        {.name = name.text != nullptr ? std::string_view(name.text, name.size)
                                      : dynamic_name,
         .overload_name = {info.overload_name.text, info.overload_name.size},
         .scope = info.scope,
         .sequence_nr = info.sequence_nr,
         .forward_thread_id = info.forward_thread_id,
         .debug_handle = info.debug_handle,
         .node_id = DefaultNodeId(),
         .is_async = info.is_async,
         .inputs = info.inputs,
         .kwinputs = info.args});
  }
  // Still unresolved: this is a signal handler, whose range is counted as lost.
  if (bits & (record::kGateOn | record::kGateUnresolved)) {
    record::BeginRangeWithDetails(
        operation.range, name, dynamic_name, info.scope,
        {.args = info.args.data(),
         .arg_count = info.args.size(),
         .inputs = info.inputs.data(),
         .input_count = info.inputs.size(),
         .overload_name = info.overload_name,
         .sequence_nr = info.sequence_nr,
         .forward_thread_id = info.forward_thread_id,
         .debug_handle = info.debug_handle,
         .flags = info.is_async ? uint32_t{record::kSlotAsync} : 0,
         .frame = __builtin_frame_address(0)});
  }
  return operation;
}

}  // namespace internal

void SetThreadName(std::string_view name) noexcept {
  char cut[16] = {};
  memcpy(cut, name.data(), name.size() < 15 ? name.size() : 15);
  pthread_setname_np(pthread_self(), cut);
  record::Host().set_thread_name(name.data(), name.size());
}

}  // namespace kymo

#endif  // KYMO_DISABLE
