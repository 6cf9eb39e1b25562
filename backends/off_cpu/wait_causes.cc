#include "backends/off_cpu/wait_causes.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/hash/hash.h"
#include "backends/off_cpu/look/lock_owner.h"
#include "backends/off_cpu/thread_status.h"
#include "profiler/base/clock.h"
#include "profiler/processes/process_list.h"
#include "profiler/processes/schedstat.h"
#include "profiler/symbolize/raw_stacks.h"

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

constexpr size_t kMostCallStacks = 100'000;
// A lock has no holder from when one gives it back until the next one runs. On
// a busy machine that takes long.
constexpr int kMostTries = 20;
constexpr size_t kMostAgain = 1000;

uint64_t NowNs() { return static_cast<uint64_t>(MonotonicNs()); }

// Calls of such a thread have other numbers, and its stack other words.
bool Is32Bit(const BlockedCall& call) { return call.stack_pointer >> 32 == 0; }

symbolize::RawStackId InternSeen(const ThreadKey& thread,
                                 const BlockedLook& look,
                                 sampling::StackStore& stacks) {
  sampling::CapturedStack captured{.pid = thread.pid,
                                   .name_tid = thread.tid,
                                   .has_registers = true,
                                   .stack = look.stack(),
                                   .stack_was_cut = look.stack_was_cut()};
  captured.registers[sampling::kRsp] = look.call().stack_pointer;
  captured.registers[sampling::kRip] = look.call().instruction;
  for (size_t i = 0; i < sampling::kCallArguments.size(); ++i) {
    captured.registers[sampling::kCallArguments[i]] = look.call().arguments[i];
  }
  return stacks.Intern(captured);
}

// The descriptor may be closed before anybody can look at it.
void SetPipe(bool is_pipe, WaitCause& cause) {
  if (!is_pipe) return;
  if (cause.kind == WaitKind::kRead || cause.kind == WaitKind::kWrite) {
    cause.kind = WaitKind::kPipe;
  }
}

// As it was when the sample was taken, as far as that has it.
ReadMemory MemoryOfSample(const sampling::SampleRecord& sample) {
  return [&sample](uint64_t address, std::span<std::byte> bytes) {
    const uint64_t offset = address - sample.registers[sampling::kRsp];
    if (offset > sample.stack.size() ||
        bytes.size() > sample.stack.size() - offset) {
      return MemoryOf(int64_t{sample.tid})(address, bytes);
    }
    std::memcpy(bytes.data(), sample.stack.data() + offset, bytes.size());
    return true;
  };
}

}  // namespace

void WaitCauses::ExpectSamples() {
  kernel_calls_ = std::make_unique<KernelCalls>();
}

void WaitCauses::OnSample(const sampling::SampleRecord& sample) {
  std::vector<uint64_t> kernel;
  for (size_t i = 0; i < sample.callchain_size(); ++i) {
    const uint64_t address = sample.callchain_at(i);
    // The kernel marks where its own part begins.
    if (address < static_cast<uint64_t>(PERF_CONTEXT_MAX)) {
      kernel.push_back(address);
    }
  }
  WaitCause cause = {
      .stack = stacks_->Intern({.pid = sample.pid,
                                .name_tid = sample.tid,
                                .kernel_frames = kernel,
                                .has_registers = sample.has_registers,
                                .registers = sample.registers,
                                .stack = sample.stack,
                                .stack_was_cut = sample.stack_was_cut})};
  const KernelCall call = kernel_calls_->Find(kernel);
  if (call.is_stopped) {
    SetStopped(cause);
  } else if (call.is_kernel_lock) {
    cause.kind = WaitKind::kLock;
    cause.object_name = log_->Name("kernel");
  } else if (call.number) {
    BlockedCall sampled = {.number = *call.number};
    for (size_t i = 0; i < sampled.arguments.size(); ++i) {
      sampled.arguments[i] = sample.registers[sampling::kCallArguments[i]];
    }
    SetCall({sample.pid, sample.tid}, sampled, {.sampled = &sampled},
            MemoryOfSample(sample), cause);
    SetPipe(call.is_pipe, cause);
  }
  coming_[sample.tid] = cause;
}

void WaitCauses::OnWake(const sampling::SampleRecord& sample,
                        const sampling::WakeRecord& wake, bool is_known) {
  if (log_->IsWoken(wake.woken_tid)) return;
  OtherThread waker;
  if (is_known && !wake.is_by_interrupt) {
    waker.thread = {sample.pid, sample.tid};
    waker.stack = stacks_->Intern({.pid = sample.pid,
                                   .has_registers = sample.has_registers,
                                   .registers = sample.registers,
                                   .stack = sample.stack,
                                   .stack_was_cut = sample.stack_was_cut});
  }
  log_->OnWake(wake.woken_tid, sample.time_ns, waker);
}

