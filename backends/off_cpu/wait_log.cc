#include "backends/off_cpu/wait_log.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "profiler/base/clock.h"
#include "profiler/model/loss_ledger.h"

namespace kymo::off_cpu {

using model::WaitKind;

namespace {

// The clocks of calls and waits agree so well: the processor's counter is
// measured against the kernel's clock now and then.
uint64_t CallSlackNs(const CallTime& call) {
  return 2 * kNsPerUs + (call.end_ns - call.begin_ns) / 16'384;
}

// A call does not know that the thread was stopped meanwhile, or that after its
// condition it waited for the mutex.
bool KnowsBetter(WaitKind look, WaitKind call) {
  return look == WaitKind::kOther || look == WaitKind::kPageFault ||
         (look == WaitKind::kLock && call == WaitKind::kCondition);
}

}  // namespace

model::NameId WaitLog::Name(std::string_view text) {
  if (const auto known = names_.Find(text)) return *known;
  if (names_.size() >= limits_.most_names ||
      text.size() > limits_.most_name_bytes - name_bytes_) {
    ++names_forgotten_;
    return model::kEmptyName;
  }
  name_bytes_ += text.size();
  return names_.Intern(text);
}

void WaitLog::Show(model::NameId name, std::string_view text) {
  if (name == model::kEmptyName) return;
  const auto known = shown_.find(name);
  if (known != shown_.end() && known->second == text) return;
  if (text.size() > limits_.most_name_bytes - name_bytes_) return;
  name_bytes_ += text.size();
  shown_[name] = text;
}

model::NameId WaitLog::NameInSums(model::NameId name) {
  const std::string_view text = names_.Get(name);
  for (const std::string_view kind : {"socket", "pipe"}) {
    if (text.starts_with(kind) && text.substr(kind.size()).starts_with(":[")) {
      return Name(kind);
    }
  }
  return name;
}

void WaitLog::OnCause(uint32_t tid, uint64_t time_ns, const WaitCause& cause,
                      CauseFrom from) {
  causes_[tid] = {time_ns, {cause, from}};
}

void WaitLog::OnCauseWithoutLook(uint32_t tid, uint64_t since_ns,
                                 WaitCause cause) {
  if (HasCauseSince(tid, since_ns)) return;
  Seen<SeenCause>& seen = causes_[tid];
  if (seen.time_ns >= since_ns) {
    cause.stack = seen.what.cause.stack;
    seen.what.cause = cause;
  } else {
    seen = {since_ns, {cause, CauseFrom::kLook}};
  }
}

bool WaitLog::HasCauseSince(uint32_t tid, uint64_t time_ns,
                            std::optional<WaitKind> kind) const {
  const auto found = causes_.find(tid);
  if (found == causes_.end() || found->second.time_ns < time_ns) return false;
  const WaitKind known = found->second.what.cause.kind;
  return kind ? known == *kind : known != WaitKind::kUnknown;
}

void WaitLog::OnHolder(uint32_t tid, uint64_t time_ns,
                       const OtherThread& holder) {
  holders_[tid] = {time_ns, holder};
}

void WaitLog::OnWake(uint32_t tid, uint64_t time_ns, const OtherThread& waker) {
  wakes_.try_emplace(tid, Seen<OtherThread>{time_ns, waker});
}

template <typename What>
WaitLog::Seen<What> WaitLog::Take(SeenByTid<What>& seen,
                                  const OffCpuTime& wait) {
  const auto found = seen.find(wait.thread.tid);
  if (found == seen.end()) return {};
  const Seen<What> known = found->second;
  // A later one is of a wait that comes.
  if (known.time_ns > wait.end_ns) return {};
  seen.erase(found);
  return known.time_ns >= wait.begin_ns ? known : Seen<What>();
}

void WaitLog::OnWait(const OffCpuTime& wait) {
  auto [cause, from] = Take(causes_, wait).what;
  const Seen<OtherThread> held_by = Take(holders_, wait);
  // Looks at a long wait come again, but not if there are too many of them.
  const auto counts_from_ns = static_cast<uint64_t>(model::HolderCountsFromNs(
      static_cast<DurationNs>(wait.end_ns - wait.begin_ns)));
  const bool is_old = held_by.time_ns < wait.begin_ns + counts_from_ns;
  const OtherThread holder = is_old ? OtherThread() : held_by.what;
  Seen<OtherThread> wake = Take(wakes_, wait);
  if (wait.is_runnable) {
    cause = {.kind = WaitKind::kCpuBusy, .stack = cause.stack};
    wake = {};  // it was not blocked
  }
  const KeptWait kept = {.thread = wait.thread,
                         .begin_ns = wait.begin_ns,
                         .end_ns = wait.end_ns,
                         .is_open = wait.is_open,
                         .is_runnable = wait.is_runnable,
                         .cause = cause,
                         .holder = holder,
                         .waker = wake.what,
                         .woken_ns = wake.time_ns};
  // A call that goes on at the end is not noted.
  const bool may_be_in_call =
      !wait.is_open && !wait.is_runnable && from == CauseFrom::kLook;
  if (expects_calls_ && may_be_in_call) {
    Hold(kept);
  } else {
    Keep(kept);
  }
}

void WaitLog::Hold(const KeptWait& wait) {
  if (held_count_ >= limits_.most_held) ReleaseOld(wait.begin_ns);
  const auto held_ns = static_cast<uint64_t>(limits_.held_ns);
  HeldWaits& held = held_[wait.thread.tid];
  while (!held.empty() && (held.front().end_ns + held_ns < wait.begin_ns ||
                           held_count_ >= limits_.most_held)) {
    not_held_ += held_count_ >= limits_.most_held;
    Release(held, held.begin(), held.begin() + 1);
  }
  if (held_count_ < limits_.most_held) {
    held.push_back(wait);
    ++held_count_;
    return;
  }
  held_.erase(wait.thread.tid);
  ++not_held_;
  Keep(wait);
}

void WaitLog::ReleaseOld(uint64_t time_ns) {
  if (time_ns < next_release_ns_) return;
  const auto held_ns = static_cast<uint64_t>(limits_.held_ns);
  next_release_ns_ = time_ns + held_ns;
  for (auto& [tid, held] : held_) {
    const auto end = std::ranges::partition_point(
        held, [&](const KeptWait& w) { return w.end_ns + held_ns < time_ns; });
    Release(held, held.begin(), end);
  }
  absl::erase_if(held_, [](const auto& held) { return held.second.empty(); });
}

void WaitLog::Release(HeldWaits& held, HeldWaits::iterator begin,
                      HeldWaits::iterator end) {
  for (auto wait = begin; wait != end; ++wait) Keep(*wait);
  held_count_ -= static_cast<size_t>(end - begin);
  held.erase(begin, end);
}

void WaitLog::OnThreadEnd(uint32_t tid) {
  const auto found = held_.find(tid);
  if (found == held_.end()) return;
  Release(found->second, found->second.begin(), found->second.end());
  held_.erase(found);
}

void WaitLog::OnCall(const CallTime& call,
                     const std::function<WaitCause(const ThreadKey&)>& cause,
                     const OnWaitOfCall& wake) {
  const auto found = held_.find(call.tid);
  if (found == held_.end()) return;
  HeldWaits& held = found->second;
  const uint64_t slack_ns = CallSlackNs(call);
  // Older waits may lie in a call around this one, such as the call that a
  // signal's handler interrupted.
  const auto begin =
      std::ranges::partition_point(held, [&](const KeptWait& wait) {
        return wait.begin_ns + slack_ns < call.begin_ns;
      });
  const auto end =
      std::partition_point(begin, held.end(), [&](const KeptWait& wait) {
        return wait.end_ns <= call.end_ns + slack_ns;
      });
  if (begin == end) return;
  const WaitCause told = cause(begin->thread);
  for (auto wait = begin; wait != end; ++wait) {
    if (!KnowsBetter(wait->cause.kind, told.kind)) {
      // A look read the name meanwhile, and of all that it polls.
      const WaitCause look = wait->cause;
      wait->cause = told;
      if (call.keeps_looks_stack && look.stack != 0) {
        wait->cause.stack = look.stack;
      }
      if (look.kind == told.kind && look.object == told.object &&
          look.object_name != model::kEmptyName) {
        wait->cause.object_name = look.object_name;
      }
    }
    if (wake == nullptr || wait->woken_ns != 0) continue;
    const auto ended = wake({.thread = wait->thread,
                             .begin_ns = wait->begin_ns,
                             .end_ns = wait->end_ns},
                            wait == begin);
    if (!ended) continue;
    wait->waker = ended->waker;
    wait->woken_ns = std::clamp(ended->time_ns, wait->begin_ns, wait->end_ns);
    if (ended->cause) wait->cause = *ended->cause;
  }
  // In the next waits for it, somebody else may have the lock.
  if (begin->holder.thread == ThreadKey() && call.holder_tid != 0) {
    begin->holder.thread = {
        call.holder_pid != 0 ? call.holder_pid : begin->thread.pid,
        call.holder_tid};
  }
  Release(held, begin, end);
  if (held.empty()) held_.erase(found);
}

void WaitLog::Keep(const KeptWait& wait) {
  const auto duration_ns = static_cast<DurationNs>(wait.end_ns - wait.begin_ns);
  const bool is_short = duration_ns < limits_.min_wait_ns;
  if (wait.is_open || (!is_short && waits_.size() < limits_.most_waits)) {
    waits_.push_back(wait);
  } else if (is_short && keeps_short_waits_) {
    short_waits_.push_back(wait);
    if (short_waits_.size() > limits_.most_short_waits) SumShortWaits();
  } else {
    AddToSum(wait.thread, wait.cause, duration_ns);
  }
}

void WaitLog::SumShortWaits() {
  keeps_short_waits_ = false;
  for (const KeptWait& wait : std::exchange(short_waits_, {})) {
    AddToSum(wait.thread, wait.cause,
             static_cast<DurationNs>(wait.end_ns - wait.begin_ns));
  }
}

void WaitLog::AddToSum(const ThreadKey& thread, const WaitCause& cause,
                       DurationNs duration_ns) {
  SumKey key = {thread, cause};
  key.cause.object_name = NameInSums(cause.object_name);
  if (sums_.size() >= limits_.most_sums && !sums_.contains(key)) {
    key.cause = {.kind = cause.kind};
    ++sums_forgotten_;
  }
  Sum& sum = sums_[key];
  ++sum.count;
  sum.duration_ns += duration_ns;
  sum.longest_ns = std::max(sum.longest_ns, duration_ns);
}

namespace {

// How long each thread was blocked in waits of which nobody saw when they
// ended, at most. The kernel says how long a thread waited for a CPU, so it
// cannot have been blocked for longer.
absl::flat_hash_map<model::TrackIndex, DurationNs> MostBlocked(
    const model::ThreadStates& states) {
  absl::flat_hash_map<model::TrackIndex, DurationNs> most;
  for (const model::ThreadTimes& times : states.threads) {
    if (times.unknown_ns != 0) continue;
    most[times.track] = times.blocked_ns();
  }
  for (const model::Wait& wait : states.waits) {
    const auto thread = most.find(wait.track);
    if (thread == most.end() || wait.runnable_ns < 0) continue;
    thread->second = std::max<DurationNs>(
        thread->second - (wait.duration_ns - wait.runnable_ns), 0);
  }
  return most;
}

// Waits that nobody saw are waits for a CPU where the thread was blocked for a
// tenth of the time at most. What it was blocked counts in the first of them.
void FindBusyCpus(model::ThreadStates& states) {
  auto most = MostBlocked(states);
  const auto is_for_cpu = [&most](const auto& wait) {
    const auto thread = most.find(wait.track);
    return wait.kind == WaitKind::kUnknown && thread != most.end() &&
           thread->second <= wait.duration_ns / 10;
  };
  for (model::Wait& wait : states.waits) {
    if (wait.runnable_ns >= 0 || !is_for_cpu(wait)) continue;
    wait.kind = WaitKind::kCpuBusy;
    wait.runnable_ns =
        wait.duration_ns - std::exchange(most.at(wait.track), DurationNs{0});
  }
  for (model::WaitSum& sum : states.short_waits) {
    if (is_for_cpu(sum)) sum.kind = WaitKind::kCpuBusy;
  }
}

}  // namespace

void WaitLog::Collect(
    const std::function<model::TrackIndex(const ThreadKey&)>& track,
    std::span<const model::StackId> stacks, model::TraceShard& shard,
    model::ThreadStates& states) {
  for (auto& [tid, held] : held_) Release(held, held.begin(), held.end());
  held_.clear();
  states.min_wait_ns = keeps_short_waits_ ? 0 : limits_.min_wait_ns;
  waits_.insert(waits_.end(), short_waits_.begin(), short_waits_.end());
  const auto name = [&](const WaitCause& cause) {
    const auto shown = shown_.find(cause.object_name);
    return shard.strings.Intern(shown == shown_.end()
                                    ? names_.Get(cause.object_name)
                                    : std::string_view(shown->second));
  };
  const auto track_of = [&](const OtherThread& other) {
    return other.thread == ThreadKey() ? model::kNoTrack : track(other.thread);
  };
  for (const KeptWait& wait : waits_) {
    const auto duration_ns =
        static_cast<DurationNs>(wait.end_ns - wait.begin_ns);
    DurationNs runnable_ns = wait.is_runnable ? duration_ns : -1;
    if (wait.woken_ns > 0 && !wait.is_runnable) {
      runnable_ns = static_cast<DurationNs>(wait.end_ns - wait.woken_ns);
    }
    states.waits.push_back(
        {.track = track(wait.thread),
         .kind = wait.cause.kind,
         .is_open = wait.is_open,
         .begin_ns = static_cast<TimeNs>(wait.begin_ns) + EpochOffsetNs(),
         .duration_ns = duration_ns,
         .runnable_ns = runnable_ns,
         .stack = stacks[wait.cause.stack],
         .object = wait.cause.object,
         .object_name = name(wait.cause),
         .waker = track_of(wait.waker),
         .waker_stack = stacks[wait.waker.stack],
         .holder = track_of(wait.holder),
         .holder_stack = stacks[wait.holder.stack]});
  }
  std::ranges::sort(states.waits, {}, [](const model::Wait& wait) {
    return std::tuple(wait.track, wait.begin_ns);
  });
  for (const auto& [key, sum] : sums_) {
    states.short_waits.push_back({.track = track(key.thread),
                                  .kind = key.cause.kind,
                                  .stack = stacks[key.cause.stack],
                                  .object = key.cause.object,
                                  .object_name = name(key.cause),
                                  .count = sum.count,
                                  .duration_ns = sum.duration_ns,
                                  .longest_ns = sum.longest_ns});
  }
  FindBusyCpus(states);
  uint64_t without_stack = 0;
  for (const model::Wait& wait : states.waits) {
    without_stack += wait.kind == WaitKind::kUnknown ? 1 : 0;
  }
  for (const model::WaitSum& sum : states.short_waits) {
    without_stack += sum.kind == WaitKind::kUnknown ? sum.count : 0;
  }
  shard.ledger.Add(model::Loss::kWaitsWithoutStack, without_stack);
  if (names_forgotten_ > 0) {
    shard.ledger.AddOfBackend(
        "off_cpu",
        "names of what threads waited for, of which there were too many: "
        "record for a shorter time",
        names_forgotten_);
  }
  if (not_held_ > 0) {
    shard.ledger.AddOfBackend(
        "off_cpu", "waits without a place, because too many came at once",
        not_held_);
  }
  if (sums_forgotten_ > 0) {
    shard.ledger.AddOfBackend(
        "off_cpu",
        "short waits without a stack, because there were too many different "
        "ones: record for a shorter time",
        sums_forgotten_);
  }
  std::ranges::stable_sort(states.short_waits, {}, &model::WaitSum::track);
}

}  // namespace kymo::off_cpu
