#include "profiler/events/mem_records.h"

#include <algorithm>
#include <utility>

namespace kymo {

MemUsage UsageOf(const MemRecord& record) noexcept {
  if (IsHostMemory(record.device_type)) return {.cpu_bytes = record.bytes};
  if (IsDeviceMemory(record.device_type)) {
    return {.device_bytes = record.bytes};
  }
  return {};
}

MemRecordsAcc::MemRecordsAcc(std::vector<MemRecord> records)
    : records_(std::move(records)),
      usage_before_(1),
      claims_change_(records_.size() + 1) {
  std::ranges::stable_sort(records_, {}, &MemRecord::time_ns);
  usage_before_.reserve(records_.size() + 1);
  for (const MemRecord& record : records_) {
    MemUsage sum = usage_before_.back();
    const MemUsage usage = UsageOf(record);
    sum.cpu_bytes += usage.cpu_bytes;
    sum.device_bytes += usage.device_bytes;
    usage_before_.push_back(sum);
  }
}

MemRecordsAcc::Positions MemRecordsAcc::Find(int64_t begin_ns,
                                             int64_t end_ns) const {
  const auto first =
      std::ranges::lower_bound(records_, begin_ns, {}, &MemRecord::time_ns);
  const auto last = std::ranges::upper_bound(first, records_.end(), end_ns, {},
                                             &MemRecord::time_ns);
  return {static_cast<size_t>(first - records_.begin()),
          static_cast<size_t>(last - records_.begin())};
}

std::span<const MemRecord> MemRecordsAcc::in_interval(int64_t begin_ns,
                                                      int64_t end_ns) const {
  const auto [begin, end] = Find(begin_ns, end_ns);
  return std::span(records_).subspan(begin, end - begin);
}

MemUsage MemRecordsAcc::Claim(int64_t begin_ns, int64_t end_ns) {
  const auto [begin, end] = Find(begin_ns, end_ns);
  ++claims_change_[begin];
  --claims_change_[end];
  const MemUsage& before = usage_before_[begin];
  const MemUsage& after = usage_before_[end];
  return {after.cpu_bytes - before.cpu_bytes,
          after.device_bytes - before.device_bytes};
}

std::vector<size_t> MemRecordsAcc::Unclaimed() const {
  std::vector<size_t> sources;
  int64_t claims = 0;
  for (size_t i = 0; i < records_.size(); ++i) {
    claims += claims_change_[i];
    if (claims == 0) sources.push_back(records_[i].source);
  }
  return sources;
}

}  // namespace kymo
