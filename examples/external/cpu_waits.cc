// A backend of this project's own: how long the main thread waits for a CPU.
//
//   bazel build //:libcpu_waits.so
//   waits=$PWD/bazel-bin/libcpu_waits.so
//   bazel run @kymo//tools:profile -- --activities=cpu,$waits target
//
// A thread that is ready to run and does not run looks slow for no reason. The
// kernel counts the time that a thread spends so. The backend reads that number
// some times a second. The timeline gets a counter of it, and a range "waits
// for a CPU" wherever the thread waited for more than half of an interval.
//
// It is written in C++, but everything that Kymo sees of it is C:
// kymo/backend_plugin.h. So it can be built with another compiler than Kymo.

#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "kymo/backend_plugin.h"

namespace {

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Time on the run queue, in nanoseconds: the second number of the file
// (Documentation/scheduler/sched-stats.rst of Linux). -1: there is no file.
int64_t WaitedNs(const std::string& process) {
  std::ifstream file("/proc/" + process + "/schedstat");
  int64_t ran_ns = 0;
  int64_t waited_ns = -1;
  file >> ran_ns >> waited_ns;
  return file ? waited_ns : -1;
}

class Session {
 public:
  explicit Session(int64_t every_ms) : every_(every_ms * 1'000'000) {}
  ~Session() { Stop(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void Start(int64_t process_id) {
    process_id_ = process_id;
    runs_ = true;
    thread_ = std::thread([this] {
      while (TakeSample() && runs_) std::this_thread::sleep_for(every_);
      TakeSample();
    });
  }

  void Stop() {
    runs_ = false;
    if (thread_.joinable()) thread_.join();
  }

  void Collect(const KymoRecords& to) const {
    for (size_t i = 0; i < samples_.size(); ++i) {
      AddCounter(to, samples_[i]);
      if (i > 0) AddWait(to, samples_[i - 1], samples_[i]);
    }
    to.add_loss(to.host, 0, missed_);
  }

 private:
  struct Sample {
    int64_t time_ns;
    int64_t waited_ns;
  };

  // False if the process has ended.
  bool TakeSample() {
    const int64_t waited_ns = WaitedNs(std::to_string(process_id_));
    if (waited_ns < 0) return false;
    const int64_t now_ns = NowNs();
    if (!samples_.empty()) {
      // Of these intervals, all but the last end without a sample.
      const int64_t intervals =
          (now_ns - samples_.back().time_ns) / every_.count();
      missed_ += static_cast<uint64_t>(std::max<int64_t>(intervals - 1, 0));
    }
    samples_.push_back({now_ns, waited_ns});
    return true;
  }

  void AddCounter(const KymoRecords& to, const Sample& sample) const {
    KymoCounter counter = {};
    counter.struct_size = sizeof(counter);
    counter.process_id = process_id_;
    counter.name = "waited for a CPU";
    counter.unit = "ms";
    counter.time_ns = to.epoch_offset_ns + sample.time_ns;
    counter.value = static_cast<double>(sample.waited_ns) / 1e6;
    to.add_counter(to.host, &counter);
  }

  void AddWait(const KymoRecords& to, const Sample& from,
               const Sample& until) const {
    const int64_t waited_ns = until.waited_ns - from.waited_ns;
    if (2 * waited_ns < until.time_ns - from.time_ns) return;
    KymoArg arg = {};
    arg.key = "waited_us";
    arg.kind = KYMO_ARG_INTEGER;
    arg.integer = waited_ns / 1000;
    KymoRange range = {};
    range.struct_size = sizeof(range);
    range.kind = KYMO_RANGE_ASYNC;
    range.process_id = process_id_;
    range.thread_id = process_id_;
    range.name = "waits for a CPU";
    range.begin_ns = to.epoch_offset_ns + from.time_ns;
    range.end_ns = to.epoch_offset_ns + until.time_ns;
    range.arg_count = 1;
    range.args = &arg;
    to.add_range(to.host, &range);
  }

  const std::chrono::nanoseconds every_;
  int64_t process_id_ = 0;
  std::atomic<bool> runs_ = false;
  std::thread thread_;
  // Of the thread, until it is joined.
  std::vector<Sample> samples_;
  uint64_t missed_ = 0;
};

// Calls `function` and keeps its exceptions on this side of the border.
template <typename Function>
uint32_t Guarded(char* why, size_t why_size, Function function) {
  try {
    function();
    return KYMO_OK;
  } catch (const std::bad_alloc&) {
    return KYMO_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    snprintf(why, why_size, "%s", error.what());
    return KYMO_INTERNAL;
  }
}

Session& Of(void* session) { return *static_cast<Session*>(session); }

uint32_t Availability(const KymoSessionOptions*, char* why, size_t why_size) {
  if (WaitedNs("self") >= 0) return KYMO_OK;
  snprintf(why, why_size,
           "/proc/self/schedstat cannot be read; this needs a kernel with "
           "CONFIG_SCHED_INFO");
  return KYMO_UNAVAILABLE;
}

uint32_t Create(const KymoSessionOptions* options, void** session, char* why,
                size_t why_size) {
  return Guarded(why, why_size, [&] {
    *session = new Session(atoll(kymo_setting(options, "every_ms")));
  });
}

uint32_t Start(void* session, int64_t process_id, char* why, size_t why_size) {
  return Guarded(why, why_size, [&] { Of(session).Start(process_id); });
}

uint32_t Stop(void* session, char* why, size_t why_size) {
  return Guarded(why, why_size, [&] { Of(session).Stop(); });
}

uint32_t Collect(void* session, const KymoRecords* records, char* why,
                 size_t why_size) {
  return Guarded(why, why_size, [&] { Of(session).Collect(*records); });
}

void Destroy(void* session) { delete &Of(session); }

}  // namespace

const KymoBackendPlugin* kymo_backend_plugin(uint32_t) {
  static const KymoSetting setting = {.struct_size = sizeof(KymoSetting),
                                      .kind = KYMO_SETTING_INTEGER,
                                      .name = "every_ms",
                                      .default_value = "10",
                                      .purpose = "Time between two samples.",
                                      .least = 1,
                                      .most = 1000};
  static const KymoLossCounter loss = {.struct_size = sizeof(KymoLossCounter),
                                       .name = "samples_missed",
                                       .text = "samples that came too late"};
  static const KymoBackendPlugin plugin = {
      .struct_size = sizeof(KymoBackendPlugin),
      .version = KYMO_PLUGIN_VERSION,
      .name = "cpu_waits",
      .purpose = "how long the main thread waits for a CPU",
      .settings = &setting,
      .losses = &loss,
      .setting_count = 1,
      .loss_count = 1,
      .availability = Availability,
      .create = Create,
      .start = Start,
      .stop = Stop,
      .collect = Collect,
      .destroy = Destroy};
  return &plugin;
}
