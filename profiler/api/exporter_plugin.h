// exporter_plugin.h - a file format of your own, in a shared library, in C or
// C++.
//
// A library exports one function. A library in C++, at namespace scope:
//
//   uint32_t WriteNames(const KymoTrace* trace, const KymoOutput* out, char*,
//                       size_t) {
//     for (uint64_t i = 0; i < trace->event_count; ++i) {
//       KymoTraceEvent event = {};
//       event.struct_size = sizeof(event);
//       uint32_t result = trace->get_event(trace->host, i, &event);
//       if (result != KYMO_OK) return result;
//       result = out->write(out->host, "names.txt", event.name,
//                           strlen(event.name));
//       if (result != KYMO_OK) return result;
//     }
//     return out->write(out->host, "names.txt", "\n", 1);
//   }
//
//   const KymoExporterPlugin* kymo_exporter_plugin(uint32_t) {
//     static KymoExporterPlugin plugin = {};
//     plugin.struct_size = sizeof(plugin);
//     plugin.version = KYMO_PLUGIN_VERSION;
//     plugin.name = "names";
//     plugin.purpose = "the names of all events (names.txt)";
//     plugin.export_trace = WriteNames;
//     return &plugin;
//   }
//
// The commands write with `--export=chrome,./libnames.so`, a program with
// `profile.Export("./libnames.so", "out")`. A word with a slash is the path of
// a library.
//
// The file needs the C library only, and is C11 and C++. A library that was
// compiled with it needs nothing else of Kymo.
//
// Versions, texts and errors are those of backend_plugin.h: one version counts
// for both headers, every struct begins with its size, and a function returns a
// KymoResult and may say why. No exception should leave a function; one that
// does is the error of this exporter.
//
// Order:   events of a thread or stream stand in a row, by their start, those
//   around others first. So a walk from the first event to the last is a walk
//   of the call tree. The same trace gives the same order.
// Threads: export_trace may run on any thread, beside other exporters, and for
//   several traces at a time. The functions that it gets belong to its thread.
// Memory:  texts that a function of KymoTrace gives are valid until the next
//   call of the same function. Everything else is valid until export_trace
//   returns. A library is never unloaded.
#ifndef KYMO_PROFILER_API_EXPORTER_PLUGIN_H_
#define KYMO_PROFILER_API_EXPORTER_PLUGIN_H_

// These are the headers of C: the file is compiled as C, too.
#include <stddef.h>  // NOLINT(modernize-deprecated-headers)
#include <stdint.h>  // NOLINT(modernize-deprecated-headers)
#include <string.h>  // NOLINT(modernize-deprecated-headers)

#include "kymo/backend_plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

// Bits of KymoTraceEvent::flags.
enum KymoEventFlag {
  KYMO_EVENT_OPEN = 1,     // had not ended when the recording did
  KYMO_EVENT_INSTANT = 2,  // a moment
  KYMO_EVENT_ASYNC = 4,    // nests with no other event
  KYMO_EVENT_DEVICE = 8    // work of a device
};

// A range, an instant, or work of a device.
typedef struct KymoTraceEvent {
  uint32_t struct_size;  // the library sets it before it asks
  uint32_t flags;        // KymoEventFlag bits
  const char* name;
  // The category as in the files of PyTorch's profiler: "cpu_op", "kernel".
  const char* category;
  int64_t begin_ns;  // since the epoch
  int64_t end_ns;    // not before begin_ns
  int64_t process_id;
  int64_t thread_id;  // of a device's work: the stream's number
  int64_t parent;     // the index of the event around it; -1: none
  int32_t device;     // of a device's work, else -1
  uint32_t arg_count;
  // Joins a call with the device work that it launched, within a process. Of an
  // operation: its own number. 0: none.
  uint64_t correlation;
} KymoTraceEvent;

// A counter's value from a moment on.
typedef struct KymoTraceCounter {
  uint32_t struct_size;  // the library sets it before it asks
  uint32_t reserved;
  const char* name;
  int64_t process_id;
  int64_t thread_id;
  int64_t time_ns;
  double value;
} KymoTraceCounter;

// Something that is known of the whole trace.
typedef struct KymoTraceFact {
  uint32_t struct_size;  // the library sets it before it asks
  uint32_t reserved;
  const char* key;
  const char* json;  // the value, as JSON
} KymoTraceFact;

// A finished trace. Functions return KYMO_NOT_FOUND for an index beyond the
// count.
typedef struct KymoTrace {
  uint32_t struct_size;
  uint32_t reserved;
  void* host;        // the first argument of the functions
  int64_t begin_ns;  // of the recording, since the epoch
  int64_t end_ns;
  uint64_t event_count;
  uint64_t counter_count;
  uint64_t fact_count;
  uint32_t (*get_event)(void* host, uint64_t index, KymoTraceEvent* event);
  // An argument of an event. Its `text` is also there for numbers. Of a key
  // that comes twice the last one counts.
  uint32_t (*get_arg)(void* host, uint64_t event, uint32_t index, KymoArg* arg);
  uint32_t (*get_counter)(void* host, uint64_t index,
                          KymoTraceCounter* counter);
  uint32_t (*get_fact)(void* host, uint64_t index, KymoTraceFact* fact);
} KymoTrace;

// Where the files go.
typedef struct KymoOutput {
  uint32_t struct_size;
  uint32_t setting_count;
  void* host;                        // the first argument of the functions
  const KymoSettingValue* settings;  // every setting, given or default; checked
  // Appends to a file, which the first call makes. `name` is relative to the
  // output folder. The files appear when export_trace returns KYMO_OK,
  // complete, or not at all.
  uint32_t (*write)(void* host, const char* name, const void* bytes,
                    size_t size);
  // Says which part is done, 0 to 1.
  void (*progress)(void* host, double part);
} KymoOutput;

// The value of a setting; "" for one that the exporter does not declare.
static inline const char* kymo_output_setting(const KymoOutput* output,
                                              const char* name) {
  uint32_t i;
  for (i = 0; i < output->setting_count; ++i) {
    if (strcmp(output->settings[i].name, name) == 0) {
      return output->settings[i].value;
    }
  }
  return "";
}

// The exporter. Its first two fields are the same in every version.
typedef struct KymoExporterPlugin {
  uint32_t struct_size;
  uint32_t version;     // KYMO_PLUGIN_VERSION
  const char* name;     // unique, lower_snake
  const char* purpose;  // one line, for --list and --help
  // The flags --NAME_SETTING, behind --export.
  const KymoSetting* settings;
  uint32_t setting_count;
  uint32_t reserved;
  uint32_t (*export_trace)(const KymoTrace* trace, const KymoOutput* output,
                           char* why, size_t why_size);
} KymoExporterPlugin;

// What a library exports; as kymo_backend_plugin() of backend_plugin.h. A
// library may have both.
KYMO_PLUGIN_EXPORT const KymoExporterPlugin* kymo_exporter_plugin(
    uint32_t host_version);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KYMO_PROFILER_API_EXPORTER_PLUGIN_H_
