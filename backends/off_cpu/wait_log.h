// wait_log.h - keeps the waits of threads, and what was seen of their causes.
//
//   WaitLog log;
//   log.OnCause(tid, seen_ns, {.kind = WaitKind::kSleep});  // while it waits
//   log.OnWake(tid, woken_ns, {.thread = waker, .stack = stack});
//   log.OnWait({.thread = {pid, tid}, .begin_ns = ..., .end_ns = ...});
//   log.OnCall({.tid = tid, .begin_ns = ..., .end_ns = ...}, cause);
//   log.Collect(states, ...);
//
// What was seen belongs to the wait of its thread that has its time. Waits that
// are long enough are kept, with 88 bytes each, as far as there is room. Each
// wait that goes on at the end is kept, too. Shorter waits are kept if a
// recording has few of them. All others are summed by thread and cause, without
// the other threads that had to do with them. If the sums get too many, new
// ones forget stack and object. So each wait counts, and memory is bounded.
//
// Threads: none. Times are CLOCK_MONOTONIC.
#ifndef KYMO_BACKENDS_OFF_CPU_WAIT_LOG_H_
#define KYMO_BACKENDS_OFF_CPU_WAIT_LOG_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/off_cpu/thread_clock.h"
#include "profiler/base/time.h"
#include "profiler/model/string_table.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace_shard.h"
#include "profiler/model/waits.h"
#include "profiler/symbolize/raw_stacks.h"

namespace kymo::off_cpu {

// Why and where a thread waits.
struct WaitCause {
  model::WaitKind kind = model::WaitKind::kUnknown;
  symbolize::RawStackId stack = 0;                // 0: not known
  uint64_t object = 0;                            // as in model::Wait
  model::NameId object_name = model::kEmptyName;  // of WaitLog::Name

  friend auto operator<=>(const WaitCause&, const WaitCause&) = default;
};

// Another thread that a wait has to do with, and where it was.
struct OtherThread {
  ThreadKey thread;                 // zeros: none that is known
  symbolize::RawStackId stack = 0;  // 0: not known
};

// A sample is of the moment when the thread left its CPU, with all registers. A
// look lacks some of these.
enum class CauseFrom : uint8_t { kLook, kSample };

// A call in which a thread may have waited.
struct CallTime {
  uint32_t tid = 0;
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  uint32_t holder_tid = 0;  // who had the lock when the call began; 0: unknown
  uint32_t holder_pid = 0;  // of its process; 0: the waiting thread's
  // Stacks of looks say more: they have the functions of Python.
  bool keeps_looks_stack = false;
};

// How a wait of a call ended.
struct WakeOfWait {
  uint64_t time_ns = 0;
  OtherThread waker;
  std::optional<WaitCause> cause;  // if it is not the call's
};

struct WaitLimits {
  DurationNs min_wait_ns = kNsPerMs;
  size_t most_waits = 1'000'000;
  size_t most_short_waits = 20'000;  // if there are more, all are summed
  size_t most_sums = 100'000;
  size_t most_names = 100'000;
  size_t most_name_bytes = size_t{16} << 20;  // of all together
  // How long a wait is held for the end of its call, and how many of them are.
  DurationNs held_ns = kNsPerSecond;
  size_t most_held = 100'000;
};

class WaitLog {
 public:
  explicit WaitLog(const WaitLimits& limits = {}) : limits_(limits) {}

  // The empty name if there are too many; that is counted.
  model::NameId Name(std::string_view text);
  // What results have in the place of a name: the name tells objects apart, and
  // what they are may become known later.
  void Show(model::NameId name, std::string_view text);

  // From now on, waits without a sample are held for OnCall.
  void ExpectCalls() { expects_calls_ = true; }
  // The waits that are held and lie in the call have its cause, but for those
  // of which a look knows better. `cause` is asked once, and not if there are
  // no waits. `wake` is asked for each of which no sample told who ended it,
  // and is told whether it is the first of the call.
  using OnWaitOfCall =
      std::function<std::optional<WakeOfWait>(const OffCpuTime&, bool)>;
  void OnCall(const CallTime& call,
              const std::function<WaitCause(const ThreadKey&)>& cause,
              const OnWaitOfCall& wake = nullptr);
  // The thread has ended, and no more calls of it will come.
  void OnThreadEnd(uint32_t tid);

