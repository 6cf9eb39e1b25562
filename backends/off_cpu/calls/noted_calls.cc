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
  reader_->Read(
      [this](NotedCall&& call) { calls_.push_back(std::move(call)); });
  const auto new_calls = calls_.begin() + read;
  std::ranges::sort(new_calls, calls_.end(), {}, &NotedCall::end_ns);
  std::ranges::inplace_merge(calls_, new_calls, {}, &NotedCall::end_ns);
}

void NotedCalls::Deliver(uint64_t until_ns) {
  const auto end =
      std::ranges::upper_bound(calls_, until_ns, {}, &NotedCall::end_ns);
  for (auto call = calls_.begin(); call != end; ++call) {
    log_->OnCall({.tid = call->tid,
                  .begin_ns = call->begin_ns,
                  .end_ns = call->end_ns,
                  .holder_tid = call->holder_tid},
                 [&](const ThreadKey& thread) {
                   return causes_->CauseOf(thread, *call);
                 });
  }
  calls_.erase(calls_.begin(), end);
}

void NotedCalls::End(model::LossLedger& ledger) {
  if (reader_ == nullptr) return;
  reader_->Disable();
  Read();
  Deliver(~uint64_t{0});
  if (const uint64_t lost = reader_->LostCalls(); lost > 0) {
    ledger.AddOfBackend("stacks of blocking calls, off_cpu", lost);
  }
  ledger.Add(model::Loss::kRecordsCorrupt, reader_->unsound_cells());
  reader_ = nullptr;
}

}  // namespace kymo::off_cpu