void WaitCauses::OnSwitch(const sampling::SwitchRecord& record) {
  if (record.is_out) log_->OnSwitchOut(record.tid);
  if (coming_.empty()) return;
  const auto found = coming_.find(record.tid);
  if (found == coming_.end()) return;
  if (record.is_out) {
    log_->OnCause(record.tid, record.time_ns, found->second,
                  CauseFrom::kSample);
  }
  coming_.erase(found);
}

void WaitCauses::LookAtBlocked(ThreadClock& clock, uint64_t until_ns) {
  descriptors_.Search();
  if (until_ns < min_blocked_ns_) return;
  uint64_t now_ns = NowNs();
  budget_.Begin(now_ns);
  const auto pay = [&] { budget_.Pay(now_ns = NowNs()); };
  while (budget_.MayLook()) {
    const auto blocked = clock.NextBlocked(until_ns - min_blocked_ns_);
    if (!blocked) break;
    const auto knows = [&](std::optional<WaitKind> kind) {
      return log_->HasCauseSince(blocked->thread.tid, blocked->since_ns, kind);
    };
    const bool has_cause = knows(std::nullopt);
    // Read-write locks and locks with a time limit wait as conditions do.
    if (has_cause && !knows(WaitKind::kLock) && !knows(WaitKind::kCondition)) {
      continue;
    }
    if (LookAt(blocked->thread)) {
      if (!has_cause) TakeCause(blocked->thread);
      LookAtHolder({.thread = blocked->thread,
                    .since_ns = blocked->since_ns,
                    .times_on_cpu = look_.times_on_cpu(),
                    .tries = kMostTries},
                   clock);
    }
    pay();
  }
  // Causes matter more than holders, which some locks never tell.
  for (const Again& again : std::exchange(again_, {})) {
    if (again.due_ns > now_ns || !budget_.MayLook()) {
      again_.push_back(again);
      continue;
    }
    if (LookAt(again.thread) && look_.times_on_cpu() == again.times_on_cpu) {
      LookAtHolder(again, clock);
    }
    pay();
  }
}

bool WaitCauses::LookAt(const ThreadKey& thread) {
  return look_.Take(thread.pid, thread.tid) == BlockedLook::Result::kSeen &&
         !Is32Bit(look_.call());
}

void WaitCauses::TakeCause(const ThreadKey& thread) {
  BlockedCall call = look_.call();
  WaitCause cause = {.stack = InternSeen(thread, look_, *stacks_)};
  if (call.number == SYS_restart_syscall) {
    call.number = RestartedCall(look_.kernel_function());
  }
  const auto function = CallOfFunction(look_.kernel_function());
  if (function && function->is_stopped) {
    SetStopped(cause);
  } else {
    SetCall(thread, call, {}, MemoryOf(thread.tid), cause);
    SetPipe(function && function->is_pipe, cause);
  }
  log_->OnCause(thread.tid, look_.time_ns(), cause);
}

void WaitCauses::LookAtHolder(Again look, const ThreadClock& clock) {
  const ThreadKey thread = look.thread;
  if (!PlaceOfOwner(look_.call())) return;
  const auto owner = ReadLockOwner(thread.tid, look_.call());
  if (!owner) {
    if (--look.tries >= 0 && again_.size() < kMostAgain) again_.push_back(look);
    return;
  }
  if (*owner == thread.tid) {  // it has locked a mutex twice
    // Or it has got the mutex since the look.
    if (!look_.IsStillTrue(thread.pid, thread.tid)) return;
    log_->OnHolder(
        thread.tid, look_.time_ns(),
        {.thread = thread, .stack = InternSeen(thread, look_, *stacks_)});
    return;
  }
  uint32_t pid = thread.pid;
  bool has_stack = false;
  if (processes::ThreadExists(pid, *owner)) {
    has_stack = true;
  } else if (IsOfOneProcess(look_.call())) {
    pid = IsHeldMutex(thread.tid, look_.call())
              ? LostHolderPid(pid, *owner, clock)
              : 0;
  } else {
    pid = clock.PidOf(*owner);
    has_stack = true;
  }
  if (pid == 0) return;
  OtherThread holder = {.thread = {pid, *owner}};
  // If it runs, samples may tell where.
  has_stack = has_stack &&
              holder_look_.Take(pid, *owner) == BlockedLook::Result::kSeen &&
              !Is32Bit(holder_look_.call()) &&
              ReadLockOwner(thread.tid, look_.call()) == owner;
  if (!look_.IsStillTrue(thread.pid, thread.tid)) return;
  if (has_stack) {
    holder.stack = InternSeen(holder.thread, holder_look_, *stacks_);
  }
  log_->OnHolder(thread.tid, look_.time_ns(), holder);
  // The last look at a long wait is in its second half.
  look.due_ns = 2 * look_.time_ns() - look.since_ns;
  if (again_.size() < kMostAgain) again_.push_back(look);
}

