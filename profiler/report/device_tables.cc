#include "profiler/report/device_tables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/string_table.h"

namespace kymo::report {
namespace {

using analysis::CriticalPath;
using analysis::PathStep;
using model::Trace;

double Share(DurationNs part, DurationNs whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / double(whole);
}

std::string Text(std::string_view text) { return std::string(text); }

std::string OperationName(const Trace& trace, model::NameId name) {
  return name == model::kEmptyName ? "(no operation)" : Text(trace.Name(name));
}

template <typename T>
DurationNs SumOfTotals(std::span<const T> list) {
  DurationNs sum = 0;
  for (const T& entry : list) sum += entry.total_ns;
  return sum;
}

}  // namespace

ValueTable DeviceTimesTable(std::span<const analysis::DeviceTimes> devices) {
  ValueTable table{.columns = {{"process", "Process", Unit::kCount},
                               {"device", "Device", Unit::kCount},
                               {"streams", "Streams", Unit::kCount},
                               {"kernels", "Kernels", Unit::kCount},
                               {"copies", "Copies", Unit::kCount},
                               {"window_ns", "Window", Unit::kNs},
                               {"busy_ns", "Busy", Unit::kNs},
                               {"idle_ns", "Idle", Unit::kNs},
                               {"idle_share", "Idle %", Unit::kShare},
                               {"compute_ns", "Compute", Unit::kNs},
                               {"communication_ns", "Communication", Unit::kNs},
                               {"memory_ns", "Memory", Unit::kNs},
                               {"overlap_ns", "Overlap", Unit::kNs},
                               {"overlap_share", "Overlap %", Unit::kShare},
                               {"memory_overlap_ns", "Mem. overlap", Unit::kNs},
                               {"summed_ns", "Sum of all", Unit::kNs}},
                   .rows = {}};
  for (const analysis::DeviceTimes& d : devices) {
    // The overlap as a share of communication, as in HolisticTraceAnalysis.
    Value overlap;
    if (d.communication_ns != 0) {
      overlap = Share(d.overlap_ns, d.communication_ns);
    }
    table.rows.push_back(
        {d.pid, int64_t{d.index}, d.stream_count, d.kernel_count, d.copy_count,
         d.window_ns, d.busy_ns, d.idle_ns, Share(d.idle_ns, d.window_ns),
         d.compute_ns, d.communication_ns, d.memory_ns, d.overlap_ns, overlap,
         d.memory_overlap_ns, d.summed_ns});
  }
  return table;
}

ValueTable DeviceKernelTable(const Trace& trace,
                             std::span<const analysis::KernelSum> kernels) {
  ValueTable table{.columns = {{"name", "Kernel", Unit::kText},
                               {"kind", "Kind", Unit::kText},
                               {"share", "Total %", Unit::kShare},
                               {"total_ns", "Total", Unit::kNs},
                               {"count", "# of Calls", Unit::kCount},
                               {"mean_ns", "Mean", Unit::kNs},
                               {"min_ns", "Least", Unit::kNs},
                               {"max_ns", "Most", Unit::kNs},
                               {"stddev_ns", "Std. dev.", Unit::kNs}},
                   .rows = {}};
  const DurationNs all = SumOfTotals(kernels);
  for (const analysis::KernelSum& k : kernels) {
    table.rows.push_back(
        {Text(trace.Name(k.name)), Text(analysis::WorkKindName(k.kind)),
         Share(k.total_ns, all), k.total_ns, k.count,
         static_cast<double>(k.total_ns) / static_cast<double>(k.count),
         k.min_ns, k.max_ns, k.stddev_ns});
  }
  return table;
}

ValueTable DeviceOperationTable(
    const Trace& trace, std::span<const analysis::OperationSum> operations) {
  ValueTable table{.columns = {{"operation", "Operation", Unit::kText},
                               {"self_share", "Self device %", Unit::kShare},
                               {"self_ns", "Self device", Unit::kNs},
                               {"total_share", "Device %", Unit::kShare},
                               {"total_ns", "Device total", Unit::kNs},
                               {"launches", "# of Launches", Unit::kCount}},
                   .rows = {}};
  DurationNs all = 0;
  for (const analysis::OperationSum& o : operations) all += o.self_ns;
  for (const analysis::OperationSum& o : operations) {
    table.rows.push_back({OperationName(trace, o.name), Share(o.self_ns, all),
                          o.self_ns, Share(o.total_ns, all), o.total_ns,
                          o.launch_count});
  }
  return table;
}

ValueTable DeviceOperationKernelTable(
    const Trace& trace, std::span<const analysis::OperationKernel> kernels) {
  ValueTable table{.columns = {{"operation", "Operation", Unit::kText},
                               {"kernel", "Kernel", Unit::kText},
                               {"share", "Total %", Unit::kShare},
                               {"total_ns", "Total", Unit::kNs},
                               {"count", "# of Calls", Unit::kCount}},
                   .rows = {}};
  const DurationNs all = SumOfTotals(kernels);
  for (const analysis::OperationKernel& k : kernels) {
    table.rows.push_back({OperationName(trace, k.operation),
                          Text(trace.Name(k.kernel)), Share(k.total_ns, all),
                          k.total_ns, k.count});
  }
  return table;
}

ValueTable DeviceCopyTable(std::span<const analysis::CopySum> copies) {
  ValueTable table{
      .columns = {{"direction", "Direction", Unit::kText},
                  {"count", "# of Copies", Unit::kCount},
                  {"unknown_count", "Of no size", Unit::kCount},
                  {"bytes", "Bytes", Unit::kBytes},
                  {"total_ns", "Total", Unit::kNs},
                  {"bytes_per_second", "Bandwidth", Unit::kBytesPerSecond},
                  {"min_bytes_per_second", "Least", Unit::kBytesPerSecond},
                  {"max_bytes_per_second", "Most", Unit::kBytesPerSecond}},
      .rows = {}};
  for (const analysis::CopySum& c : copies) {
    std::vector<Value> row = {c.direction, c.count, c.unknown_count, c.bytes,
                              c.total_ns};
    if (c.known_ns == 0) {
      row.resize(table.columns.size());
    } else {
      row.insert(row.end(), {c.bytes_per_second(), c.min_bytes_per_second,
                             c.max_bytes_per_second});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

ValueTable DeviceIdleTable(std::span<const analysis::IdleTime> streams) {
  // Of all streams there is a row "all", so a stream is text here and in every
  // other table.
  ValueTable table{.columns = {{"process", "Process", Unit::kCount},
                               {"device", "Device", Unit::kCount},
                               {"stream", "Stream", Unit::kText},
                               {"idle_ns", "Idle", Unit::kNs},
                               {"host_ns", "Host", Unit::kNs},
                               {"host_share", "Host %", Unit::kShare},
                               {"host_count", "# of gaps", Unit::kCount},
                               {"launch_ns", "Launch", Unit::kNs},
                               {"launch_share", "Launch %", Unit::kShare},
                               {"launch_count", "# of gaps", Unit::kCount},
                               {"dependency_ns", "Dependency", Unit::kNs},
                               {"dependency_share", "Dep. %", Unit::kShare},
                               {"dependency_count", "# of gaps", Unit::kCount}},
                   .rows = {}};
  for (const analysis::IdleTime& i : streams) {
    const DurationNs all = i.total_ns();
    table.rows.push_back(
        {i.pid, int64_t{i.device}, i.stream ? std::to_string(*i.stream) : "all",
         all, i.host_ns, Share(i.host_ns, all), i.host_count, i.launch_ns,
         Share(i.launch_ns, all), i.launch_count, i.dependency_ns,
         Share(i.dependency_ns, all), i.dependency_count});
  }
  return table;
}

ValueTable DeviceQueueTable(std::span<const analysis::StreamQueue> queues) {
  ValueTable table{.columns = {{"process", "Process", Unit::kCount},
                               {"device", "Device", Unit::kCount},
                               {"stream", "Stream", Unit::kText},
                               {"launches", "# of Launches", Unit::kCount},
                               {"max_length", "Most queued", Unit::kCount},
                               {"mean_length", "Mean queued", Unit::kNumber},
                               {"time_mean_length", "Over time", Unit::kNumber},
                               {"full_ns", "Full", Unit::kNs},
                               {"delay_min_ns", "Least delay", Unit::kNs},
                               {"delay_median_ns", "Median delay", Unit::kNs},
                               {"delay_mean_ns", "Mean delay", Unit::kNs},
                               {"delay_max_ns", "Most delay", Unit::kNs}},
                   .rows = {}};
  for (const analysis::StreamQueue& q : queues) {
    table.rows.push_back({q.pid, int64_t{q.device}, std::to_string(q.stream),
                          q.launch_count, q.max_length, q.mean_length,
                          q.time_mean_length, q.full_ns, q.delay.min_ns,
                          q.delay.median_ns,
                          static_cast<double>(q.delay.total_ns) /
                              static_cast<double>(q.launch_count),
                          q.delay.max_ns});
  }
  return table;
}

ValueTable CriticalPathTable(const Trace& trace, const CriticalPath& path) {
  ValueTable table{.columns = {{"cause", "Cause", Unit::kText},
                               {"name", "Name", Unit::kText},
                               {"share", "Path %", Unit::kShare},
                               {"path_ns", "On the path", Unit::kNs},
                               {"count", "# of parts", Unit::kCount}},
                   .rows = {}};
  struct Sum {
    DurationNs ns = 0;
    int64_t count = 0;
  };
  using Key = std::pair<analysis::PathCause, std::string_view>;
  std::map<Key, Sum> sums;
  for (const PathStep& step : path.steps) {
    if (step.weight_ns == 0) continue;
    Sum& sum = sums[{step.cause, trace.EventName(step.event)}];
    sum.ns += step.weight_ns;
    ++sum.count;
  }
  std::vector<std::pair<Key, Sum>> sorted(sums.begin(), sums.end());
  std::stable_sort(
      sorted.begin(), sorted.end(),
      [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  for (const auto& [key, sum] : sorted) {
    table.rows.push_back({Text(PathCauseName(key.first)), Text(key.second),
                          Share(sum.ns, path.length_ns), sum.ns, sum.count});
  }
  return table;
}

ValueTable CriticalPathStepTable(const Trace& trace, const CriticalPath& path) {
  ValueTable table{.columns = {{"start_ns", "Start", Unit::kNs},
                               {"cause", "Cause", Unit::kText},
                               {"name", "Name", Unit::kText},
                               {"path_ns", "On the path", Unit::kNs}},
                   .rows = {}};
  for (const PathStep& step : path.steps) {
    if (step.weight_ns == 0) continue;
    table.rows.push_back({step.start_ns - trace.start_ns(),
                          Text(PathCauseName(step.cause)),
                          Text(trace.EventName(step.event)), step.weight_ns});
  }
  return table;
}

}  // namespace kymo::report
