/* A backend and an exporter in C11, for tests. The backend records a range, a
 * counter, work of a device and the starts of the programs that load its target
 * side. Its settings make it fail, or hand over records that no trace can have.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kymo/backend_plugin.h"
#include "kymo/exporter_plugin.h"

typedef struct Session {
  int64_t process_id;
  int64_t begin_ns; /* CLOCK_MONOTONIC */
  int64_t end_ns;
  int64_t every_ms;
  int64_t polls;
  uint32_t is_hostile;
  uint32_t is_collecting;
  char fails_in[16];
  char log_path[4096]; /* of the target side; empty: there is none */
} Session;

static int64_t Now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Whether the user wants this function to fail. */
static uint32_t Fail(const Session* session, const char* function, char* why,
                     size_t why_size) {
  if (strcmp(session->fails_in, function) != 0) return KYMO_OK;
  snprintf(why, why_size, "%s does not work; try ticks_fails_in=none",
           function);
  return KYMO_UNAVAILABLE;
}

static uint32_t Availability(const KymoSessionOptions* options, char* why,
                             size_t why_size) {
  Session asked = {0};
  snprintf(asked.fails_in, sizeof(asked.fails_in), "%s",
           kymo_setting(options, "fails_in"));
  return Fail(&asked, "availability", why, why_size);
}

static void Limitation(const KymoSessionOptions* options, char* text,
                       size_t text_size) {
  snprintf(text, text_size, "ticks come every %s ms",
           kymo_setting(options, "every_ms"));
}

static uint32_t Create(const KymoSessionOptions* options, void** session,
                       char* why, size_t why_size) {
  Session* const made = calloc(1, sizeof(Session));
  if (made == NULL) return KYMO_OUT_OF_MEMORY;
  made->every_ms = atoll(kymo_setting(options, "every_ms"));
  made->is_hostile = strcmp(kymo_setting(options, "hostile"), "1") == 0;
  snprintf(made->fails_in, sizeof(made->fails_in), "%s",
           kymo_setting(options, "fails_in"));
  if (options->target == KYMO_TARGET_CHILD) {
    snprintf(made->log_path, sizeof(made->log_path), "%s/ticks.log",
             options->scratch_dir);
  }
  if (Fail(made, "create", why, why_size) != KYMO_OK) {
    free(made);
    return KYMO_UNAVAILABLE;
  }
  *session = made;
  return KYMO_OK;
}

static uint32_t Prepare(void* session, const KymoTargetSetup* setup, char* why,
                        size_t why_size) {
  const Session* const mine = session;
  if (setup != NULL) {
    setup->load_library(setup->host, "libtest_backend_target.so");
    setup->set_variable(setup->host, "TICKS_LOG", mine->log_path);
    if (strcmp(mine->fails_in, "setup") == 0) {
      setup->set_variable(setup->host, "LD_PRELOAD", "/tmp/own.so");
    }
  }
  return Fail(mine, "prepare", why, why_size);
}

static uint32_t Start(void* session, int64_t process_id, char* why,
                      size_t why_size) {
  Session* const mine = session;
  mine->process_id = process_id;
  mine->begin_ns = Now();
  mine->is_collecting = 1;
  return Fail(mine, "start", why, why_size);
}

static void Poll(void* session) {
  Session* const mine = session;
  if (mine->is_collecting) ++mine->polls;
}

static uint32_t SetCollecting(void* session, uint32_t is_collecting, char* why,
                              size_t why_size) {
  Session* const mine = session;
  mine->is_collecting = is_collecting;
  return Fail(mine, "set_collecting", why, why_size);
}

static uint32_t Stop(void* session, char* why, size_t why_size) {
  Session* const mine = session;
  mine->end_ns = Now();
  return Fail(mine, "stop", why, why_size);
}

static void AddRecords(const Session* mine, const KymoRecords* to) {
  const int64_t begin_ns = to->epoch_offset_ns + mine->begin_ns;
  const int64_t end_ns = to->epoch_offset_ns + mine->end_ns;
  const KymoArg args[] = {
      {.key = "every_ms", .kind = KYMO_ARG_INTEGER, .integer = mine->every_ms},
      {.key = "polls", .kind = KYMO_ARG_INTEGER, .integer = mine->polls},
      {.key = "share", .kind = KYMO_ARG_REAL, .real = 0.5},
      {.key = "text", .kind = KYMO_ARG_TEXT, .text = "\xff!"}};
  KymoRange range = {.struct_size = sizeof(range),
                     .kind = KYMO_RANGE_CALL,
                     .process_id = mine->process_id,
                     .thread_id = mine->process_id,
                     .name = "ticks_launch",
                     .begin_ns = begin_ns,
                     .end_ns = begin_ns + 1,
                     .correlation = 7};
  const KymoDeviceWork work = {.struct_size = sizeof(work),
                               .kind = KYMO_WORK_KERNEL,
                               .process_id = mine->process_id,
                               .device = 1,
                               .stream = 3,
                               .name = "ticks_kernel",
                               .begin_ns = begin_ns + 1,
                               .end_ns = end_ns,
                               .correlation = 7};
  const KymoCounter counter = {.struct_size = sizeof(counter),
                               .process_id = mine->process_id,
                               .name = "ticks",
                               .unit = "per poll",
                               .time_ns = end_ns,
                               .value = 1.5};
  to->add_device_work(to->host, &work);
  to->add_counter(to->host, &counter);
  to->add_range(to->host, &range); /* before the one that encloses it */
  range.kind = KYMO_RANGE_ANNOTATION;
  range.correlation = 0;
  range.name = "ticks_session";
  range.end_ns = end_ns;
  range.args = args;
  range.arg_count = sizeof(args) / sizeof(args[0]);
  to->add_range(to->host, &range);
  to->add_loss(to->host, 0, 2);
  to->add_loss(to->host, 0, 1);
  to->add_remark(to->host, "the clock\nticks");
}