// The process has no such thread. It may have had one, or been forked while its
// parent's thread had the lock.
uint32_t WaitCauses::LostHolderPid(uint32_t pid, uint32_t owner,
                                   const ThreadClock& clock) {
  constexpr int kMostForks = 3;
  for (int forks = 0; forks <= kMostForks; ++forks) {
    if (clock.PidOf(owner) == pid || clock.times().contains({pid, owner})) {
      return pid;
    }
    if (const auto status = ReadThreadStatus(pid, owner)) {  // not recorded
      stacks_->processes().OnExisting(pid, owner, status->name);
      stacks_->processes().Track(pid, owner);
      return pid;
    }
    const auto process = processes::ReadProcess(static_cast<pid_t>(pid));
    if (!process || process->parent <= 1) break;
    pid = static_cast<uint32_t>(process->parent);
  }
  return 0;
}

void WaitCauses::SetStopped(WaitCause& cause) {
  cause.kind = WaitKind::kOther;
  cause.object_name = log_->Name("stopped");
}

void WaitCauses::OnStopped(const ThreadKey& thread, uint64_t since_ns) {
  WaitCause cause;
  SetStopped(cause);
  log_->OnCauseWithoutLook(thread.tid, since_ns, cause);
}

void WaitCauses::SetCall(const ThreadKey& thread, const BlockedCall& call,
                         const DescriptorUse& use, const ReadMemory& memory,
                         WaitCause& cause) {
  const CallWait wait = WaitOf(call);
  cause.kind = wait.kind;
  cause.object = wait.object;
  if (wait.object_is == ObjectIs::kDescriptor) {
    descriptors_.Set(thread, use, cause);
  } else if (wait.object_is == ObjectIs::kPolled) {
    const auto polled = ReadPolled(call, memory);
    if (polled) descriptors_.SetPolled(thread, use, *polled, cause);
  } else if (wait.object_is == ObjectIs::kFutex) {
    statics_.Note(thread.pid, cause);
  }
}

WaitCause WaitCauses::CauseOf(const ThreadKey& thread, const NotedCall& call) {
  WaitCause cause = {.kind = call.kind,
                     .stack = StackOf(thread.pid, call),
                     .object = call.object};
  const DescriptorUse use = {
      .is_noted = true, .inode = call.inode, .mode = call.mode};
  switch (call.object_is) {
    case CallObject::kOther:
      if (call.kind != WaitKind::kChild) statics_.Note(thread.pid, cause);
      break;
    case CallObject::kDescriptor:
      descriptors_.Set(thread, use, cause);
      break;
    case CallObject::kDescriptorCount:
      cause.object = 0;
      descriptors_.SetPolled(thread, use, {.count = call.object, .first = {}},
                             cause);
      break;
  }
  return cause;
}

WaitCause WaitCauses::MutexCauseOf(const ThreadKey& thread,
                                   const NotedCall& call) {
  NotedCall lock = call;
  lock.addresses.insert(lock.addresses.begin(), call.mutex_function);
  // That of pthread_cond_wait begins it; all but the first are taken for
  // addresses that calls return to.
  ++lock.addresses[1];
  WaitCause cause = {.kind = WaitKind::kLock,
                     .stack = StackOf(thread.pid, lock),
                     .object = call.mutex};
  statics_.Note(thread.pid, cause);
  return cause;
}

OtherThread WaitCauses::WakerOf(const NotedCall& call) {
  return {.thread = {call.pid, call.tid}, .stack = StackOf(call.pid, call)};
}

symbolize::RawStackId WaitCauses::StackOf(uint32_t pid, const NotedCall& call) {
  if (call_stacks_version_ != stacks_->mappings_version() ||
      call_stacks_.size() >= kMostCallStacks) {
    call_stacks_.clear();
    call_stacks_version_ = stacks_->mappings_version();
  }
  const auto [known, is_new] = call_stacks_.try_emplace(
      {pid, absl::HashOf(call.addresses, call.is_cut)});
  if (is_new) {
    known->second = stacks_->Intern({.pid = pid,
                                     .stack_was_cut = call.is_cut,
                                     .callchain = call.addresses});
  }
  return known->second;
}

}  // namespace kymo::off_cpu
