// itt_abi.h - the binary interface of Intel's Instrumentation and Tracing
// Technology, as far as a tool needs it, in declarations of our own.
//
//   a program's copy of ITT  --dlopen(INTEL_LIBITTNOTIFY64)-->  the tool
//                            --__itt_api_init(global, groups)->
//   for each entry of global->api_list:  *entry.function = ours
//
// Each program and library that was built with ITT's static part has a copy of
// its own. Each copy does this at its first use.
#ifndef KYMO_BACKENDS_ITT_TARGET_ITT_ABI_H_
#define KYMO_BACKENDS_ITT_TARGET_ITT_ABI_H_

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace kymo::itt {

struct ApiEntry {
  const char* name;  // "__itt_task_begin"; null ends the list
  void** function;   // where the program's copy has it
  void* init_function;
  void* null_function;  // used if no tool provides one
  int group;
};

struct Domain {
  volatile int flags;  // 0: calls are not made
  const char* name;
  void* wide_name;
  int extra1;
  void* extra2;
  Domain* next;
};

struct StringHandle {
  const char* text;
  void* wide_text;
  int extra1;
  void* extra2;
  StringHandle* next;
};

struct Id {
  uint64_t d1, d2, d3;
  bool is_null() const noexcept { return (d1 | d2 | d3) == 0; }
};
static_assert(sizeof(Id) == 24);

// The beginning of ITT's global state; more members follow.
struct Global {
  unsigned char magic[8];
  unsigned long version_major;      // NOLINT: the interface's type
  unsigned long version_minor;      // NOLINT
  unsigned long version_build;      // NOLINT
  volatile long api_initialized;    // NOLINT
  volatile long mutex_initialized;  // NOLINT
  volatile long atomic_counter;     // NOLINT
  pthread_mutex_t mutex;
  void* library;
  void* error_handler;
  const char** path;
  ApiEntry* api_list;
  Global* next;
  void* threads;
  Domain* domains;
  StringHandle* strings;
  int state;
  void* counters;
  unsigned collect_events;
  void* histograms;
  void* counter_metadata;
};

using ApiInit = void (*)(Global* global, int groups);

// Types of values, in metadata and counters; 0: unknown.
enum MetadataType : int {
  kMetadataUint64 = 1,
  kMetadataInt64 = 2,
  kMetadataUint32 = 3,
  kMetadataInt32 = 4,
  kMetadataUint16 = 5,
  kMetadataInt16 = 6,
  kMetadataFloat = 7,
  kMetadataDouble = 8,
};

}  // namespace kymo::itt

#endif  // KYMO_BACKENDS_ITT_TARGET_ITT_ABI_H_