/* Seven records, all of them wrong. */
static void AddHostileRecords(const Session* mine, const KymoRecords* to) {
  const int64_t now_ns = to->epoch_offset_ns + mine->begin_ns;
  const KymoRange good = {.struct_size = sizeof(good),
                          .kind = KYMO_RANGE_OPERATION,
                          .process_id = mine->process_id,
                          .thread_id = mine->process_id,
                          .name = "hostile",
                          .begin_ns = now_ns,
                          .end_ns = now_ns};
  KymoRange range = good;
  range.end_ns = now_ns - 1;
  to->add_range(to->host, &range);
  range = good;
  range.kind = 77;
  to->add_range(to->host, &range);
  range = good;
  range.name = NULL;
  to->add_range(to->host, &range);
  range = good;
  range.arg_count = 1;
  to->add_range(to->host, &range);
  const KymoCounter counter = {.struct_size = sizeof(counter),
                               .process_id = mine->process_id,
                               .name = "hostile",
                               .time_ns = now_ns,
                               .value = NAN};
  to->add_counter(to->host, &counter);
  to->add_instant(to->host, NULL);
  to->add_loss(to->host, 5, 1);
}

/* An instant for each program that has loaded the target side. */
static void AddStarts(const Session* mine, const KymoRecords* to) {
  FILE* const log = fopen(mine->log_path, "r");
  long long process_id;
  long long time_ns;
  if (log == NULL) return;
  while (fscanf(log, "%lld %lld", &process_id, &time_ns) == 2) {
    const KymoInstant instant = {.struct_size = sizeof(instant),
                                 .process_id = process_id,
                                 .thread_id = process_id,
                                 .name = "ticks_target",
                                 .time_ns = to->epoch_offset_ns + time_ns};
    to->add_instant(to->host, &instant);
  }
  fclose(log);
  unlink(mine->log_path);
}

static uint32_t Collect(void* session, const KymoRecords* records, char* why,
                        size_t why_size) {
  const Session* const mine = session;
  AddRecords(mine, records);
  if (mine->log_path[0] != '\0') AddStarts(mine, records);
  if (mine->is_hostile) AddHostileRecords(mine, records);
  return Fail(mine, "collect", why, why_size);
}

static const KymoSetting kSettings[] = {
    {.struct_size = sizeof(KymoSetting),
     .kind = KYMO_SETTING_INTEGER,
     .name = "every_ms",
     .default_value = "5",
     .purpose = "Time between two ticks.",
     .least = 1,
     .most = 1000},
    {.struct_size = sizeof(KymoSetting),
     .kind = KYMO_SETTING_SWITCH,
     .name = "hostile",
     .default_value = "0",
     .purpose = "Adds records that no trace can have."},
    {.struct_size = sizeof(KymoSetting),
     .kind = KYMO_SETTING_WORD,
     .name = "fails_in",
     .default_value = "none",
     .purpose = "The function that fails.",
     .words = "none,availability,create,prepare,setup,start,set_collecting,"
              "stop,collect"},
};
static const KymoLossCounter kLosses[] = {
    {.struct_size = sizeof(KymoLossCounter),
     .name = "ticks_missed",
     .text = "ticks that came too late"}};

const KymoBackendPlugin* kymo_backend_plugin(uint32_t host_version) {
  static const KymoBackendPlugin plugin = {
      .struct_size = sizeof(plugin),
      .version = KYMO_PLUGIN_VERSION,
      .name = "ticks",
      .purpose = "ticks of a clock, for tests",
      .device = "npu",
      .settings = kSettings,
      .losses = kLosses,
      .setting_count = sizeof(kSettings) / sizeof(kSettings[0]),
      .loss_count = 1,
      .availability = Availability,
      .limitation = Limitation,
      .create = Create,
      .prepare = Prepare,
      .start = Start,
      .poll = Poll,
      .set_collecting = SetCollecting,
      .stop = Stop,
      .collect = Collect,
      .destroy = free};
  (void)host_version;
  return &plugin;
}

static uint32_t WriteNames(const KymoTrace* trace, const KymoOutput* output,
                           char* why, size_t why_size) {
  const char* const end = kymo_output_setting(output, "end");
  uint32_t result = KYMO_OK;
  (void)why, (void)why_size;
  for (uint64_t i = 0; i < trace->event_count && result == KYMO_OK; ++i) {
    KymoTraceEvent event = {.struct_size = sizeof(event)};
    result = trace->get_event(trace->host, i, &event);
    if (result != KYMO_OK) break;
    output->write(output->host, "names.txt", event.name, strlen(event.name));
    result = output->write(output->host, "names.txt", end, strlen(end));
  }
  return result;
}

const KymoExporterPlugin* kymo_exporter_plugin(uint32_t host_version) {
  static const KymoSetting end = {.struct_size = sizeof(end),
                                  .kind = KYMO_SETTING_TEXT,
                                  .name = "end",
                                  .default_value = ";",
                                  .purpose = "What stands behind a name."};
  static const KymoExporterPlugin plugin = {
      .struct_size = sizeof(plugin),
      .version = KYMO_PLUGIN_VERSION,
      .name = "tick_names",
      .purpose = "the names of all events, for tests",
      .settings = &end,
      .setting_count = 1,
      .export_trace = WriteNames};
  (void)host_version;
  return &plugin;
}
