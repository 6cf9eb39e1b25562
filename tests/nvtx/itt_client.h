// itt_client.h - a client of ITT's static protocol: what a program's own copy
// of ITT does, for the functions that oneTBB does not call.
//
//   const IttFunctions& itt = AttachItt();
//   itt.task_begin(domain, {}, {}, name);
//
// It is of our own making, from the interface's facts (itt_abi.h): a table of
// pointers that the collector fills in.
#ifndef KYMO_TESTS_NVTX_ITT_CLIENT_H_
#define KYMO_TESTS_NVTX_ITT_CLIENT_H_

#include <cstddef>
#include <cstdint>

#include "backends/itt/target/itt_abi.h"

extern "C" void __itt_api_init(kymo::itt::Global* global, int groups);

namespace kymo::testing {

struct IttFunctions {
  itt::Domain* (*domain_create)(const char*);
  itt::StringHandle* (*string_handle_create)(const char*);
  void (*task_begin)(const itt::Domain*, itt::Id, itt::Id, itt::StringHandle*);
  void (*task_begin_fn)(const itt::Domain*, itt::Id, itt::Id, void (*)());
  void (*task_end)(const itt::Domain*);
  void (*task_begin_overlapped)(const itt::Domain*, itt::Id, itt::Id,
                                itt::StringHandle*);
  void (*task_end_overlapped)(const itt::Domain*, itt::Id);
  void (*region_begin)(const itt::Domain*, itt::Id, itt::Id,
                       itt::StringHandle*);
  void (*region_end)(const itt::Domain*, itt::Id);
  void (*frame_begin_v3)(const itt::Domain*, itt::Id*);
  void (*frame_end_v3)(const itt::Domain*, itt::Id*);
  void (*marker)(const itt::Domain*, itt::Id, itt::StringHandle*, int);
  void (*metadata_add)(const itt::Domain*, itt::Id, itt::StringHandle*, int,
                       size_t, void*);
  void (*metadata_str_add)(const itt::Domain*, itt::Id, itt::StringHandle*,
                           const char*, size_t);
  void* (*counter_create_typed)(const char*, const char*, int);
  void* (*counter_create)(const char*, const char*);
  void (*counter_set_value)(void*, void*);
  void (*counter_inc)(void*);
  void (*counter_dec_delta)(void*, uint64_t);
  void (*counter_inc_delta_v3)(const itt::Domain*, itt::StringHandle*,
                               uint64_t);
  void (*counter_dec_v3)(const itt::Domain*, itt::StringHandle*);
  void (*thread_set_name)(const char*);
  // One that the collector does not know; stays what it was.
  void (*suppress_push)(unsigned);
};

// Asks the collector that is linked in. Once per process.
inline const IttFunctions& AttachItt() {
  static IttFunctions functions;
  static int null_function;
  const auto entry = [](const char* name, auto& function) {
    return itt::ApiEntry{name, reinterpret_cast<void**>(&function), nullptr,
                         &null_function, 0};
  };
#define KYMO_ITT_ENTRY(name) entry("__itt_" #name, functions.name)
  static itt::ApiEntry entries[] = {KYMO_ITT_ENTRY(domain_create),
                                    KYMO_ITT_ENTRY(string_handle_create),
                                    KYMO_ITT_ENTRY(task_begin),
                                    KYMO_ITT_ENTRY(task_begin_fn),
                                    KYMO_ITT_ENTRY(task_end),
                                    KYMO_ITT_ENTRY(task_begin_overlapped),
                                    KYMO_ITT_ENTRY(task_end_overlapped),
                                    KYMO_ITT_ENTRY(region_begin),
                                    KYMO_ITT_ENTRY(region_end),
                                    KYMO_ITT_ENTRY(frame_begin_v3),
                                    KYMO_ITT_ENTRY(frame_end_v3),
                                    KYMO_ITT_ENTRY(marker),
                                    KYMO_ITT_ENTRY(metadata_add),
                                    KYMO_ITT_ENTRY(metadata_str_add),
                                    KYMO_ITT_ENTRY(counter_create_typed),
                                    KYMO_ITT_ENTRY(counter_create),
                                    KYMO_ITT_ENTRY(counter_set_value),
                                    KYMO_ITT_ENTRY(counter_inc),
                                    KYMO_ITT_ENTRY(counter_dec_delta),
                                    KYMO_ITT_ENTRY(counter_inc_delta_v3),
                                    KYMO_ITT_ENTRY(counter_dec_v3),
                                    KYMO_ITT_ENTRY(thread_set_name),
                                    KYMO_ITT_ENTRY(suppress_push),
                                    {}};
#undef KYMO_ITT_ENTRY
  static itt::Global global;
  if (global.api_list == nullptr) {
    global.api_list = entries;
    __itt_api_init(&global, 0x7fffffff);
  }
  return functions;
}

}  // namespace kymo::testing

#endif  // KYMO_TESTS_NVTX_ITT_CLIENT_H_
