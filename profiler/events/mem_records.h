// mem_records.h - allocations and frees, by time, and which were charged.
//
//   MemRecordsAcc records({{.time_ns = 3, .bytes = 100},
//                          {.time_ns = 5, .bytes = 50}});
//   records.Claim(2, 5).cpu_bytes;   // 150
//   records.Unclaimed();             // empty
//
// A record belongs to every operation that was running at its time, both ends
// included. Claim() is O(log n) however many records it covers, so that deep
// nests cost no more than flat ones.
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
  size_t source = 0;  // the caller's number of it
};

struct MemUsage {
  int64_t cpu_bytes = 0;
  int64_t device_bytes = 0;
};

// What a record adds: see IsHostMemory, IsDeviceMemory.
MemUsage UsageOf(const MemRecord& record) noexcept;

class MemRecordsAcc {
 public:
  explicit MemRecordsAcc(std::vector<MemRecord> records);

  // Records with begin_ns <= time <= end_ns in time order, ties in the order
  // given. Valid as long as the object.
  std::span<const MemRecord> in_interval(int64_t begin_ns,
                                         int64_t end_ns) const;

  // The sum over in_interval(), whose records are claimed from now on.
  MemUsage Claim(int64_t begin_ns, int64_t end_ns);

  // `source` of the records that no claim covered, in time order.
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
