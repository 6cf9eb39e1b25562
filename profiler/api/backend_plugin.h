// backend_plugin.h - a backend of your own, in a shared library, in C or C++.
//
// A library exports one function. A library in C++, at namespace scope:
//
//   #include <unistd.h>
//
//   struct Session {
//     int64_t time_ns;   // CLOCK_MONOTONIC
//     int waiting;
//   };
//   int64_t ClockNs();
//   int Waiting(const char* queue);
//
//   uint32_t Create(const KymoSessionOptions* options, void** session, char*,
//                   size_t) {
//     *session = new Session{0, Waiting(kymo_setting(options, "queue"))};
//     return KYMO_OK;
//   }
//   uint32_t Start(void* session, int64_t, char*, size_t) {
//     static_cast<Session*>(session)->time_ns = ClockNs();
//     return KYMO_OK;
//   }
//   uint32_t Stop(void*, char*, size_t) { return KYMO_OK; }
//   uint32_t Collect(void* session, const KymoRecords* to, char*, size_t) {
//     const Session& mine = *static_cast<Session*>(session);
//     KymoCounter counter = {};
//     counter.struct_size = sizeof(counter);
//     counter.process_id = getpid();
//     counter.name = "waiting";
//     counter.unit = "requests";
//     counter.time_ns = to->epoch_offset_ns + mine.time_ns;
//     counter.value = mine.waiting;
//     return to->add_counter(to->host, &counter);
//   }
//   void Destroy(void* session) { delete static_cast<Session*>(session); }
//
//   const KymoBackendPlugin* kymo_backend_plugin(uint32_t) {
//     static KymoSetting setting = {};
//     setting.struct_size = sizeof(setting);
//     setting.kind = KYMO_SETTING_TEXT;
//     setting.name = "queue";
//     setting.default_value = "main";
//     setting.purpose = "The queue whose requests are counted.";
//     static KymoBackendPlugin plugin = {};
//     plugin.struct_size = sizeof(plugin);
//     plugin.version = KYMO_PLUGIN_VERSION;
//     plugin.name = "requests";
//     plugin.purpose = "how many requests wait";
//     plugin.settings = &setting;
//     plugin.setting_count = 1;
//     plugin.create = Create;
//     plugin.start = Start;
//     plugin.stop = Stop;
//     plugin.collect = Collect;
//     plugin.destroy = Destroy;
//     return &plugin;
//   }
//
// The command records with `--activities=cpu,./librequests.so`, a program with
// `Profile({.activities = {"cpu", "./librequests.so"}})`. A word with a slash
// is the path of a library. Its settings become flags: --requests_queue.
//
// The file needs the C library only, and is C11 and C++. A library that was
// compiled with it needs nothing else of Kymo.
//
//   | create -prepare-> ready -start-> live -stop-> stopped -collect-> empty
//   |                                   |
//   |                                   poll, set_collecting
//
// Each arrow happens at most once, in this order. destroy may come at any time,
// once; nothing of the session may then stay enabled.
//
// Threads: calls on one session do not overlap, but may come from different
//   threads. Functions of Kymo that a call gets may be called within that call,
//   on its thread.
// Errors:  a function returns KYMO_OK or another KymoResult. With the latter it
//   should write a sentence into `why`, at most `why_size` bytes with the final
//   zero: what happened, and what would help. No exception should leave a
//   function. A recording goes on without a backend that lets one out, in any
//   function, and without one whose stop does not return within some seconds.
// Texts:   end with a zero byte and are UTF-8. Other bytes become U+FFFD. Names
//   and texts of records are cut at 65,535 bytes, and counted. A plugin with
//   such a text in its own structs is refused. NULL is the empty text.
// Memory:  whatever a function gets is valid within that call. Kymo copies what
//   it is given, except the plugin's struct and functions. A library is never
//   unloaded.
// Versions: Kymo and a library work together if their major versions are equal.
//   Every struct begins with its size, so that a minor version can add fields
//   at its end. Kymo reads no field beyond the size that a library gives, and
//   takes such a field as 0. A library that reads a field of a later minor
//   version must look at the size first. KymoArg and KymoSettingValue have no
//   size: these two never change within a major version.
#ifndef KYMO_PROFILER_API_BACKEND_PLUGIN_H_
#define KYMO_PROFILER_API_BACKEND_PLUGIN_H_

