// wait_table.h - compares the host's waits for a device with the device's
// times.
//
//   WaitTable waits;
//   waits.Add(sync, thread);                  // each wait, and who waited
//   waits.Finish();
//   waits.LateBy(thread, kernel);             // ns; 0: nothing is wrong
//
// Work that a thread launched must end before the same thread's wait for the
// stream or the context ends. If it seems to end later, the device's times are
// off by at least the difference. Activities that begin before their launch
// show the opposite error.
//
// Threads: none.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_WAIT_TABLE_H_
#define KYMO_BACKENDS_CUPTI_DECODE_WAIT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "backends/cupti/log/gpu_record.h"

namespace kymo::cupti {

class WaitTable {
 public:
  // Ignores waits that failed, and waits for anything but a stream or a
  // context: they prove nothing.
  void Add(const SyncRecord& sync, uint32_t thread);
  void Finish();

  // For a kernel, copy or set that `thread` launched.
  template <typename R>
  uint64_t LateBy(uint32_t thread, const R& work) const {
    if (waits_.empty()) [[likely]]
      return 0;
    const uint64_t of_stream =
        LateBy({thread, work.context, work.stream}, work.correlation, work.end);
    if (!has_context_waits_) return of_stream;
    const uint64_t of_context =
        LateBy({thread, work.context, kNoStream}, work.correlation, work.end);
    return of_stream > of_context ? of_stream : of_context;
  }

 private:
  struct Key {
    uint32_t thread, context, stream;  // kNoStream: the whole context
    bool operator==(const Key&) const = default;
  };
  struct HashKey {
    size_t operator()(const Key& key) const {
      return ((uint64_t{key.thread} << 32 | key.stream) ^ uint64_t{key.context}
                                                              << 16) *
             0x9e3779b97f4a7c15u;
    }
  };
  struct Wait {
    uint32_t correlation;
    uint64_t end;  // after Finish: the earliest end from here on
  };

  uint64_t LateBy(const Key& key, uint32_t correlation, uint64_t end) const;

  std::unordered_map<Key, std::vector<Wait>, HashKey> waits_;  // by correlation
  bool has_context_waits_ = false;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_WAIT_TABLE_H_
