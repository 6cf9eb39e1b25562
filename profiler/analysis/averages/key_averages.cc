#include "profiler/analysis/averages/key_averages.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/analysis/averages/duplicates.h"
#include "profiler/analysis/averages/key_averages_keys.h"
#include "profiler/analysis/averages/key_averages_worker.h"
#include "profiler/base/parallel.h"
#include "profiler/base/per_worker.h"
#include "profiler/model/activity_type.h"

namespace kymo::analysis {
namespace {

// The sums of all workers, by group.
class AllSums {
 public:
  explicit AllSums(const AveragesJob& job) : job_(job) {}

  template <typename Groups>
  void AddUp() {
    PerWorker<AveragesWorker<Groups>> workers(
        [this] { return AveragesWorker<Groups>(job_); });
    ParallelFor(
        job_.trace.event_count(), kRowsAtOnce,
        [&](size_t first, size_t last) { workers.Local().Add(first, last); });
    workers.ForEach([this](const AveragesWorker<Groups>& worker) {
      for (size_t g = 0; g < worker.sums().size(); ++g) {
        Join(worker.group_keys()[g], worker.sums()[g],
             worker.extras().empty() ? ExtraSums() : worker.extras()[g]);
      }
    });
  }

  // The groups that have events, in the order of their first events.
  std::vector<KeyAverage> Averages() const {
    std::vector<KeyAverage> averages;
    for (size_t g = 0; g < sums_.size(); ++g) {
      // A group that has only duplicates has no count. One that has only
      // repeated events has none either, but may owe the time of the events
      // inside of these.
      if (sums_[g].count == 0 && sums_[g].self_ns == 0) continue;
      if (GroupKeys::IsLeftOut(keys_[g])) continue;
      averages.push_back(Average(g));
    }
    if (!job_.options.include_python_functions) {
      std::erase_if(averages,
                    [](const KeyAverage& a) { return a.is_python_function; });
    }
    std::sort(averages.begin(), averages.end(),
              [this](const KeyAverage& a, const KeyAverage& b) {
                return Before(job_.trace, a.first_event, b.first_event);
              });
    return averages;
  }

 private:
  void Join(const GroupKey& any_key, const Sums& sums,
            const ExtraSums& extras) {
    const GroupKey key = job_.keys.Canonical(any_key);
    const auto [at, is_new] = group_of_.try_emplace(key, sums_.size());
    if (is_new) {
      keys_.push_back(key);
      sums_.emplace_back();
      extras_.emplace_back();
    }
    Merge(job_.trace, sums, sums_[at->second]);
    Merge(extras, extras_[at->second]);
  }

  KeyAverage Average(size_t group) const {
    const Sums& sums = sums_[group];
    const ExtraSums& extras = extras_[group];
    KeyAverage average = job_.keys.Describe(keys_[group]);
    average.first_event = sums.first_event;
    average.is_async =
        (job_.trace.flags()[sums.first_event] & model::kEventAsync) != 0;
    average.is_python_function = job_.trace.type()[sums.first_event] ==
                                 model::ActivityType::kPythonFunction;
    average.count = sums.count;
    average.min_ns = sums.min_ns;
    average.max_ns = sums.max_ns;
    if (average.is_device) {
      // As in PyTorch, all of a device event's time is its self time.
      average.device_time_total_ns = sums.total_ns;
      average.self_device_time_total_ns = sums.total_ns;
    } else {
      average.cpu_time_total_ns = sums.total_ns;
      average.self_cpu_time_total_ns = sums.self_ns;
    }
    average.flops = extras.flops;
    if (extras.has_wait) average.wait_time_total_ns = extras.wait_ns;
    average.cpu_memory_usage_bytes = extras.cpu_bytes;
    average.self_cpu_memory_usage_bytes = extras.self_cpu_bytes;
    average.device_memory_usage_bytes = extras.device_bytes;
    average.self_device_memory_usage_bytes = extras.self_device_bytes;
    return average;
  }

  const AveragesJob& job_;
  std::unordered_map<GroupKey, size_t, GroupKeyHash> group_of_;
  // By group.
  std::vector<GroupKey> keys_;
  std::vector<Sums> sums_;
  std::vector<ExtraSums> extras_;
};

}  // namespace

std::vector<KeyAverage> KeyAverages(const model::Trace& trace,
                                    const KeyAveragesOptions& options) {
  std::vector<uint8_t> is_duplicate;
  if (options.duplicates == Duplicates::kMerge) {
    is_duplicate = DuplicateRanges(trace);
  }
  const GroupKeys keys(trace, options);
  const AveragesJob job = {trace, options, keys, is_duplicate};
  AllSums sums(job);
  if (keys.is_by_name()) {
    sums.AddUp<NameGroups>();
  } else {
    sums.AddUp<DetailGroups>();
  }
  return sums.Averages();
}

std::vector<KeyAverage> KeyAverages(const model::Trace& trace,
                                    Duplicates duplicates) {
  return KeyAverages(trace, KeyAveragesOptions{.duplicates = duplicates});
}

}  // namespace kymo::analysis