// These are the headers of C: the file is compiled as C, too.
#include <stddef.h>  // NOLINT(modernize-deprecated-headers)
#include <stdint.h>  // NOLINT(modernize-deprecated-headers)
#include <string.h>  // NOLINT(modernize-deprecated-headers)

#define KYMO_PLUGIN_MAJOR 1u
#define KYMO_PLUGIN_MINOR 0u
#define KYMO_PLUGIN_VERSION (KYMO_PLUGIN_MAJOR << 16 | KYMO_PLUGIN_MINOR)
#define KYMO_PLUGIN_EXPORT __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

// Fields hold these as uint32_t, whose size does not depend on the compiler.
enum KymoResult {
  KYMO_OK = 0,
  KYMO_INVALID_ARGUMENT = 1,   // the user's options are wrong
  KYMO_NOT_FOUND = 2,          // a device, a file or a driver is missing
  KYMO_PERMISSION_DENIED = 3,  // the user may not do this here
  KYMO_UNAVAILABLE = 4,        // it does not work here, or not now
  KYMO_UNIMPLEMENTED = 5,      // the backend does not do this
  KYMO_INTERNAL = 6,           // any other error
  KYMO_OUT_OF_MEMORY = 7
};

enum KymoTarget {
  KYMO_TARGET_THIS_PROCESS = 0,  // kymo::Profile
  KYMO_TARGET_CHILD = 1          // the command's target, and what it starts
};

// Bits of KymoSessionOptions::wants: what the user asked for.
enum KymoWant {
  KYMO_WANT_ALL_THREADS = 1,  // else: of the thread that starts the session
  KYMO_WANT_SHAPES = 2,
  KYMO_WANT_MEMORY = 4,
  KYMO_WANT_STACKS = 8,
  KYMO_WANT_MODULES = 16
};

enum KymoSettingKind {
  KYMO_SETTING_SWITCH = 0,   // "0" or "1"
  KYMO_SETTING_INTEGER = 1,  // from `least` to `most`
  KYMO_SETTING_REAL = 2,     // from `real_least` to `real_most`
  KYMO_SETTING_TEXT = 3,     // any text
  KYMO_SETTING_WORD = 4      // one of `words`
};

// A setting of a backend. It is the flag --NAME_SETTING of the command, and the
// key NAME_SETTING of ProfileOptions::settings. A plugin whose setting has the
// name of another flag is refused.
typedef struct KymoSetting {
  uint32_t struct_size;
  uint32_t kind;              // KymoSettingKind
  const char* name;           // lower_snake, without the backend's name
  const char* default_value;  // as text; one that the setting takes
  const char* purpose;        // a sentence or two
  int64_t least, most;
  double real_least, real_most;
  const char* words;  // separated by commas: "auto,fast,exact"
} KymoSetting;

typedef struct KymoSettingValue {
  const char* name;  // without the backend's name
  const char* value;
} KymoSettingValue;

// A counter of what the backend could not record. The trace's ledger has the
// sum of all of them as backend_records_lost, which fails --strict. Their names
// and texts stand behind that sum, in a sentence of the command, and in the
// trace's metadata (NAME_losses).
typedef struct KymoLossCounter {
  uint32_t struct_size;
  uint32_t reserved;  // 0
  const char* name;   // lower_snake: "packets_dropped"
  const char* text;   // follows the number: "packets for which no buffer was"
} KymoLossCounter;

typedef struct KymoSessionOptions {
  uint32_t struct_size;
  uint32_t target;          // KymoTarget
  const char* target_path;  // of a child; else empty
  // A folder for large files, absolute; the backend removes its own. Empty in
  // this process.
  const char* scratch_dir;
  uint32_t wants;  // KymoWant bits
  uint32_t setting_count;
  const KymoSettingValue* settings;  // every setting, given or default; checked
} KymoSessionOptions;

