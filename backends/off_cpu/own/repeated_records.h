// repeated_records.h - finds records that come twice.
//
//   RepeatedRecords repeated;
//   if (repeated.IsRepeated(tid, ring, RepeatedRecords::kOut)) return;
//   repeated.Forget(tid);                       // it ended
//
// A thread may have two events: the one that it inherited, and one of its own,
// because it began while the recording did. Then each of its records comes
// twice, into the same ring, one behind the other.
//
// Threads: none.
#ifndef KYMO_BACKENDS_OFF_CPU_OWN_REPEATED_RECORDS_H_
#define KYMO_BACKENDS_OFF_CPU_OWN_REPEATED_RECORDS_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace kymo::off_cpu {

class RepeatedRecords {
 public:
  enum Kind : uint8_t { kIn, kOut, kBegin };

  // Whether the thread's record before said the same.
  bool IsRepeated(uint32_t tid, size_t ring, Kind kind) {
    const std::pair record(ring, kind);
    const auto [last, is_first] = last_.try_emplace(tid, record);
    return std::exchange(last->second, record) == record && !is_first;
  }
  void Forget(uint32_t tid) { last_.erase(tid); }

 private:
  absl::flat_hash_map<uint32_t, std::pair<size_t, Kind>> last_;  // by tid
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_OWN_REPEATED_RECORDS_H_
