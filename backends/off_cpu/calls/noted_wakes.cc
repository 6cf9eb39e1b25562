#include "backends/off_cpu/calls/noted_wakes.h"

#include "profiler/base/time.h"

namespace kymo::off_cpu {
namespace {

// Waits are told of soon after their end. A condition may have woken many
// threads, which get CPUs one after the other.
constexpr size_t kMostOfAnObject = 256;
constexpr size_t kMost = 50'000;
// A hook reads the clock before the call that wakes.
constexpr uint64_t kSlackNs = 20 * kNsPerUs;
constexpr uint32_t kShared = 0;

}  // namespace

void NotedWakes::Add(NotedCall&& wake) {
  if (count_ >= kMost) {
    wakes_.clear();
    count_ = 0;
  }
  std::deque<NotedCall>& wakes =
      wakes_[{wake.is_shared ? kShared : wake.pid, wake.object}];
  wakes.push_back(std::move(wake));
  ++count_;
  if (wakes.size() <= kMostOfAnObject) return;
  wakes.pop_front();
  --count_;
}

const NotedCall* NotedWakes::Find(const Object& object, uint32_t waiter_tid,
                                  uint64_t begin_ns, uint64_t end_ns) const {
  const NotedCall* const own = FindOf(object, waiter_tid, begin_ns, end_ns);
  return own != nullptr
             ? own
             : FindOf({kShared, object.second}, waiter_tid, begin_ns, end_ns);
}

NotedWakes::WakeInCall NotedWakes::FindInCall(const NotedCall& call,
                                              const WaitInCall& wait) const {
  const auto find = [&](uint64_t object, uint64_t begin_ns, uint64_t end_ns) {
    return Find({wait.pid, object}, call.tid, begin_ns, end_ns);
  };
  const NotedCall* const own =
      call.has_timed_out ? nullptr
                         : find(call.object, wait.begin_ns, wait.end_ns);
  if (wait.is_first || call.mutex == 0) return {own};
  const NotedCall* const of_mutex =
      find(call.mutex, wait.begin_ns, wait.end_ns);
  if (of_mutex == nullptr) return {own};
  // A thread that nobody woke before still waited for the condition: what came
  // first in the call was a wait for a CPU. Others may give the mutex back
  // meanwhile, such as the threads that the same broadcast wakes.
  if (own != nullptr &&
      find(call.object, call.begin_ns, wait.begin_ns) == nullptr) {
    return {own};
  }
  return {of_mutex, /*is_of_mutex=*/true};
}

const NotedCall* NotedWakes::FindOf(const Object& object, uint32_t waiter_tid,
                                    uint64_t begin_ns, uint64_t end_ns) const {
  const auto found = wakes_.find(object);
  if (found == wakes_.end()) return nullptr;
  const std::deque<NotedCall>& wakes = found->second;
  for (auto wake = wakes.rbegin(); wake != wakes.rend(); ++wake) {
    if (wake->end_ns > end_ns) continue;
    if (wake->end_ns + kSlackNs < begin_ns) return nullptr;
    if (wake->tid != waiter_tid) return &*wake;
  }
  return nullptr;
}

}  // namespace kymo::off_cpu