// The value of a setting; "" for one that the backend does not declare.
static inline const char* kymo_setting(const KymoSessionOptions* options,
                                       const char* name) {
  uint32_t i;
  for (i = 0; i < options->setting_count; ++i) {
    if (strcmp(options->settings[i].name, name) == 0) {
      return options->settings[i].value;
    }
  }
  return "";
}

// What a child needs before it starts. An error of these functions also fails
// the prepare that called them.
typedef struct KymoTargetSetup {
  uint32_t struct_size;
  uint32_t reserved;
  void* host;  // the first argument of the functions
  // Sets an environment variable of the child. Variables of the loader (LD_*)
  // and of Kymo (KYMO_*) are refused, and so are those by which Kymo's backends
  // get into the child: CUDA_INJECTION64_PATH, NVTX_INJECTION64_PATH and
  // INTEL_LIBITTNOTIFY64.
  uint32_t (*set_variable)(void* host, const char* name, const char* value);
  // Makes the child, and the programs that it starts, load a library after
  // Kymo's runtime. A relative path starts at the folder of the plugin. The
  // file's name may not have spaces, colons and dollar signs, for which the
  // loader has a meaning; its folder may.
  uint32_t (*load_library)(void* host, const char* path);
} KymoTargetSetup;

enum KymoArgKind { KYMO_ARG_INTEGER = 0, KYMO_ARG_REAL = 1, KYMO_ARG_TEXT = 2 };

typedef struct KymoArg {
  const char* key;
  uint32_t kind;  // KymoArgKind says which of the next three counts
  uint32_t reserved;
  int64_t integer;
  double real;  // finite
  const char* text;
} KymoArg;

enum KymoRangeKind {
  KYMO_RANGE_ANNOTATION = 0,  // something that the program does
  KYMO_RANGE_OPERATION = 1,   // an operation, as of a library of mathematics
  KYMO_RANGE_CALL = 2,        // a call that launches work of a device
  KYMO_RANGE_OVERHEAD = 3,    // time that is the backend's own
  KYMO_RANGE_ASYNC = 4        // an annotation that nests with no other range
};

// A range of a thread. A range that reaches over the end of the range around it
// is a loss (ranges_overlapping), unless it is KYMO_RANGE_ASYNC or
// KYMO_RANGE_OVERHEAD: these have no parent and no children.
// Times are nanoseconds since the epoch, larger than 0.
// Ranges come in any order.
typedef struct KymoRange {
  uint32_t struct_size;
  uint32_t kind;  // KymoRangeKind
  int64_t process_id;
  int64_t thread_id;  // as gettid() has it
  const char* name;   // not empty
  int64_t begin_ns;
  int64_t end_ns;  // not before begin_ns; 0: open until the recording ends
  // Device work with the same process and number was launched by this range;
  // KYMO_RANGE_CALL only. 0: none. At most 2^31 - 1. A number means something
  // within this backend only: the trace has another one, from 2^31 on, so that
  // it differs from those of other backends and of the vendors' libraries.
  uint32_t correlation;
  uint32_t arg_count;  // at most 64
  const KymoArg* args;
} KymoRange;

// A moment of a thread.
typedef struct KymoInstant {
  uint32_t struct_size;
  uint32_t arg_count;
  int64_t process_id;
  int64_t thread_id;
  const char* name;
  int64_t time_ns;
  const KymoArg* args;
} KymoInstant;

// A counter's value from a moment on.
typedef struct KymoCounter {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t process_id;
  int64_t thread_id;  // 0: the process's
  const char* name;
  const char* unit;  // stands behind the name, in brackets; may be empty
  int64_t time_ns;
  double value;  // finite
} KymoCounter;

enum KymoWorkKind {
  KYMO_WORK_KERNEL = 0,
  KYMO_WORK_COPY = 1,  // a transfer
  KYMO_WORK_SET = 2    // memory set to a value
};

// Work of a device.
typedef struct KymoDeviceWork {
  uint32_t struct_size;
  uint32_t kind;       // KymoWorkKind
  int64_t process_id;  // that asked for the work
  uint32_t device;     // at most 65,535
  uint32_t stream;     // at most 999,999
  const char* name;
  int64_t begin_ns;
  int64_t end_ns;
  uint32_t correlation;  // of the KYMO_RANGE_CALL that launched it; 0: none
  uint32_t arg_count;
  const KymoArg* args;
} KymoDeviceWork;

