// thread_streams.h - the streams of this process's threads.
//
//   Slot* const slot = OwnTakeSlots(&thread_stream, 3);
//   if (slot == nullptr) return;  // nobody wants the record, or it is counted
//
// A thread's first record gives it a stream. Its stream has one chunk at a
// time, which is
//
//   open     the thread takes slots of it
//   parked   closed for new records: the thread is paused, or its session has
//            changed; its open ranges still end there
//   sealed   given up: full, or the thread has ended
//
// For the .cc files of this folder only. Knows live_sessions.h, own_process.h
// and thread_names.h.
//
// Threads: each function acts for the calling thread.
#ifndef KYMO_PROFILER_RECORD_HOST_THREAD_STREAMS_H_
#define KYMO_PROFILER_RECORD_HOST_THREAD_STREAMS_H_

#include "profiler/record/host/own_host.h"

namespace kymo::record {

// Makes the key whose destructor gives back the stream of a thread that ends.
void MakeExitKey() noexcept;

// Makes the pages of the first 64 chunks present, with one system call. Those
// of a further chunk cost one when it is taken first.
void PopulateFirst(Wiped* wiped) noexcept;

// Forgets the calling thread's stream. Its chunk stays behind, sealed.
void ForgetStream() noexcept;

// Slots for a record that the host itself makes.
Slot* OwnTake(uint32_t count) noexcept;

// HostApi's functions for threads.
Slot* OwnTakeSlots(ThreadStream** cache, uint32_t count) noexcept;
uint64_t OwnLogicalThreadId() noexcept;
void OwnSetThreadPaused(int paused) noexcept;
SessionId OwnThreadSession() noexcept;
SessionId OwnExchangeThreadSession(SessionId id) noexcept;

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_THREAD_STREAMS_H_
