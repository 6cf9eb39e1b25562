#include "profiler/record/host/live_sessions.h"

namespace kymo::record {

OwnSession* FindSession(SessionId id) noexcept {
  if (id == kNoSession) return nullptr;
  for (OwnSession& session : own.sessions) {
    if (session.id.load(std::memory_order_relaxed) == id) return &session;
  }
  return nullptr;
}

OwnSession* FindFreeSession() noexcept {
  for (OwnSession& session : own.sessions) {
    if (session.to_read == kNoSession) return &session;
  }
  return nullptr;
}

SessionId NextToRead(const OwnSession& session) noexcept {
  const auto number_of = [](const OwnSession& of) {
    return of.number.load(std::memory_order_relaxed);
  };
  const OwnSession* next = nullptr;
  for (const OwnSession& other : own.sessions) {
    if (other.to_read == kNoSession || !other.all_threads ||
        number_of(other) <= number_of(session)) {
      continue;
    }
    if (next == nullptr || number_of(other) < number_of(*next)) next = &other;
  }
  return next == nullptr ? kNoSession : next->to_read;
}

bool AnySessionToRead() noexcept {
  for (const OwnSession& session : own.sessions) {
    if (session.to_read != kNoSession) return true;
  }
  return false;
}

bool AnySessionIsLive() noexcept {
  for (const OwnSession& session : own.sessions) {
    if (session.id.load(std::memory_order_relaxed) != kNoSession) return true;
  }
  return false;
}

bool SessionIsLive(SessionId id) noexcept { return FindSession(id) != nullptr; }

RecordFlags CollectorFlags() noexcept {
  return CollectorRecords()
             ? own.arena.header().record_flags.load(std::memory_order_relaxed) &
                   kAllRecordFlags
             : 0;
}

void UpdateGates() noexcept {
  uint32_t state = kGateOff;
  const auto add = [&state](RecordFlags flags) {
    if ((flags & kRangesOff) == 0) state |= kGateOn;
    state |= flags & ~kRangesOff;
  };
  if (CollectorRecords()) add(CollectorFlags());
  for (const OwnSession& session : own.sessions) {
    if (session.id.load(std::memory_order_relaxed) == kNoSession) continue;
    if (session.enabled) add(session.flags);
  }
  if (state != kGateOff &&
      own.node_number.load(std::memory_order_relaxed) != 0) {
    state |= kGateNode;
  }
  for (Gate* g = own.gates; g != nullptr; g = g->next) {
    // kGateObserved is the copy's own and stays. New bits come before old ones
    // go: this thread may be stopped between the two, and meanwhile no range
    // may find the gate off.
    g->state.fetch_or(state, std::memory_order_relaxed);
    g->state.fetch_and(kGateObserved | state, std::memory_order_relaxed);
  }
}

}  // namespace kymo::record
