#include "backends/off_cpu/calls/noted_calls.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "profiler/base/status_macros.h"

namespace kymo::off_cpu {

absl::Status NotedCalls::Prepare(TargetSetup& setup) {
  KYMO_ASSIGN_OR_RETURN(reader_, WaitRingReader::Create());
  setup.environment[kWaitRingVariable] = reader_->path();
  log_->ExpectCalls();
  return absl::OkStatus();
}

void NotedCalls::Read() {
  if (reader_ == nullptr) return;
  const auto read = static_cast<ptrdiff_t>(calls_.size());
  reader_->Read([this](NotedCall&& call) { calls_.push_back(std::move(call)); },
                [this](const NotedEnd& end) { ends_.push_back(end); });
  const auto new_calls = calls_.begin() + read;
  std::ranges::sort(new_calls, calls_.end(), {}, &NotedCall::end_ns);
  std::ranges::inplace_merge(calls_, new_calls, {}, &NotedCall::end_ns);
}

void NotedCalls::Deliver(uint64_t until_ns) {
  const auto end =
      std::ranges::upper_bound(calls_, until_ns, {}, &NotedCall::end_ns);
  for (auto call = calls_.begin(); call != end; ++call) {
    if (call->is_wake) {
      wakes_.Add(std::move(*call));
      continue;
    }
    const ThreadKey holder = HolderOf(*call);
    log_->OnCall(
        {.tid = call->tid,
         .begin_ns = call->begin_ns,
         .end_ns = call->end_ns,
         .holder_tid = holder.tid,
         .holder_pid = holder.pid,
         .keeps_looks_stack = causes_->IsPython(call->pid)},
        [&](const ThreadKey& thread) {
          return causes_->CauseOf(thread, *call);
        },
        [&](const OffCpuTime& wait, bool is_first) {
          return WakeOf(*call, wait, is_first);
        });
  }
  calls_.erase(calls_.begin(), end);
}

// Of a lock that processes share, the holder may be of another process. Nothing
// if no such thread is recorded.
ThreadKey NotedCalls::HolderOf(const NotedCall& call) const {
  const uint32_t tid = call.holder_tid;
  if (tid == 0) return {};
  if (clock_->times().contains({call.pid, tid})) return {call.pid, tid};
  const uint32_t pid = clock_->PidOf(tid);
  return pid == 0 ? ThreadKey() : ThreadKey{pid, tid};
}

std::optional<WakeOfWait> NotedCalls::WakeOf(const NotedCall& call,
                                             const OffCpuTime& wait,
                                             bool is_first) const {
  if (call.object == 0 || call.object_is != CallObject::kOther) {
    return std::nullopt;
  }
  const auto [wake, is_of_mutex] =
      wakes_.FindInCall(call, {.pid = wait.thread.pid,
                               .begin_ns = wait.begin_ns,
                               .end_ns = wait.end_ns,
                               .is_first = is_first});
  if (wake == nullptr) return std::nullopt;
  WakeOfWait told = {.time_ns = wake->end_ns, .waker = causes_->WakerOf(*wake)};
  if (is_of_mutex) told.cause = causes_->MutexCauseOf(wait.thread, call);
  return told;
}

void NotedCalls::OnThreadEnd(uint32_t tid, uint64_t time_ns) {
  Deliver(time_ns);
  log_->OnThreadEnd(tid);
}

void NotedCalls::End(model::LossLedger& ledger) {
  if (reader_ == nullptr) return;
  reader_->Disable();
  Read();
  Deliver(~uint64_t{0});
  if (const uint64_t lost = reader_->LostCalls(); lost > 0) {
    ledger.AddOfBackend(
        "off_cpu",
        "stacks of waits that came faster than Kymo read them: it needs more "
        "of a CPU",
        lost);
  }
  if (const uint64_t skipped = reader_->SkippedWakes(); skipped > 0) {
    ledger.AddOfBackend(
        "off_cpu",
        "wakers of threads, because calls that may end waits came faster than "
        "Kymo read them: it needs more of a CPU",
        skipped);
  }
  ledger.Add(model::Loss::kRecordsCorrupt, reader_->unsound_cells());
  reader_ = nullptr;
}

}  // namespace kymo::off_cpu
