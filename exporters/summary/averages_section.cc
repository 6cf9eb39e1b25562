#include "exporters/summary/averages_section.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo {
namespace {

using analysis::KeyAverage;
using json::JsonWriter;

// The times by which averages are chosen, and by which they are sorted.
int64_t SelfOfAll(const KeyAverage& average) {
  return average.self_cpu_time_total_ns + average.self_device_time_total_ns;
}
int64_t SelfOfCpu(const KeyAverage& average) {
  return average.self_cpu_time_total_ns;
}

void Sort(std::vector<KeyAverage>& averages,
          int64_t (*time)(const KeyAverage&)) {
  std::stable_sort(averages.begin(), averages.end(),
                   [time](const KeyAverage& a, const KeyAverage& b) {
                     return time(a) > time(b);
                   });
}

void WriteAverage(const KeyAverage& average, RangeMemory memory,
                  JsonWriter& json) {
  json.BeginObject();
  json.Member("name", average.name);
  json.Member("is_user_annotation", average.is_user_annotation);
  json.Member("is_device", average.is_device);
  json.Member("is_async", average.is_async);
  json.Member("count", average.count);
  json.Member("cpu_time_total_ns", average.cpu_time_total_ns);
  json.Member("self_cpu_time_total_ns", average.self_cpu_time_total_ns);
  json.Member("device_time_total_ns", average.device_time_total_ns);
  json.Member("self_device_time_total_ns", average.self_device_time_total_ns);
  json.Member("min_ns", average.min_ns);
  json.Member("max_ns", average.max_ns);
  if (memory == RangeMemory::kMeasured) {
    json.Member("cpu_memory_usage_bytes", average.cpu_memory_usage_bytes);
    json.Member("self_cpu_memory_usage_bytes",
                average.self_cpu_memory_usage_bytes);
    json.Member("device_memory_usage_bytes", average.device_memory_usage_bytes);
    json.Member("self_device_memory_usage_bytes",
                average.self_device_memory_usage_bytes);
  }
  json.EndObject();
}

}  // namespace

void WriteAverages(std::vector<KeyAverage> averages, RangeMemory memory,
                   std::string_view all_rows, model::LossLedger& ledger,
                   ExportNotes* notes, JsonWriter& json) {
  const auto count = static_cast<int64_t>(averages.size());
  if (averages.size() > kMaxAverages) {
    const uint64_t left_out = averages.size() - kMaxAverages;
    ledger.Add(model::Loss::kNamesLeftOut, left_out);
    if (notes != nullptr) {
      notes->ledger.Add(model::Loss::kNamesLeftOut, left_out);
      notes->notices.push_back(absl::StrCat(
          "summary.json and the page have ", kMaxAverages, " names of ", count,
          ", those with the longest self time; ", ToAbsl(all_rows)));
    }
    Sort(averages, SelfOfAll);
    averages.resize(kMaxAverages);
  }
  Sort(averages, SelfOfCpu);
  json.Key("key_averages");
  json.BeginArray();
  for (const auto& average : averages) WriteAverage(average, memory, json);
  json.EndArray();
  json.Member("key_average_count", count);
}

}  // namespace kymo