// Takes the records of a session. A record that cannot be used is refused: the
// function returns KYMO_INVALID_ARGUMENT, and the trace counts it as
// records_corrupt. Records outside of the recording's time are dropped and
// counted afterwards.
typedef struct KymoRecords {
  uint32_t struct_size;
  uint32_t reserved;
  void* host;  // the first argument of the functions
  // Time since the epoch minus CLOCK_MONOTONIC, in nanoseconds, as the whole
  // recording has it.
  int64_t epoch_offset_ns;
  uint32_t (*add_range)(void* host, const KymoRange* range);
  uint32_t (*add_instant)(void* host, const KymoInstant* instant);
  uint32_t (*add_counter)(void* host, const KymoCounter* counter);
  uint32_t (*add_device_work)(void* host, const KymoDeviceWork* work);
  // `counter` is an index of KymoBackendPlugin::losses.
  uint32_t (*add_loss)(void* host, uint32_t counter, uint64_t count);
  // A sentence for the user about what is missing and why.
  uint32_t (*add_remark)(void* host, const char* text);
} KymoRecords;

// The backend. Its first two fields are the same in every version.
typedef struct KymoBackendPlugin {
  uint32_t struct_size;
  uint32_t version;     // KYMO_PLUGIN_VERSION
  const char* name;     // unique, lower_snake; the word for --activities
  const char* purpose;  // one line, for --list and --help
  // The device whose work it records, lower_snake, for use_device of
  // ProfileOptions: "xpu", or a name of your own such as "npu". Empty: none.
  const char* device;
  const KymoSetting* settings;
  const KymoLossCounter* losses;
  uint32_t setting_count;
  uint32_t loss_count;

  // KYMO_OK if it can record here; else `why` says what would help. NULL: it
  // always can.
  uint32_t (*availability)(const KymoSessionOptions* options, char* why,
                           size_t why_size);
  // Writes into `text` what the user should know before a recording starts.
  // NULL: nothing. Called only if the backend is available.
  void (*limitation)(const KymoSessionOptions* options, char* text,
                     size_t text_size);
  // Makes a session, which records nothing yet. Kymo hands `*session` to the
  // functions below; it may be NULL.
  uint32_t (*create)(const KymoSessionOptions* options, void** session,
                     char* why, size_t why_size);
  // Takes what recording needs. `setup` is NULL unless the target is a child.
  // On an error nothing stays enabled. NULL: it needs nothing.
  uint32_t (*prepare)(void* session, const KymoTargetSetup* setup, char* why,
                      size_t why_size);
  // Begins to record. A child exists and waits before its exec. On an error
  // nothing stays enabled.
  uint32_t (*start)(void* session, int64_t process_id, char* why,
                    size_t why_size);
  // The command calls it every few milliseconds while live, and once more after
  // the target's end. It should take less than a millisecond. A session of this
  // process gets no such calls. May be NULL.
  void (*poll)(void* session);
  // Goes on (1) or pauses (0). NULL: it cannot.
  uint32_t (*set_collecting)(void* session, uint32_t is_collecting, char* why,
                             size_t why_size);
  // Ends recording. Afterwards no hook of this session writes.
  uint32_t (*stop)(void* session, char* why, size_t why_size);
  // Hands over all records. After an error Kymo throws them away.
  uint32_t (*collect)(void* session, const KymoRecords* records, char* why,
                      size_t why_size);
  // Ends a session that `create` made. NULL: there is nothing to end.
  void (*destroy)(void* session);
} KymoBackendPlugin;

// What a library exports. `host_version` is the KYMO_PLUGIN_VERSION of the Kymo
// that asks. Kymo compares the versions; a library need not. NULL: the library
// does not work with that version. The struct must stay as it is until the
// process ends.
KYMO_PLUGIN_EXPORT const KymoBackendPlugin* kymo_backend_plugin(
    uint32_t host_version);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KYMO_PROFILER_API_BACKEND_PLUGIN_H_
