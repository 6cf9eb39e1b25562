// mem_records.h - allocations and frees in the order of time.
//
//   kymo::MemRecordsAcc records({{.time_ns = 3, .bytes = 100},
//                                {.time_ns = 5, .bytes = 50}});
//   Print(records.Claim(2, 5).cpu_bytes);       // 150
//   Print(records.Unclaimed().size());          // 0
//
// An operation claims the records between its start and its end, both included.
// Several operations may claim the same record.
//
// Threads: one at a time. Errors: none.
// Cost:    Claim() takes O(log n), however many records it covers. So deeply
//   nested operations cost no more than flat ones.
#ifndef KYMO_PROFILER_EVENTS_MEM_RECORDS_H_
#define KYMO_PROFILER_EVENTS_MEM_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profiler/events/device_type.h"

namespace kymo {

struct MemRecord {
  int64_t time_ns = 0;
  int64_t bytes = 0;  // negative: freed
  DeviceType device_type = DeviceType::kCpu;
  size_t source = 0;  // a number of the caller's
};

struct MemUsage {
  int64_t cpu_bytes = 0;
  int64_t device_bytes = 0;
};

// The bytes that a record adds, as the host's or a device's; see IsHostMemory
// and IsDeviceMemory.
MemUsage UsageOf(const MemRecord& record) noexcept;

class MemRecordsAcc {
 public:
  explicit MemRecordsAcc(std::vector<MemRecord> records);

  // The records with begin_ns <= time <= end_ns, by time; equal times keep the
  // order of the constructor's argument. Valid as long as the object.
  std::span<const MemRecord> in_interval(int64_t begin_ns,
                                         int64_t end_ns) const;

  // Claims the records of in_interval() and returns their sum.
  MemUsage Claim(int64_t begin_ns, int64_t end_ns);

  // The `source` of each record that nobody claimed, by time.
  std::vector<size_t> Unclaimed() const;

 private:
  struct Positions {
    size_t begin, end;
  };
  Positions Find(int64_t begin_ns, int64_t end_ns) const;

  std::vector<MemRecord> records_;  // by time
  // [i]: usage of the first i records.
  std::vector<MemUsage> usage_before_;
  // Claims that begin at record i, less those that ended before it.
  std::vector<int64_t> claims_change_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_MEM_RECORDS_H_
