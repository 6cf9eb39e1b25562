// sequence_number.h - numbers that link backward operations to forward ones.
//
//   #include "kymo/record_function.h"
//
//   // Forward: the operation, and a node that will run backward later.
//   kymo::RecordFunction forward(
//       "mul", {.sequence_nr = kymo::PeekSequenceNumber()});
//   node->sequence_nr = kymo::GetAndIncrementSequenceNumber();
//   node->thread_id = kymo::CurrentThreadId();
//
//   // Backward, perhaps on another thread:
//   kymo::RecordFunction backward(
//       "MulBackward0", {.scope = kymo::RecordScope::kBackwardFunction,
//                        .sequence_nr = node->sequence_nr,
//                        .forward_thread_id = node->thread_id});
//
// Each thread has a counter, which starts at 0 and goes up by one for each node
// that the thread makes. An operation that makes no node shares the number of
// the next operation. So does PyTorch.
//
// Threads: any; each has its own counter. Errors: none.
// Cost:    a read or write of a thread-local variable.
#ifndef KYMO_PROFILER_API_SEQUENCE_NUMBER_H_
#define KYMO_PROFILER_API_SEQUENCE_NUMBER_H_

#include <cstdint>

namespace kymo {

// The number that the calling thread's next node will get.
int64_t PeekSequenceNumber() noexcept;

// Takes that number for a new node of the calling thread.
int64_t GetAndIncrementSequenceNumber() noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_API_SEQUENCE_NUMBER_H_
