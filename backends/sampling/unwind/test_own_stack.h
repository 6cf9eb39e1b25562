// test_own_stack.h - captures the calling thread as if it had been sampled, for
// tests.
#ifndef KYMO_BACKENDS_SAMPLING_UNWIND_TEST_OWN_STACK_H_
#define KYMO_BACKENDS_SAMPLING_UNWIND_TEST_OWN_STACK_H_

#include <cstddef>
#include <vector>

#include "backends/sampling/unwind/registers.h"
#include "backends/sampling/unwind/stack_copy.h"

namespace kymo::sampling {

struct OwnStack {
  Registers registers{};
  std::vector<std::byte> memory;

  StackCopy copy() const { return {registers[kRsp], memory}; }
};

// Registers and stack inside of this call; at most `limit_bytes` of stack.
OwnStack CaptureOwnStack(size_t limit_bytes);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_UNWIND_TEST_OWN_STACK_H_
