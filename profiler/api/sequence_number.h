// sequence_number.h - numbers that link backward operations to forward ones.
//
//   // Forward: the operation, and a node that will run backward later.
//   RecordFunction op("mul", {.sequence_nr = PeekSequenceNumber()});
//   node->sequence_nr = GetAndIncrementSequenceNumber();
//   node->thread_id = CurrentThreadId();
//
//   // Backward, perhaps on another thread:
//   RecordFunction op("MulBackward0",
//                     {.scope = RecordScope::kBackwardFunction,
//                      .sequence_nr = node->sequence_nr,
//                      .forward_thread_id = node->thread_id});
//
// The counter is PyTorch's: one per thread, from 0, one step for each node that
// is made. Operations that make no node share the number of the next one.
//
// Threads: each has its own counter. Errors: none.
#ifndef KYMO_PROFILER_API_SEQUENCE_NUMBER_H_
#define KYMO_PROFILER_API_SEQUENCE_NUMBER_H_

#include <cstdint>

namespace kymo {

// The number that the calling thread's next node will get.
int64_t PeekSequenceNumber() noexcept;

// A number for a new node of the calling thread.
int64_t GetAndIncrementSequenceNumber() noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_API_SEQUENCE_NUMBER_H_
