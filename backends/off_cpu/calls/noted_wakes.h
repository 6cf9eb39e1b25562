// noted_wakes.h - keeps for a while who ended waits of other threads, as the
// hooks in the target tell.
//
//   wakes.Add(std::move(call));                    // in the order of time
//   const NotedCall* wake = wakes.Find({pid, lock}, tid, begin_ns, end_ns);
//
// A note says only that somebody waited for the object then. So the last one
// before a wait ended counts. An object that processes share has the same
// address in those that were forked from one that had it, as in PostgreSQL.
//
// Threads: none. Memory: at most 50,000 notes; older ones are dropped.
#ifndef KYMO_BACKENDS_OFF_CPU_CALLS_NOTED_WAKES_H_
#define KYMO_BACKENDS_OFF_CPU_CALLS_NOTED_WAKES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "backends/off_cpu/calls/wait_ring_reader.h"

namespace kymo::off_cpu {

class NotedWakes {
 public:
  using Object = std::pair<uint32_t, uint64_t>;  // of a process: its address

  void Add(NotedCall&& wake);
  // Who ended the wait of a thread for the object. Null: nobody is known.
  // Valid until the next Add.
  const NotedCall* Find(const Object& object, uint32_t waiter_tid,
                        uint64_t begin_ns, uint64_t end_ns) const;

  struct WaitInCall {
    uint32_t pid = 0;
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
    bool is_first = false;  // of those in the call
  };
  struct WakeInCall {
    const NotedCall* wake = nullptr;  // as of Find
    bool is_of_mutex = false;
  };
  // The same of a wait in a call. A thread waits for a condition first, and
  // then perhaps for its mutex.
  WakeInCall FindInCall(const NotedCall& call, const WaitInCall& wait) const;

 private:
  const NotedCall* FindOf(const Object& object, uint32_t waiter_tid,
                          uint64_t begin_ns, uint64_t end_ns) const;

  // Those of objects that processes share, under the process 0.
  absl::flat_hash_map<Object, std::deque<NotedCall>> wakes_;
  size_t count_ = 0;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_CALLS_NOTED_WAKES_H_
