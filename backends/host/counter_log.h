// counter_log.h - values of counters in memory, and two kinds of counters.
//
//   CounterLog log(/*max_values=*/1'000'000);
//   Gauge threads(pid, "process.threads");
//   threads.Set(log, now_ns, 12);
//   Rate faults(pid, "process.page_faults.minor_per_s");
//   faults.Update(log, now_ns, count_since_start);
//   log.MoveTo(shard);
//
// A value counts from its time until the next one (model::CounterSample). So
// the rate between two readings gets the time of the earlier one.
//
// Threads: one at a time.
#ifndef KYMO_BACKENDS_HOST_COUNTER_LOG_H_
#define KYMO_BACKENDS_HOST_COUNTER_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::host {

class CounterLog {
 public:
  // Values take memory in blocks of so many (768 KiB). So the log never needs
  // room for a larger copy of itself, as a vector does that grows.
  static constexpr size_t kBlockValues = 32 * 1024;

  // 24 bytes a value. Later values are dropped and counted in the ledger.
  explicit CounterLog(size_t max_values) : max_values_(max_values) {}

  // The track of counters of a process: that of its main thread.
  model::TrackIndex TrackOf(int64_t pid);
  void NameProcess(int64_t pid, int64_t parent_pid, std::string_view name);
  model::NameId NameOf(std::string_view counter) {
    return shard_.strings.Intern(counter);
  }

  void Add(const model::CounterSample& value);
  // Values that were not even read.
  void CountLost(uint64_t values) noexcept { lost_ += values; }

  // The log is empty then. `shard` is overwritten. Gives back each block once
  // its values are in the shard.
  void MoveTo(model::TraceShard& shard);

 private:
  const size_t max_values_;
  size_t values_ = 0;
  uint64_t lost_ = 0;
  model::TraceShard shard_;  // without its values
  std::vector<std::vector<model::CounterSample>> blocks_;
  std::map<int64_t, model::TrackIndex> tracks_;
  std::map<int64_t, size_t> processes_;  // into shard_.processes
};

// A value as it is at a time. The counter is in the trace once it has a value.
class Gauge {
 public:
  Gauge(int64_t pid, std::string name) : pid_(pid), name_(std::move(name)) {}

  void Set(CounterLog& log, TimeNs time_ns, double value);
  // What is counted is no more: 0 from now on, if there was a value.
  void End(CounterLog& log, TimeNs now_ns) {
    if (track_) Set(log, now_ns, 0);
  }

 private:
  int64_t pid_;
  std::string name_;
  std::optional<model::TrackIndex> track_;
  model::NameId id_ = model::kEmptyName;
};

// How fast a count grows: `unit` times its growth per second.
class Rate {
 public:
  Rate(int64_t pid, std::string name, double unit = 1)
      : gauge_(pid, std::move(name)), unit_(unit) {}

  // `count` since some time in the past. The first call only remembers it. A
  // count that goes backwards has not grown.
  void Update(CounterLog& log, TimeNs now_ns, uint64_t count);
  void End(CounterLog& log, TimeNs now_ns) { gauge_.End(log, now_ns); }

 private:
  Gauge gauge_;
  double unit_;
  uint64_t before_ = 0;
  TimeNs before_ns_ = 0;  // 0 = no call yet
};

// What was added between two values of a count that should only grow.
inline uint64_t Growth(uint64_t before, uint64_t now) noexcept {
  return now > before ? now - before : 0;
}

}  // namespace kymo::host

#endif  // KYMO_BACKENDS_HOST_COUNTER_LOG_H_
