#include "profiler/report/table_order.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "profiler/base/strings.h"

namespace kymo::report {
namespace {

struct SortKey {
  std::string_view name;
  double (*value)(const TableRow& row);
};

// Numbers that rows can be sorted by; aliases not included. Byte counts beyond
// 2^53 may tie.
constexpr SortKey kSortKeys[] = {
    {"count", [](const TableRow& r) { return double(r.count); }},
    {"cpu_memory_usage",
     [](const TableRow& r) { return double(r.cpu_memory_usage_bytes); }},
    {"cpu_time",
     [](const TableRow& r) { return PerCall(r.cpu_time_total_us, r.count); }},
    {"cpu_time_total", [](const TableRow& r) { return r.cpu_time_total_us; }},
    {"device_memory_usage",
     [](const TableRow& r) { return double(r.device_memory_usage_bytes); }},
    {"device_time",
     [](const TableRow& r) {
       return PerCall(r.device_time_total_us, r.count);
     }},
    {"device_time_total",
     [](const TableRow& r) { return r.device_time_total_us; }},
    {"flops", [](const TableRow& r) { return r.flops; }},
    {"node_id", [](const TableRow& r) { return double(r.node_id); }},
    {"self_cpu_memory_usage",
     [](const TableRow& r) { return double(r.self_cpu_memory_usage_bytes); }},
    {"self_cpu_time_total",
     [](const TableRow& r) { return r.self_cpu_time_total_us; }},
    {"self_device_memory_usage",
     [](const TableRow& r) {
       return double(r.self_device_memory_usage_bytes);
     }},
    {"self_device_time_total",
     [](const TableRow& r) { return r.self_device_time_total_us; }},
    {kWaitSortKey,
     [](const TableRow& r) { return r.wait_time_total_us.value_or(-1); }},
};

// The keys that PyTorch documents, the attributes that work there too, and
// Kymo's own.
constexpr std::string_view kDocumentedKeys[] = {
    "count",
    "cpu_memory_usage",
    "cpu_time",
    "cpu_time_total",
    "cuda_memory_usage",
    "cuda_time",
    "cuda_time_total",
    "device_memory_usage",
    "device_time",
    "device_time_total",
    "flops",
    "key",
    "node_id",
    "self_cpu_memory_usage",
    "self_cpu_time_total",
    "self_cuda_memory_usage",
    "self_cuda_time_total",
    "self_device_memory_usage",
    "self_device_time_total",
    "self_xpu_memory_usage",
    "self_xpu_time_total",
    kWaitSortKey,
    "xpu_memory_usage",
    "xpu_time",
    "xpu_time_total",
};

absl::Status UnknownSortKey(const std::string& sort_by) {
  std::string keys;
  for (const std::string_view key : kDocumentedKeys) {
    absl::StrAppend(&keys, keys.empty() ? "" : ", ", ToAbsl(key));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("no sort key '", sort_by, "'; the valid ones are: ", keys));
}

}  // namespace

absl::StatusOr<std::vector<const TableRow*>> DisplayOrder(
    std::span<const TableRow> rows, const std::string& sort_by) {
  std::vector<const TableRow*> order;
  for (const TableRow& row : rows) order.push_back(&row);
  if (sort_by.empty()) return order;
  if (sort_by == "key") {
    std::stable_sort(order.begin(), order.end(),
                     [](auto* a, auto* b) { return a->key > b->key; });
    return order;
  }
  const std::string name = absl::StrReplaceAll(
      sort_by,
      {{"cuda", "device"}, {"xpu", "device"}, {"privateuse1", "device"}});
  const auto key =
      std::find_if(std::begin(kSortKeys), std::end(kSortKeys),
                   [&](const SortKey& k) { return k.name == name; });
  if (key == std::end(kSortKeys)) return UnknownSortKey(sort_by);
  std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) {
    return key->value(*a) > key->value(*b);
  });
  return order;
}

std::span<const std::string_view> TableSortKeys() { return kDocumentedKeys; }

}  // namespace kymo::report