  // Why the thread waited at that time. A later call replaces it.
  void OnCause(uint32_t tid, uint64_t time_ns, const WaitCause& cause,
               CauseFrom from = CauseFrom::kLook);
  // Why a thread has waited since then, as far as nothing else tells: a cause
  // whose kind is known stays, and so does a stack.
  void OnCauseWithoutLook(uint32_t tid, uint64_t since_ns, WaitCause cause);
  // Whether its kind is known at a time since then, as that kind or any.
  bool HasCauseSince(uint32_t tid, uint64_t time_ns,
                     std::optional<model::WaitKind> kind = {}) const;
  // Which thread held the lock that the thread waited for.
  void OnHolder(uint32_t tid, uint64_t time_ns, const OtherThread& holder);
  // Who woke the thread. Only the first call since the thread's last wait
  // counts: who runs cannot be woken.
  void OnWake(uint32_t tid, uint64_t time_ns, const OtherThread& waker);
  bool IsWoken(uint32_t tid) const { return wakes_.contains(tid); }
  // A thread leaves its CPU. Nobody has woken it from that wait yet.
  void OnSwitchOut(uint32_t tid) { wakes_.erase(tid); }
  // Each wait, of one thread in the order of time.
  void OnWait(const OffCpuTime& wait);

  // Fills in waits and sums, and counts those of unknown kind. `states` has the
  // threads' times, which tell waits for a CPU. `stacks` maps raw stacks to the
  // shard's. No call comes after it.
  void Collect(const std::function<model::TrackIndex(const ThreadKey&)>& track,
               std::span<const model::StackId> stacks, model::TraceShard& shard,
               model::ThreadStates& states);

 private:
  // Something that was seen of a thread's wait.
  template <typename What>
  struct Seen {
    uint64_t time_ns = 0;
    What what;
  };
  template <typename What>
  using SeenByTid = absl::flat_hash_map<uint32_t, Seen<What>>;
  struct KeptWait {
    ThreadKey thread;
    uint64_t begin_ns = 0;
    uint64_t end_ns = 0;
    bool is_open = false;
    bool is_runnable = false;
    WaitCause cause;
    OtherThread holder;
    OtherThread waker;
    uint64_t woken_ns = 0;  // 0: nobody saw it
  };
  struct SumKey {
    ThreadKey thread;
    WaitCause cause;
    friend auto operator<=>(const SumKey&, const SumKey&) = default;
  };
  struct Sum {
    uint64_t count = 0;
    DurationNs duration_ns = 0;
    DurationNs longest_ns = 0;
  };

  // What belongs to the wait, if anything.
  template <typename What>
  static Seen<What> Take(SeenByTid<What>& seen, const OffCpuTime& wait);
  using HeldWaits = std::deque<KeptWait>;
  void Hold(const KeptWait& wait);
  // These waits of a thread are known as far as they will be.
  void Release(HeldWaits& held, HeldWaits::iterator begin,
               HeldWaits::iterator end);
  // Releases waits of all threads that were held long enough, now and then.
  void ReleaseOld(uint64_t time_ns);
  void Keep(const KeptWait& wait);
  void SumShortWaits();
  // Sockets and pipes have a number each: without it.
  model::NameId NameInSums(model::NameId name);
  void AddToSum(const ThreadKey& thread, const WaitCause& cause,
                DurationNs duration_ns);

  WaitLimits limits_;
  model::StringTable names_;
  absl::flat_hash_map<model::NameId, std::string> shown_;
  size_t name_bytes_ = 0;
  uint64_t names_forgotten_ = 0;
  uint64_t sums_forgotten_ = 0;  // waits whose sum lost stack and object
  struct SeenCause {
    WaitCause cause;
    CauseFrom from = CauseFrom::kLook;
  };
  bool expects_calls_ = false;
  SeenByTid<SeenCause> causes_;
  SeenByTid<OtherThread> holders_;
  SeenByTid<OtherThread> wakes_;
  // By tid, in the order of time.
  absl::flat_hash_map<uint32_t, HeldWaits> held_;
  size_t held_count_ = 0;
  uint64_t next_release_ns_ = 0;
  uint64_t not_held_ = 0;  // there were too many
  std::vector<KeptWait> waits_;
  bool keeps_short_waits_ = limits_.most_short_waits > 0;
  std::vector<KeptWait> short_waits_;
  std::map<SumKey, Sum> sums_;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_WAIT_LOG_H_
