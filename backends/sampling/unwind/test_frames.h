// test_frames.h - chains of calls to unwind, with and without frame pointers.
#ifndef KYMO_BACKENDS_SAMPLING_UNWIND_TEST_FRAMES_H_
#define KYMO_BACKENDS_SAMPLING_UNWIND_TEST_FRAMES_H_

// Each function calls the next one, and the last calls `callback(argument)`. A
// stack shows *_outer, *_middle and *_inner, one after the other. *_realigned
// has a frame aligned to 64 bytes, *_dynamic a frame of variable size.
#define KYMO_TEST_FRAMES(prefix)                                               \
  extern "C" void prefix##_outer(void (*callback)(void*), void* argument);     \
  extern "C" void prefix##_realigned(void (*callback)(void*), void* argument); \
  extern "C" void prefix##_dynamic(void (*callback)(void*), void* argument);

KYMO_TEST_FRAMES(with_pointer)
KYMO_TEST_FRAMES(without_pointer)

// Calls itself until `depth` is 0.
extern "C" void test_recursion(int depth, void (*callback)(void*),
                               void* argument);

#endif  // KYMO_BACKENDS_SAMPLING_UNWIND_TEST_FRAMES_H_
